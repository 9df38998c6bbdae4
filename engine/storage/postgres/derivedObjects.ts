/** Creates the derived objects on PostgreSQL, and rebuilds those that a changed descriptor or engine has made stale. */
import { createHash } from 'node:crypto'
import type { Resource } from '../../descriptor/registry.js'
import type { StorageOptions } from '../options.js'
import { StorageError } from '../storage.js'
import { quoted } from '../tables.js'
import { blockBits, blocksTable, statesTable, triggerFunctions, valueFunctions } from './functions.js'
import { columnsOf, type DerivedObject, indexesOf, triggersOf } from './schema.js'

/** Executes SQL within the transaction of the set-up. */
export type Execute = <T = unknown>(sql: string, values?: readonly unknown[]) => Promise<T[]>

const digestOf = (...sql: readonly string[]): string => createHash('sha256').update(sql.join('\n')).digest('hex')

/** Each object has the digest of its SQL as its comment, so that the next start knows whether it is current. */
const comment = (on: string, digest: string): string => `comment on ${on} is 'Made by the service: ${digest}'`
const digestIn = (comment: string | null | undefined): string => comment?.slice(-64) ?? ''

/** Creates the functions; returns the digest of those that compute values. */
export const ensureFunctions = async (execute: Execute): Promise<string> => {
  const wanted = valueFunctions()
  for (const { name, sql } of [...wanted, ...triggerFunctions]) {
    const digest = digestOf(sql)
    const [made] = await execute<{ comment: string | null }>(
      `select obj_description(to_regprocedure($1), 'pg_proc') as comment`,
      [name],
    )
    if (digestIn(made?.comment) === digest) continue
    await execute(sql)
    await execute(comment(`function ${name}`, digest))
  }
  return digestOf(...wanted.map(({ sql }) => sql))
}

/** The operator class of the trigram index, if the extension is installed or can be. */
export const trigramsOf = async (execute: Execute, warn: StorageOptions['warn']): Promise<string | undefined> => {
  await execute('savepoint trigrams')
  try {
    await execute('create extension if not exists pg_trgm')
  } catch (error) {
    await execute('rollback to savepoint trigrams')
    warn(
      `Searches scan whole tables because pg_trgm is not available: ${(error as Error).message}. Create the extension in this database and restart.`,
    )
  }
  const [found] = await execute<{ name: string }>(
    `select quote_ident(nspname) || '.gin_trgm_ops' as name
      from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace where opcname = 'gin_trgm_ops'`,
  )
  return found?.name
}

/** The objects of a table that are missing or were created by other SQL. */
const staleOf = async (
  execute: Execute,
  { table }: Resource,
  wanted: readonly DerivedObject[],
  functionsDigest: string,
): Promise<DerivedObject[]> => {
  const rows = await execute<{ part: string; comment: string | null }>(
    `select 'column ' || attname as part, col_description(attrelid, attnum) as comment
        from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
      union all select 'index ' || relname, obj_description(indexrelid, 'pg_class')
        from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass($1)
      union all select 'trigger ' || tgname, obj_description(oid, 'pg_trigger')
        from pg_trigger where tgrelid = to_regclass($1)`,
    [quoted(table)],
  )
  const made = new Map(rows.map((row) => [row.part, digestIn(row.comment)]))
  return wanted.filter(({ type, name, sql }) => made.get(`${type} ${name}`) !== digestOf(sql, functionsDigest))
}

/** What the objects of a table are created with. */
interface Context {
  readonly execute: Execute
  readonly functionsDigest: string
  /** Reports that all rows of a table are read or rewritten. */
  readonly reportRewrite: (resource: Resource) => Promise<void>
}

const ensureColumns = async (
  { execute, functionsDigest, reportRewrite }: Context,
  resource: Resource,
): Promise<void> => {
  const table = quoted(resource.table)
  const stale = await staleOf(execute, resource, columnsOf(resource), functionsDigest)
  if (stale.length === 0) return
  await reportRewrite(resource)
  // In one statement, which rewrites the table once.
  const drops = stale.map(({ name }) => `drop column if exists ${name}`)
  await execute(`alter table ${table} ${[...drops, ...stale.map(({ sql }) => sql)].join(', ')}`)
  for (const { name, sql } of stale) await execute(comment(`column ${table}.${name}`, digestOf(sql, functionsDigest)))
}

const ensureIndexes = async (
  { execute, functionsDigest, reportRewrite }: Context,
  resource: Resource,
  trigrams?: string,
): Promise<void> => {
  for (const index of await staleOf(execute, resource, indexesOf(resource, trigrams), functionsDigest)) {
    await reportRewrite(resource)
    try {
      await execute(`drop index if exists ${index.name}`)
      await execute(index.sql)
    } catch (error) {
      if ((error as { code?: string }).code !== '23505') throw error
      const fields = resource.fields.filter(({ unique }) => unique).map(({ name, unique }) => [...(unique ?? []), name])
      throw new StorageError(
        `rows of "${resource.table}" share values of (${fields.join(') or (')}), which its descriptor says are unique`,
      )
    }
    await execute(comment(`index ${index.name}`, digestOf(index.sql, functionsDigest)))
  }
}

/** The sequence of a table's ids; a table that another program created may have none yet. */
const sequenceOf = async (execute: Execute, { table }: Resource): Promise<string> => {
  const find = () =>
    execute<{ name: string | null }>(`select pg_get_serial_sequence($1, 'id') as name`, [quoted(table)])
  const [found] = await find()
  if (found?.name) return found.name
  await execute(`alter table ${quoted(table)} alter column id add generated by default as identity`)
  const [made] = await find()
  return String(made?.name)
}

const ensureTriggers = async ({ execute }: Context, resource: Resource): Promise<void> => {
  const table = quoted(resource.table)
  const sequence = await sequenceOf(execute, resource)
  const stale = await staleOf(execute, resource, triggersOf(resource, sequence), '')
  const counted = await execute(`select 1 from ${statesTable} where name = $1 limit 1`, [resource.table])
  if (stale.length === 0 && counted.length > 0) return
  // No row may be inserted between the count and the triggers that maintain it.
  await execute(`lock table ${table} in share row exclusive mode`)
  for (const { name, sql } of stale) {
    await execute(`drop trigger if exists ${name} on ${table}`)
    await execute(sql)
    await execute(comment(`trigger ${name} on ${table}`, digestOf(sql, '')))
  }
  for (const own of [statesTable, blocksTable]) await execute(`delete from ${own} where name = $1`, [resource.table])
  await execute(`insert into ${blocksTable} select $1, id >> ${blockBits}, count(*) from ${table} group by 2`, [
    resource.table,
  ])
  await execute(
    `insert into ${statesTable} select $1, count(*), (random() * 9223372036854775807)::bigint from ${table}`,
    [resource.table],
  )
  await execute(
    `select setval($1, max(id)) from ${table} having max(id) > coalesce(pg_sequence_last_value($1::regclass), 0)`,
    [sequence],
  )
}

/** Creates all derived objects of a resource. */
export const ensureDerivedObjects = async (context: Context, resource: Resource, trigrams?: string): Promise<void> => {
  await ensureColumns(context, resource)
  await ensureIndexes(context, resource, trigrams)
  await ensureTriggers(context, resource)
}
