/** A function that the service creates on PostgreSQL. */
export interface SqlFunction {
  /** With its argument types, as the server names it. */
  readonly name: string
  readonly sql: string
  /** The table of the engine whose trigger calls it. */
  readonly firedBy?: string
}

/**
 * Fixes the search path of a function, so that it never uses a caller's temporary table of the same name. Whatever writes is for
 * its owner alone: others reach it by the triggers that the owner has created, for which the right to insert is enough.
 */
export const pinned = (name: string, sql: string, callers: 'all' | 'owner' = 'all'): SqlFunction => ({
  name,
  sql: `${sql};
do $$ begin execute format('alter function ${name} set search_path = %I, pg_temp', current_schema()); end $$${
    callers === 'owner' ? `;\nrevoke all on function ${name} from public` : ''
  }`,
})

/** A function with its owner's rights that runs before each insert into a table of the engine: `when` is for each row or statement. */
export const upkeepFunction = (name: string, table: string, when: string, body: string): SqlFunction => ({
  ...pinned(
    `${name}()`,
    `create or replace function ${name}() returns trigger language plpgsql security definer as $$
${body} $$;
create or replace trigger ${name} before insert on ${table} ${when} execute function ${name}()`,
    'owner',
  ),
  firedBy: table,
})
