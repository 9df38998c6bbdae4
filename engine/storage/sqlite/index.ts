/** SQLite: one file, a connection of the main thread for short reads, and worker threads for writes and long reads. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import createKnex from 'knex'
import type { Registry } from '../../descriptor/registry.js'
import { loadDemo, migrate } from '../migrate.js'
import type { StorageOptions } from '../options.js'
import { perResource } from '../perResource.js'
import { ResponseCache } from '../responseCache.js'
import { statesTable } from '../schema.js'
import { type Storage, StorageError } from '../storage.js'
import { resourceTable } from '../table.js'
import { commitCounter } from './commitCounter.js'
import { connect } from './connection.js'
import { fileGuard, inMemory, isNew, refuseUnsound, refuseUnusable } from './file.js'
import { type ListSql, listReader } from './lists.js'
import { migrationDialect } from './migration.js'
import { readersOf } from './readers.js'
import { reopenOnReplace } from './reopenOnReplace.js'
import { insertRows, readRows } from './rows.js'
import { type Statements, statementsOf } from './statements.js'
import { type Shared, sqliteTable } from './table.js'
import { type Executor, inPlace, workerThread } from './worker.js'
import { writeQueue } from './writeQueue.js'
import { writer } from './writes.js'

/** Builds SQL and never connects: statements run on better-sqlite3 directly. */
const knex = createKnex({ client: 'better-sqlite3', useNullAsDefault: true })

/** How long a start, and how long a read, waits for another process's lock, in milliseconds. */
const startTimeout = 5_000
const readLockTimeout = 50

/** Opens the file and creates what the registry needs and the file lacks. */
const prepared = async (registry: Registry, path: string, options: StorageOptions): Promise<Database> => {
  const { demo, progress, warn, opened } = options
  let database: Database | undefined
  try {
    if (path !== inMemory) {
      refuseUnusable(path, warn)
      mkdirSync(dirname(path), { recursive: true })
    }
    const created = path === inMemory || isNew(path)
    if (!created) refuseUnsound(path, registry)
    database = connect(path, { timeout: startTimeout })
    const dialect = migrationDialect(database, knex)
    await migrate(dialect, registry, progress)
    const isLoaded = demo && (await loadDemo(dialect, registry))
    opened?.({ created, demo: isLoaded })
    // From here on, waiting for a lock would block every request of this process.
    database.pragma(`busy_timeout = ${readLockTimeout}`)
    return database
  } catch (error) {
    database?.close()
    throw new StorageError(`The database ${path} cannot be used: ${(error as Error).message}`)
  }
}

/** What runs quick reads, slow reads and writes: worker threads, or this thread where no other can see the database. */
const executorsOf = (
  path: string,
  database: Database,
  sql: ReadonlyMap<string, ListSql>,
  warn: (message: string) => void,
): [Executor, Executor, Executor] => {
  if (path === inMemory) {
    const reader = inPlace(listReader(database, sql))
    return [reader, reader, inPlace(writer(database, () => {}))]
  }
  const thread = (module: string, data: unknown) =>
    workerThread(new URL(module, import.meta.url), data, (cause) =>
      warn(`A worker thread died and was replaced: ${cause}.`),
    )
  const reader = () => thread('./readWorker.js', { path, sql })
  return [reader(), reader(), thread('./writeWorker.js', path)]
}

/** The storage in one file. */
const openFile = async (registry: Registry, path: string, options: StorageOptions): Promise<Storage> => {
  const database = await prepared(registry, path, options)
  const commits = commitCounter(database)
  const statements = new Map(registry.map((resource) => [resource.path, statementsOf(knex, registry, resource)]))
  const lists = new Map([...statements].map(([resource, sql]) => [resource, sql.lists]))
  const [quick, slow, writing] = executorsOf(path, database, lists, options.warn)
  const readers = readersOf(quick, slow, options.readTimeoutMs)
  const writes = writeQueue(writing, commits.committed)
  const shared: Shared = { database, readers, writes, commits }
  const cache = new ResponseCache(options.cacheBytes)
  const counted = database.prepare(`select name, rows from ${statesTable}`).raw()
  const checkFile = fileGuard(path)
  const anyQuery = database.prepare('select count(*) from sqlite_schema')
  return {
    table: perResource(registry, (resource) =>
      resourceTable(resource, sqliteTable(resource, statements.get(resource.path) as Statements, shared), cache),
    ),
    async counts() {
      const rows = new Map(counted.all() as [string, number][])
      return new Map(registry.map((resource) => [resource, rows.get(resource.table) ?? 0]))
    },
    rows: async (table, after, count) => readRows(database, table, after, count),
    async fill(batches) {
      database.pragma(`busy_timeout = ${startTimeout}`)
      try {
        database.exec('begin immediate')
        database.pragma('defer_foreign_keys = ON')
        for await (const { resource, rows } of batches) insertRows(database, knex, resource, rows)
        database.exec('commit')
      } finally {
        if (database.inTransaction) database.exec('rollback')
        database.pragma(`busy_timeout = ${readLockTimeout}`)
      }
      commits.committed()
    },
    async ping() {
      checkFile()
      anyQuery.get()
    },
    async close() {
      await Promise.all([writes.close(), readers.close()])
      database.close()
    },
  }
}

/** Opens the database, creates what is missing, and loads the demo data into an empty one where that is wanted. */
export const openSqlite = async (registry: Registry, url: string, options: StorageOptions): Promise<Storage> => {
  const path = url.slice('sqlite:'.length)
  // A file that replaces another is served as it is, even if it is empty.
  return reopenOnReplace(path, (isReopened) =>
    openFile(registry, path, { ...options, demo: options.demo && !isReopened }),
  )
}
