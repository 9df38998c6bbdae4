/** A function that the service creates on PostgreSQL. */
export interface SqlFunction {
  /** With its argument types, as the server names it. */
  readonly name: string
  readonly sql: string
}

/**
 * A condition in a function with its owner's rights that writes: the role of the session may insert into a table. A role that may
 * only read must not change anything by it.
 */
export const mayInsert = (table: string): string =>
  `coalesce(has_any_column_privilege(session_user, ${table}, 'insert'), false)`

/**
 * Fixes the search path of a function, so that it never uses a caller's temporary table of the same name. One that is for its owner
 * alone still runs for the triggers that the owner has created, whoever fires them.
 */
export const pinned = (name: string, sql: string, callers: 'all' | 'owner' = 'all'): SqlFunction => ({
  name,
  sql: `${sql};
do $$ begin execute format('alter function ${name} set search_path = %I, pg_temp', current_schema()); end $$${
    callers === 'owner' ? `;\nrevoke all on function ${name} from public` : ''
  }`,
})
