/** Copies every row to another database: `npm run copy -- --from sqlite:PATH --to postgres://USER@HOST/NAME`. */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { managedResources, type Registry } from '../engine/descriptor/registry.js'
import { publicDatabaseUrl, sqlitePath } from '../engine/process/databaseUrl.js'
import { endProgressLine, progressBar } from '../engine/process/progress.js'
import { readSettings, type Settings, SettingsError } from '../engine/process/settings.js'
import { copiedKeys } from '../engine/storage/keys.js'
import { migrationEntries, openStorage, storageTables } from '../engine/storage/open.js'
import { type Batch, type CopiedTable, hasRows, type Storage, type StoredRow } from '../engine/storage/storage.js'
import { readBatches } from '../support/bulkRows.js'
import { describeFailure } from '../support/failures.js'
import { CommandError, defineCommand, text, UsageError } from '../support/options.js'
import { openOptions } from './openOptions.js'
import { projectRegistry } from './project.js'

const command = {
  name: 'copy',
  about: 'Copies every row from one database to an empty one, and compares both afterwards.',
  options: {
    from: text('the database to read: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME', 'DATABASE'),
    to: text('the database to write; an SQLite file and its folder are created', 'DATABASE'),
  },
  notes: 'Set the password of PostgreSQL in PGPASSWORD, not in the URL: npm prints the command line.',
  exampleSettings: 'PGPASSWORD=secret',
  example: '--from sqlite:data/registry.sqlite --to postgres://me@localhost:5432/registry',
}

/** Validates the database URL of an option and returns the settings with it. */
const settingsFor = (option: string, url: string): Settings => {
  if (url.startsWith('sqlite:-')) throw new UsageError(`--${option} is ${url}, but a path must not begin with "-".`)
  try {
    const settings = readSettings({ ...process.env, DATABASE_URL: url })
    if (url !== 'sqlite::memory:') return settings
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new UsageError(error.message.replace(/^DATABASE_URL/m, `--${option}`))
  }
  throw new UsageError(`--${option} is sqlite::memory:, which is empty before and after the copy; use a file.`)
}

/** Throws if the source does not exist or has none of the tables; reads only, because opening a database creates what it lacks. */
const checkSourceDatabase = async (registry: Registry, url: string, waitMs: number): Promise<void> => {
  const path = sqlitePath(url)
  const file = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
  const reason = path === undefined ? '' : file ? file.size === 0 && 'that file is empty' : 'there is no such file'
  if (reason) throw new CommandError(`--from is ${publicDatabaseUrl(url)}, but ${reason}.`)
  const tables = await storageTables(url, waitMs).catch((error: Error) => {
    throw new CommandError(`--from is ${publicDatabaseUrl(url)}, which cannot be read: ${error.message}`)
  })
  if (registry.every(({ table }) => !tables.some(({ name }) => name === table))) {
    throw new CommandError(
      `--from is ${publicDatabaseUrl(url)}, but it has none of the tables that the descriptors name.`,
    )
  }
}

/** All rows are copied in one transaction, which waits for the other database to read them. */
const copyTimeoutMs = 3_600_000

const countAllRows = async (storage: Storage): Promise<number> =>
  [...(await storage.counts()).values()].reduce((sum, rows) => sum + rows, 0)

const readAll = async function* (storage: Storage, tables: readonly CopiedTable[]): AsyncGenerator<Batch> {
  const total = await countAllRows(storage)
  const report = progressBar('copy', total, 'rows')
  let done = 0
  report(done)
  for (const table of tables) {
    for await (const batch of readBatches(storage, table)) {
      yield batch
      done += batch.rows.length
      report(Math.min(done, total))
    }
  }
}

/** A value in a form that JSON can distinguish: it has no bigints, NaN or infinities. SQLite has no -0. */
const distinct = (value: StoredRow[string] = null): unknown =>
  typeof value === 'number' || typeof value === 'bigint' ? [String(value)] : value

/** The number of rows, and a hash of all their values. The databases may sort texts differently, so rows are hashed one by one. */
const digest = async (storage: Storage, table: CopiedTable, onRows: (count: number) => void): Promise<string> => {
  const combined = Buffer.alloc(32)
  let count = 0
  for await (const { rows } of readBatches(storage, table)) {
    for (const row of rows) {
      const values = JSON.stringify(table.fields.map(({ name }) => distinct(row[name])))
      const hash = createHash('sha256').update(values).digest()
      for (let n = 0; n < combined.length; n++) combined[n] = Number(combined[n]) ^ Number(hash[n])
    }
    count += rows.length
    onRows(rows.length)
  }
  return `${count} rows ${combined.toString('hex', 0, 8)}`
}

const eachRow = async function* (storage: Storage, table: CopiedTable): AsyncGenerator<StoredRow, undefined> {
  for await (const { rows } of readBatches(storage, table)) yield* rows
}

