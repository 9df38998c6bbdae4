/** Copies every row to another database: `npm run copy -- --from sqlite:PATH --to postgres://USER@HOST/NAME`. */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadRegistry } from '../engine/descriptor/load.js'
import type { Registry, Resource } from '../engine/descriptor/registry.js'
import { readSettings, SettingsError } from '../engine/settings.js'
import { openStorage } from '../engine/storage/open.js'
import type { Batch, Storage } from '../engine/storage/storage.js'
import { folders } from '../product.js'
import { CommandError, runCommand, text, UsageError } from '../support/options.js'
import { progressBar } from '../support/progress.js'

const batchSize = 5_000

const command = {
  name: 'npm run copy',
  about: 'Copies every row from one database to another, empty one, and compares both afterwards.',
  options: {
    from: text('the database to read: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME', 'DATABASE'),
    to: text('the database to write; an SQLite file and its folder are created', 'DATABASE'),
  },
  example: 'npm run copy -- --from sqlite:data/workforce.sqlite --to postgres://me:secret@localhost:5432/workforce',
}

/** Validates the database URL of an option and returns the settings with it. */
const settingsFor = (option: string, url: string) => {
  try {
    const settings = readSettings({ ...process.env, DATABASE_URL: url })
    if (url !== 'sqlite::memory:') return settings
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new UsageError(error.message.replace(/^DATABASE_URL/m, `--${option}`))
  }
  throw new UsageError(`--${option} is sqlite::memory:, which is empty before and after the copy; use a file.`)
}

/** Throws if the file is missing or empty: opening it would create a database. */
const checkSource = (url: string): void => {
  const path = url.slice('sqlite:'.length)
  if (!url.startsWith('sqlite:')) return
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new CommandError(`--from is ${url}, but there is no such file.`)
  if (found.isFile() && found.size === 0) throw new CommandError(`--from is ${url}, but that file is empty.`)
}

const open = (registry: Registry, option: string, url: string): Promise<Storage> => {
  const settings = settingsFor(option, url)
  return openStorage(registry, url, {
    demo: false,
    cacheBytes: 0,
    readTimeoutMs: 3_600_000,
    // All rows are copied in one transaction, which waits for the other database to read them.
    pool: { size: 2, waitMs: settings.POOL_WAIT_MS, idleMs: settings.POOL_IDLE_MS, statementMs: 3_600_000 },
    progress: () => {},
    warn: console.warn,
  })
}

/** Reads the rows of one resource in batches. */
const readBatches = async function* (storage: Storage, resource: Resource): AsyncGenerator<Batch> {
  let after = Number.MIN_SAFE_INTEGER
  for (;;) {
    const rows = await storage.rows(resource, after, batchSize)
    if (rows.length === 0) return
    yield { resource, rows }
    after = Number(rows.at(-1)?.['id'])
  }
}

const readAll = async function* (storage: Storage, registry: Registry, total: number): AsyncGenerator<Batch> {
  const report = progressBar('copy', total, 'rows')
  let done = 0
  report(done)
  for (const resource of registry) {
    for await (const batch of readBatches(storage, resource)) {
      yield batch
      done += batch.rows.length
      report(done)
    }
  }
}

/** The number of rows, and a hash of all their values. */
const digest = async (storage: Storage, resource: Resource): Promise<string> => {
  const hash = createHash('sha256')
  let count = 0
  for await (const { rows } of readBatches(storage, resource)) {
    for (const row of rows) hash.update(`${JSON.stringify(resource.fields.map(({ name }) => row[name] ?? null))}\n`)
    count += rows.length
  }
  return `${count} rows ${hash.digest('hex').slice(0, 16)}`
}

const totalOf = async (storage: Storage): Promise<number> =>
  [...(await storage.counts()).values()].reduce((sum, rows) => sum + rows, 0)

const copy = async (registry: Registry, from: Storage, to: Storage, total: number): Promise<void> => {
  if ((await totalOf(to)) > 0) throw new CommandError('--to already has rows; use an empty database.')
  await to.fill(readAll(from, registry, total))
  for (const resource of registry) {
    const [source, target] = [await digest(from, resource), await digest(to, resource)]
    if (source !== target) {
      throw new CommandError(`${resource.path} differs: ${source} in --from, ${target} in --to; do not use the copy.`)
    }
    console.log(`${resource.path}: ${target}, the same in both`)
  }
}

await runCommand(command, async ({ from: source, to: target }) => {
  settingsFor('from', source)
  settingsFor('to', target)
  const identity = (url: string) => (url.startsWith('sqlite:') ? resolve(url.slice('sqlite:'.length)) : url)
  if (identity(source) === identity(target)) throw new UsageError('--from and --to are the same database.')
  checkSource(source)
  const registry = await loadRegistry(folders)
  const from = await open(registry, 'from', source)
  try {
    // Checked before the target is opened, which would create it.
    const total = await totalOf(from)
    if (total === 0) throw new CommandError('--from has no rows; there is nothing to copy.')
    const to = await open(registry, 'to', target)
    await copy(registry, from, to, total)
      .catch((error: Error) => {
        throw error instanceof CommandError ? error : new CommandError(`The copy failed: ${error.message}`)
      })
      .finally(() => to.close())
  } finally {
    await from.close()
  }
})
