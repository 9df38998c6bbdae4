/** A function that the service creates on PostgreSQL. */
export interface SqlFunction {
  /** With its argument types, as the server names it. */
  readonly name: string
  readonly sql: string
}

/** Fixes the search path of a function, so that it never uses a caller's temporary table of the same name. */
export const pinned = (name: string, sql: string): SqlFunction => ({
  name,
  sql: `${sql};
do $$ begin execute format('alter function ${name} set search_path = %I, pg_temp', current_schema()); end $$`,
})