const isSame = (before: StoredRow[string] | undefined, after: StoredRow[string] | undefined): boolean =>
  JSON.stringify(distinct(before)) === JSON.stringify(distinct(after))

const describeValue = (value: StoredRow[string] = null): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value)

/** The column in which two rows differ, with its values unless they are secret; undefined if they are equal. */
const describeColumn = (table: CopiedTable, source: StoredRow, target: StoredRow): string | undefined => {
  const field = table.fields.find(({ name }) => !isSame(source[name], target[name]))
  if (!field) return undefined
  const isSecret = table === copiedKeys || ('redacted' in field && field.redacted === true)
  const [before, after] = [source, target].map((row) => describeValue(row[field.name]))
  return isSecret ? `, ${field.name}` : `, ${field.name}: ${before} in --from, ${after} in --to`
}

/** The first row that differs. The databases may sort texts differently: a row waits until the other database has given its own. */
const describeDifference = async (table: CopiedTable, from: Storage, to: Storage): Promise<string> => {
  const waiting = [new Map<unknown, StoredRow>(), new Map<unknown, StoredRow>()] as const
  const [sources, targets] = [eachRow(from, table), eachRow(to, table)]
  const readId = (row: StoredRow) => String(row[table.cursor ?? 'id'])
  for (;;) {
    const [source, target] = [(await sources.next()).value, (await targets.next()).value]
    if (source) waiting[0].set(readId(source), source)
    if (target) waiting[1].set(readId(target), target)
    for (const id of [source, target].flatMap((row) => (row ? [readId(row)] : []))) {
      const [before, after] = [waiting[0].get(id), waiting[1].get(id)]
      if (!before || !after) continue
      const column = describeColumn(table, before, after)
      if (column !== undefined) return `row ${id}${column}`
      for (const rows of waiting) rows.delete(id)
    }
    if (source || target) continue
    const [[missing], [added]] = [[...waiting[0].keys()], [...waiting[1].keys()]]
    if (missing !== undefined) return `row ${missing} is only in --from`
    return added === undefined ? 'a row has changed meanwhile' : `row ${added} is only in --to`
  }
}

const copy = async (registry: Registry, from: Storage, to: Storage): Promise<void> => {
  const tables: readonly CopiedTable[] = [...registry, copiedKeys]
  for (const table of tables) {
    if (await hasRows(to, table)) throw new CommandError('--to already has rows; use an empty database.')
  }
  if ((await countAllRows(from)) === 0) throw new CommandError('--from has no rows; there is nothing to copy.')
  await to.fill(readAll(from, tables))
  const total = 2 * (await countAllRows(to))
  const report = progressBar('compare', total, 'rows')
  let done = 0
  const onRows = (count: number) => {
    done += count
    report(Math.min(done, total))
  }
  onRows(0)
  const equal: string[] = []
  for (const table of tables) {
    const [source, target] = [await digest(from, table, onRows), await digest(to, table, onRows)]
    if (source !== target) {
      const first = await describeDifference(table, from, to)
      throw new CommandError(`${table.path} differs: ${first}; do not use the copy.`)
    }
    equal.push(`${table.path}: ${target}, the same in both`)
  }
  endProgressLine()
  for (const line of equal) console.log(line)
}

/** The resources whose rows are copied; those of other programs stay where they are, and references to them are not checked. */
const withoutExisting = (fullRegistry: Registry): Registry => {
  const registry = managedResources(fullRegistry)
  const isCopied = (path: string | undefined) => registry.some((resource) => resource.path === path)
  return registry.map((resource) => ({
    ...resource,
    fields: resource.fields.map(({ references, ...field }) =>
      references !== undefined && isCopied(references) ? { ...field, references } : field,
    ),
  }))
}

export default defineCommand(command, async ({ from: source, to: target }) => {
  const options = openOptions(settingsFor('from', source), 2, copyTimeoutMs)
  settingsFor('to', target)
  const identity = (url: string) => {
    const path = sqlitePath(url)
    return path === undefined ? url : resolve(path)
  }
  if (identity(source) === identity(target)) throw new UsageError('--from and --to are the same database.')
  const registry = withoutExisting(await projectRegistry())
  // Before anything is opened, which would create tables in both databases.
  await checkSourceDatabase(registry, source, options.pool.waitMs)
  const from = await openStorage(registry, source, options)
  try {
    const { files = [], pool } = options
    const entries = await migrationEntries(registry, [source, target], files, pool.waitMs)
    const recorded = entries.length > 0 ? entries : undefined
    const to = await openStorage(registry, target, { ...options, recorded })
    await copy(registry, from, to)
      .catch((error: Error) => {
        if (error instanceof CommandError) throw error
        throw new CommandError(`The copy failed. ${describeFailure(error) ?? error.message}`)
      })
      .finally(() => to.close())
  } finally {
    await from.close()
  }
})
