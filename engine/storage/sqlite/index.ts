/** SQLite: one file, a connection of the main thread for short reads, and worker threads for writes and long reads. */
import type { Database } from 'better-sqlite3'
import { managedResources, type Registry, type Resource } from '../../descriptor/registry.js'
import { sqlitePath } from '../../process/databaseUrl.js'
import { existingOnSqlite } from '../existing/sqlite.js'
import type { StorageOptions } from '../options.js'
import { ResponseCache } from '../responseCache.js'
import { countsTable } from '../schema.js'
import type { Storage } from '../storage.js'
import { resourceTables } from '../table.js'
import { withFitCheck } from '../tableFit.js'
import { fileIdentity, inMemory, isReadOnly, type OpenedFile, refuseMoved } from './file.js'
import { sqliteFit } from './fit.js'
import { type ListSql, listReader } from './lists.js'
import { createReaders } from './readers.js'
import type { ReadWorkerData } from './readWorker.js'
import { insertRows, readRows } from './rows.js'
import { readLockTimeout, setUp, startTimeout } from './setUp.js'
import { resourceStatements, type Statements } from './statements.js'
import { commitCounter, type DatabaseContext, sqliteTable } from './table.js'
import { type Executor, inPlace, workerThread } from './worker.js'
import { writeQueue } from './writeQueue.js'
import { writer } from './writes.js'
import type { WriteWorkerData } from './writeWorker.js'

/** How many threads read: one is always free for quick reads. */
const readerThreads = 2

/** What runs reads and writes: worker threads, or this thread where no other can see the database. */
const createExecutors = (
  file: OpenedFile,
  database: Database,
  sql: ReadonlyMap<string, ListSql>,
  timeoutMs: number,
  onRestart: (cause: string) => void,
): { readers: Executor[]; writing: Executor } => {
  if (file.path === inMemory) {
    return { readers: [inPlace(listReader(database, sql))], writing: inPlace(writer(database, () => {})) }
  }
  const thread = (module: string, data: unknown) => workerThread(new URL(module, import.meta.url), data, onRestart)
  const reader = () => thread('./readWorker.js', { file, sql } satisfies ReadWorkerData)
  return {
    readers: Array.from({ length: readerThreads }, reader),
    writing: thread('./writeWorker.js', { file, timeoutMs } satisfies WriteWorkerData),
  }
}

/** Opens the database, creates what is missing, and loads the demo data into an empty one if requested. */
export const openSqlite = async (registry: Registry, url: string, options: StorageOptions): Promise<Storage> => {
  if (options.derivedObjects === false) options.warn('DERIVED_OBJECTS=false is for PostgreSQL; SQLite ignores it.')
  const path = sqlitePath(url) as string
  const database = await setUp(registry, path, options)
  const managed = managedResources(registry)
  const file = { path, identity: fileIdentity(path), isForeign: managed.length === 0 }
  const commits = commitCounter(database)
  const existing = existingOnSqlite(registry, database)
  const statements = new Map(
    managed.map((resource) => [resource.path, resourceStatements(registry, resource, existing)]),
  )
  const lists = new Map([...statements].map(([resource, sql]) => [resource, sql.lists]))
  let threadRestarts = 0
  const onRestart = (cause: string) => {
    threadRestarts++
    options.warn(`A worker thread died and was replaced: ${cause}.`)
  }
  const { readers, writing } = createExecutors(file, database, lists, options.readTimeoutMs, onRestart)
  const readerFor = createReaders(readers, options.readTimeoutMs)
  const writes = writeQueue(writing, commits.committed)
  const context: DatabaseContext = { database, readerFor, writes, commits }
  const cache = new ResponseCache(options.cacheBytes)
  const anyQuery = database.prepare('select count(*) from sqlite_schema')
  const createDialect = (resource: Resource) =>
    sqliteTable(resource, statements.get(resource.path) as Statements, context)
  const storage: Storage = {
    table: resourceTables(
      registry,
      createDialect,
      (resource) => (resource.existing ? existing.table(resource, context, options.trace) : undefined),
      cache,
      options.trace,
    ),
    async counts() {
      const counted = managed.length > 0 ? database.prepare(`select name, rows from ${countsTable}`).raw().all() : []
      const rows = new Map(counted as [string, number][])
      const countRows = async (resource: Resource): Promise<[Resource, number]> => [
        resource,
        resource.existing ? await existing.count(resource, context) : (rows.get(resource.table) ?? 0),
      ]
      return new Map(await Promise.all(registry.map(countRows)))
    },
    rows: async (table, after, count) => readRows(database, table, after, count),
    async fill(batches) {
      database.pragma(`busy_timeout = ${startTimeout}`)
      try {
        database.exec('begin immediate')
        database.pragma('defer_foreign_keys = ON')
        for await (const { resource, rows } of batches) insertRows(database, resource, rows)
        database.exec('commit')
      } finally {
        if (database.inTransaction) database.exec('rollback')
        database.pragma(`busy_timeout = ${readLockTimeout}`)
      }
      commits.committed()
    },
    stats: () => ({ cache: cache.stats(), pools: [], threadRestarts }),
    async ping() {
      refuseMoved(file)
      anyQuery.get()
      return { isReadOnly: isReadOnly(path), changedTables: [] }
    },
    async close() {
      await Promise.all([writes.close(), ...readers.map((reader) => reader.close())])
      database.close()
    },
  }
  return withFitCheck(storage, registry, sqliteFit(database, statements, commits), options.warn)
}
