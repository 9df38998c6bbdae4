/** SQLite: one file, a connection of the main thread for short reads, and worker threads for writes and long reads. */
import type { Database } from 'better-sqlite3'
import { service } from '../../descriptor/access.js'
import type { Registry } from '../../descriptor/registry.js'
import { sqlitePath } from '../../process/databaseUrl.js'
import { createChanges } from '../changes.js'
import type { Cell, OwnRunner } from '../dialect.js'
import { createEraser } from '../eraseHistory.js'
import { createHistory } from '../history.js'
import { callerPlan } from '../log.js'
import { importParts, partSteps } from '../makeWrite.js'
import type { StorageOptions } from '../options.js'
import { ResponseCache } from '../responseCache.js'
import { countsTable } from '../schema.js'
import type { Storage } from '../storage.js'
import { resourceTables } from '../tables.js'
import { textSize } from '../unmanaged.js'
import { runAtOnce } from '../walk.js'
import { webhookStore } from '../webhooks.js'
import type { ImportedRow } from '../writeData.js'
import { readCatalogue, tableChecks } from './catalogue.js'
import { compile } from './compile.js'
import { connect, connectionsOf, fileIdentity, refuseMoved } from './connection.js'
import { keyStatements, managedSource, sqliteDialect, unmanagedSource } from './dialect.js'
import { isReadOnly, temporaryFile } from './file.js'
import { callerIs, logReader } from './log.js'
import { bindLists, reader } from './reader.js'
import { insertRows, readRows } from './rows.js'
import { commitCounter, runnerFor } from './runner.js'
import { rowJson } from './schema.js'
import { setUp, startTimeout } from './setUp.js'
import { createReaders, workerThread } from './thread.js'
import { createTransactions } from './transactions.js'
import type { WorkerData } from './worker.js'
import { askOn, refusedBy, writeQueue } from './writes.js'

const tableStates = compile(`select name, state from ${countsTable}`)

/** How many threads read: one is always free for quick reads. */
const readerThreads = 2

/** Opens the database, creates what is missing, and loads the demo data into an empty one if requested. */
export const openSqlite = async (registry: Registry, url: string, options: StorageOptions): Promise<Storage> => {
  if (options.derivedObjects === false) options.warn('DERIVED_OBJECTS=false is for PostgreSQL; SQLite ignores it.')
  const name = sqlitePath(url) as string
  const temporary = name === ':memory:' ? temporaryFile() : undefined
  const path = temporary?.path ?? name
  const database = await setUp(registry, path, name, options).catch((error) => {
    temporary?.remove()
    throw error
  })
  const file = { path, identity: fileIdentity(path), ...connectionsOf(registry) }
  const commits = commitCounter(database)
  const read = reader(database)
  let threadRestarts = 0
  const onRestart = (cause: string) => {
    threadRestarts++
    options.warn(`A worker thread died and was replaced: ${cause}.`)
  }
  const thread = (data: WorkerData) => workerThread(new URL('./worker.js', import.meta.url), data, onRestart)
  const reading = Array.from({ length: readerThreads }, () => thread({ file }))
  const writing = thread({ file, writeTimeoutMs: options.readTimeoutMs })
  const readers = createReaders(reading, options.readTimeoutMs)
  const writes = writeQueue(writing, commits.committed)
  const connection = { database, read, readers, writes, commits }
  const cache = new ResponseCache(options.cacheBytes)
  const anyQuery = database.prepare('select count(*) from sqlite_schema')
  const keys = keyStatements()
  const { table, batch, planImport, counts, changed, forTransactions } = resourceTables(registry, {
    dialect: sqliteDialect,
    source: (resource) =>
      resource.existing ? unmanagedSource(resource, readCatalogue(database, resource.table)) : managedSource(resource),
    shown: (resource, fields) => ({ json: rowJson({ ...resource, fields }), size: textSize({ ...resource, fields }) }),
    runner: (resource) => runnerFor(connection, resource),
    writeOptions: (resource) => (resource.existing ? {} : { keys }),
    checks: tableChecks(database),
    cache,
    ...options,
  })
  const transactions = createTransactions(writing, forTransactions, options.readTimeoutMs, commits.committed)
  /** For commands: runs long work in one transaction of a separate connection, which is undone if it returns something. */
  const inTransaction = async <T>(work: (separate: Database) => Promise<T | undefined>): Promise<T | undefined> => {
    const separate = connect(path, { timeout: startTimeout, fileMustExist: true }, file)
    try {
      separate.exec('begin immediate')
      const failure = await work(separate)
      if (failure === undefined) separate.exec('commit')
      return failure
    } finally {
      // Which undoes what was not committed.
      separate.close()
      commits.committed()
    }
  }
  const own: OwnRunner = {
    read: async (statement, values) =>
      read({ sql: statement.sql, values: bindLists({ statement, values }), search: '' }, Number.MAX_VALUE) as Cell[][],
    transaction: (work) => transactions.own(work, options.readTimeoutMs) as never,
  }
  return {
    ...createChanges({
      registry,
      dialect: sqliteDialect,
      own,
      log: logReader,
      table,
      changesDays: options.changesDays,
    }),
    history: createHistory({ registry, dialect: sqliteDialect, own, table }),
    eraseHistory: createEraser({ registry, dialect: sqliteDialect, own, table }),
    versions: async (resources) => {
      const states = new Map((await own.read(tableStates, {})).map(([of, state]) => [of, String(state)]))
      return new Map(resources.map((resource) => [resource, states.get(resource.table) ?? '']))
    },
    webhooks: webhookStore(sqliteDialect, own),
    table,
    batch,
    transaction: transactions.run,
    counts,
    rows: async (copied, after, count) => readRows(database, copied, after, count),
    fill: (batches, by) =>
      inTransaction(async (separate) => {
        const ask = askOn(separate)
        const { caller } = callerPlan(registry, callerIs, by)
        separate.pragma('defer_foreign_keys = ON')
        if (caller) ask(caller.set)
        for await (const { resource, rows } of batches) insertRows(separate, resource, rows)
        if (caller?.clear) ask(caller.clear)
        return undefined
      }),
    importAll: (resource, created, parts) =>
      inTransaction((separate) => {
        const make = async (rows: readonly ImportedRow[]) =>
          runAtOnce(
            partSteps(await planImport(resource, { rows, mode: 'store', created, by: service.name })),
            askOn(separate),
          )
        return importParts(parts(), make, refusedBy)
      }),
    stats: () => ({ cache: cache.stats(), pools: [], threadRestarts }),
    async ping() {
      refuseMoved(file)
      anyQuery.get()
      return { isReadOnly: isReadOnly(path), changedTables: await changed() }
    },
    async close() {
      await transactions.close()
      await Promise.all([writes.close(), ...reading.map((executor) => executor.close())])
      database.close()
      temporary?.remove()
    },
  }
}
