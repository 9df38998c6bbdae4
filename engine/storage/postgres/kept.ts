/** Makes what PostgreSQL keeps, and makes it anew where a descriptor or this engine has changed. */
import { createHash } from 'node:crypto'
import type { Resource } from '../../descriptor/registry.js'
import type { StorageOptions } from '../options.js'
import { StorageError } from '../storage.js'
import { quoted } from '../tables.js'
import { blockBits, blocksTable, statesTable, triggerFunctions, valueFunctions } from './functions.js'
import { columnsOf, indexesOf, type Kept, triggersOf } from './schema.js'

/** Runs SQL within the transaction of the set-up. */
export type Run = <T = unknown>(sql: string, values?: readonly unknown[]) => Promise<T[]>

const digestOf = (...sql: readonly string[]): string => createHash('sha256').update(sql.join('\n')).digest('hex')

/** What is made bears the digest of its SQL as its comment, so that the next start knows whether it is still as wanted. */
const comment = (on: string, digest: string): string => `comment on ${on} is 'Made by the service: ${digest}'`
const digestIn = (made: string | null | undefined): string => made?.slice(-64) ?? ''

/** Makes the functions; answers with the digest of those by which values are computed. */
export const ensureFunctions = async (run: Run): Promise<string> => {
  const wanted = valueFunctions()
  for (const { name, sql } of [...wanted, ...triggerFunctions]) {
    const digest = digestOf(sql)
    const [made] = await run<{ comment: string | null }>(
      `select obj_description(to_regprocedure($1), 'pg_proc') as comment`,
      [name],
    )
    if (digestIn(made?.comment) === digest) continue
    await run(sql)
    await run(comment(`function ${name}`, digest))
  }
  return digestOf(...wanted.map(({ sql }) => sql))
}

/** The operator class of the trigram index, where the extension is or can be had. */
export const trigramsOf = async (run: Run, warn: StorageOptions['warn']): Promise<string | undefined> => {
  await run('savepoint trigrams')
  try {
    await run('create extension if not exists pg_trgm')
  } catch (error) {
    await run('rollback to savepoint trigrams')
    warn(
      `Searches go through whole tables, for pg_trgm cannot be had: ${(error as Error).message}. Have the extension created in this database, and start again.`,
    )
  }
  const [found] = await run<{ name: string }>(
    `select quote_ident(nspname) || '.gin_trgm_ops' as name
      from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace where opcname = 'gin_trgm_ops'`,
  )
  return found?.name
}

/** Those of the wanted parts of a table that are missing, or were made by another SQL. */
const staleOf = async (run: Run, { table }: Resource, wanted: readonly Kept[], basis: string): Promise<Kept[]> => {
  const rows = await run<{ part: string; comment: string | null }>(
    `select 'column ' || attname as part, col_description(attrelid, attnum) as comment
        from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
      union all select 'index ' || relname, obj_description(indexrelid, 'pg_class')
        from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass($1)
      union all select 'trigger ' || tgname, obj_description(oid, 'pg_trigger')
        from pg_trigger where tgrelid = to_regclass($1)`,
    [quoted(table)],
  )
  const made = new Map(rows.map((row) => [row.part, digestIn(row.comment)]))
  return wanted.filter(({ type, name, sql }) => made.get(`${type} ${name}`) !== digestOf(sql, basis))
}

/** What the parts of a table are made with: the digest of the functions they are computed by, and who is told of it. */
interface Making {
  readonly run: Run
  readonly basis: string
  /** Tells that the rows of a table are gone through. */
  readonly says: (resource: Resource) => Promise<void>
}

const ensureColumns = async ({ run, basis, says }: Making, resource: Resource): Promise<void> => {
  const table = quoted(resource.table)
  const stale = await staleOf(run, resource, columnsOf(resource), basis)
  if (stale.length === 0) return
  await says(resource)
  // In one statement, which goes through the table once.
  const drops = stale.map(({ name }) => `drop column if exists ${name}`)
  await run(`alter table ${table} ${[...drops, ...stale.map(({ sql }) => sql)].join(', ')}`)
  for (const { name, sql } of stale) await run(comment(`column ${table}.${name}`, digestOf(sql, basis)))
}

const ensureIndexes = async ({ run, basis, says }: Making, resource: Resource, trigrams?: string): Promise<void> => {
  for (const index of await staleOf(run, resource, indexesOf(resource, trigrams), basis)) {
    await says(resource)
    try {
      await run(`drop index if exists ${index.name}`)
      await run(index.sql)
    } catch (error) {
      if ((error as { code?: string }).code !== '23505') throw error
      const fields = resource.fields.filter(({ unique }) => unique).map(({ name, unique }) => [...(unique ?? []), name])
      throw new StorageError(
        `rows of "${resource.table}" share values of (${fields.join(') or (')}), which its descriptor says are unique`,
      )
    }
    await run(comment(`index ${index.name}`, digestOf(index.sql, basis)))
  }
}

/** The sequence that gives a table its ids; a table from elsewhere may have none yet. */
const sequenceOf = async (run: Run, { table }: Resource): Promise<string> => {
  const find = () => run<{ name: string | null }>(`select pg_get_serial_sequence($1, 'id') as name`, [quoted(table)])
  const [found] = await find()
  if (found?.name) return found.name
  await run(`alter table ${quoted(table)} alter column id add generated by default as identity`)
  const [made] = await find()
  return String(made?.name)
}

const ensureTriggers = async ({ run }: Making, resource: Resource): Promise<void> => {
  const table = quoted(resource.table)
  const sequence = await sequenceOf(run, resource)
  const stale = await staleOf(run, resource, triggersOf(resource, sequence), '')
  const counted = await run(`select 1 from ${statesTable} where name = $1 limit 1`, [resource.table])
  if (stale.length === 0 && counted.length > 0) return
  // No row may come between the count and the triggers that keep it from here on.
  await run(`lock table ${table} in share row exclusive mode`)
  for (const { name, sql } of stale) {
    await run(`drop trigger if exists ${name} on ${table}`)
    await run(sql)
    await run(comment(`trigger ${name} on ${table}`, digestOf(sql, '')))
  }
  for (const own of [statesTable, blocksTable]) await run(`delete from ${own} where name = $1`, [resource.table])
  await run(`insert into ${blocksTable} select $1, id >> ${blockBits}, count(*) from ${table} group by 2`, [
    resource.table,
  ])
  await run(`insert into ${statesTable} select $1, count(*), (random() * 9223372036854775807)::bigint from ${table}`, [
    resource.table,
  ])
  await run(
    `select setval($1, max(id)) from ${table} having max(id) > coalesce(pg_sequence_last_value($1::regclass), 0)`,
    [sequence],
  )
}

/** Makes all that is kept for a resource. */
export const ensureKept = async (making: Making, resource: Resource, trigrams?: string): Promise<void> => {
  await ensureColumns(making, resource)
  await ensureIndexes(making, resource, trigrams)
  await ensureTriggers(making, resource)
}
