/** A function that the service creates on PostgreSQL. */
export interface SqlFunction {
  /** With its argument types, as the server names it. */
  readonly name: string
  readonly sql: string
}

/** Has the function find its tables wherever it is called, and never a caller's temporary table of the same name. */
export const pinned = (name: string, sql: string): SqlFunction => ({
  name,
  sql: `${sql};
do $$ begin execute format('alter function ${name} set search_path = %I, pg_temp', current_schema()); end $$`,
})
