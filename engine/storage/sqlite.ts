/** SQLite: one file, opened for durability, with a connection for this thread and lanes for what takes long. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import createKnex from 'knex'
import type { Registry } from '../descriptor/registry.js'
import { changesOf } from './changes.js'
import { sharedCommits } from './commits.js'
import { Lanes } from './lanes.js'
import { ReadyAnswers } from './ready.js'
import { insertRows, loadDemo, type Progress, setUp } from './sqliteSetUp.js'
import { sqliteTable } from './sqliteTable.js'
import { type Storage, StorageError } from './storage.js'

/** Writes SQL and never connects: the statements run on better-sqlite3 itself. */
const knex = createKnex({ client: 'better-sqlite3', useNullAsDefault: true })

const open = (path: string): Database.Database => {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true })
  const database = new Database(path, { timeout: 5_000 })
  database.pragma('journal_mode = WAL')
  // After the journal mode, and on every connection: better-sqlite3's build would settle for NORMAL in WAL.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('trusted_schema = OFF')
  return database
}

export interface SqliteOptions {
  /** A path, or `:memory:`. */
  readonly path: string
  readonly demo: boolean
  /** How many bytes of answers may be kept ready. */
  readonly readyBytes: number
  readonly progress: Progress
}

/** Opens the database, makes what is missing, and loads the demo data where that is wanted and there are no rows. */
export const openSqlite = (registry: Registry, { path, demo, readyBytes, progress }: SqliteOptions): Storage => {
  let database: Database.Database | undefined
  try {
    database = open(path)
    setUp(database, knex, registry, progress)
    if (demo) loadDemo(database, knex, registry)
  } catch (error) {
    database?.close()
    throw new StorageError(`The database ${path} cannot be used: ${(error as Error).message}`)
  }
  const opened = database
  const lanes = path === ':memory:' ? undefined : new Lanes(path)
  const changes = changesOf(database)
  const write = sharedCommits(database, changes.wrote)
  const shared = { database, knex, lanes, ready: new ReadyAnswers(readyBytes), write, changes: changes.seen }
  const tables = new Map(registry.map((resource) => [resource, sqliteTable(registry, resource, shared)]))
  const ask = database.prepare('select count(*) from sqlite_schema')
  return {
    table(resource) {
      const table = tables.get(resource)
      if (!table) throw new TypeError(`${resource.path} is not of this registry`)
      return table
    },
    load: (resource, rows) => write(() => insertRows(opened, knex, resource, rows)),
    async ping() {
      ask.get()
    },
    async close() {
      await lanes?.close()
      opened.close()
    },
  }
}
