/** The schema of a database, to show that nothing was created or changed in it. */
import { type SharedDatabase, server } from './database.js'

const postgres = `select 'class ' || relname || ' ' || relkind::text as object from pg_class where relnamespace = 'public'::regnamespace
  union all select 'column ' || attrelid::regclass || ' ' || attname from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and attnum > 0
  union all select 'trigger ' || tgrelid::regclass || ' ' || tgname from pg_trigger
  union all select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
  union all select 'function ' || proname from pg_proc where pronamespace = 'public'::regnamespace
  union all select 'type ' || typname from pg_type where typnamespace = 'public'::regnamespace
  union all select 'extension ' || extname from pg_extension
  order by 1`

export const schemaOf = async ({ run }: Pick<SharedDatabase, 'run'>): Promise<unknown[]> =>
  server
    ? run(postgres)
    : [...(await run('select type, name, sql from sqlite_schema order by name')), ...(await run('pragma journal_mode'))]
