/** SQLite: one file, a connection for this thread, and threads for the writes and for what takes long to read. */
import type { Database } from 'better-sqlite3'
import createKnex from 'knex'
import { batchPerTick } from '../batchPerTick.js'
import type { Registry, RowValues } from '../descriptor/registry.js'
import type { StorageOptions } from './options.js'
import { perResource } from './perResource.js'
import { ReadyAnswers } from './ready.js'
import { type Changes, changesOf } from './sqlite/changes.js'
import { connect } from './sqlite/connection.js'
import { refuseUnsound } from './sqlite/file.js'
import { followFile } from './sqlite/follow.js'
import { statesTable } from './sqlite/schema.js'
import { insertRows, loadDemo, setUp } from './sqlite/setUp.js'
import { type Shared, sqliteTable } from './sqlite/table.js'
import { Thread } from './sqlite/thread.js'
import { type Write, type Written, writer } from './sqlite/writes.js'
import { type Storage, StorageError } from './storage.js'
import { quoted } from './tables.js'

/** Writes SQL and never connects: the statements run on better-sqlite3 itself. */
const knex = createKnex({ client: 'better-sqlite3', useNullAsDefault: true })

const inMemory = ':memory:'

/** How long a start, and how long a read, waits for a lock that another process holds, in milliseconds. */
const patience = 5_000
const impatience = 50

/** When the writing thread is started where no write has done it, in milliseconds. */
const soon = 1_000

/** Opens the file and brings it to what the registry asks for. */
const prepared = (registry: Registry, path: string, { demo, progress }: StorageOptions): Database => {
  let database: Database | undefined
  try {
    if (path !== inMemory) refuseUnsound(path, registry)
    database = connect(path, patience)
    setUp(database, knex, registry, progress)
    if (demo) loadDemo(database, knex, registry)
    // From here on waiting for another process holds up every request of this one.
    database.pragma(`busy_timeout = ${impatience}`)
    return database
  } catch (error) {
    database?.close()
    throw new StorageError(`The database ${path} cannot be used: ${(error as Error).message}`)
  }
}

/** A write on its way to the thread, and who is to be told how it ended. */
interface Waiting {
  readonly write: Write
  readonly resolve: (written: Written) => void
  readonly reject: (error: unknown) => void
}

interface Work extends Pick<Shared, 'askAside' | 'write'> {
  close(): Promise<unknown>
}

/** The work of a file's threads: one writes, one answers by indexes, one scans. */
const inThreads = (path: string, changes: Changes): Work => {
  const writing = new Thread('writingThread', path)
  // Started even if nothing is written, for it also tidies up; but not in the way of a start, which has enough to do.
  const starting = setTimeout(() => void writing.ask([]).catch(() => {}), soon)
  starting.unref()
  const reading = { indexed: new Thread('readingThread', path), scans: new Thread('readingThread', path) }
  const send = batchPerTick<Waiting>(async (writes) => {
    try {
      const written = await writing.ask<Written[]>(writes.map(({ write }) => write))
      changes.committed()
      for (const [index, { resolve }] of writes.entries()) resolve(written[index] as Written)
    } catch (error) {
      for (const { reject } of writes) reject(error)
    }
  })
  return {
    askAside: (which, asked) => reading[which].ask(asked),
    write: (write) => new Promise((resolve, reject) => send({ write, resolve, reject })),
    close() {
      clearTimeout(starting)
      return Promise.all([writing.close(), reading.indexed.close(), reading.scans.close()])
    },
  }
}

/** The same for a database in memory, which only its own connection can see. */
const inPlace = (database: Database, changes: Changes): Work => {
  const run = writer(database)
  return {
    askAside: undefined,
    async write(write) {
      const [written] = run([write])
      changes.committed()
      return written as Written
    },
    close: async () => {},
  }
}

/** The storage in one file, for as long as that is the file. */
const openFile = (registry: Registry, path: string, options: StorageOptions): Storage => {
  const database = prepared(registry, path, options)
  const changes = changesOf(database)
  const work = path === inMemory ? inPlace(database, changes) : inThreads(path, changes)
  const shared = { database, knex, ready: new ReadyAnswers(options.readyBytes), changes: changes.seen, ...work }
  const counted = database.prepare(`select name, rows from ${statesTable}`).raw()
  const ask = database.prepare('select count(*) from sqlite_schema')
  return {
    table: perResource(registry, (resource) => sqliteTable(registry, resource, shared)),
    async counts() {
      const rows = new Map(counted.all() as [string, number][])
      return new Map(registry.map((resource) => [resource, rows.get(resource.table) ?? 0]))
    },
    async load(resource, rows) {
      database.pragma(`busy_timeout = ${patience}`)
      database.transaction(() => insertRows(database, knex, resource, rows)).immediate()
      database.pragma(`busy_timeout = ${impatience}`)
      changes.committed()
    },
    async rows({ table, fields }, after, count) {
      const columns = fields.map(({ name }) => quoted(name)).join(', ')
      const some = database.prepare(`select ${columns} from ${quoted(table)} where id > ? order by id limit ?`)
      return some.all(after, count) as RowValues[]
    },
    async fill(batches) {
      database.exec('begin immediate')
      try {
        database.pragma('defer_foreign_keys = ON')
        for await (const { resource, rows } of batches) insertRows(database, knex, resource, rows)
        database.exec('commit')
      } finally {
        if (database.inTransaction) database.exec('rollback')
      }
      changes.committed()
    },
    async ping() {
      ask.get()
    },
    async close() {
      await work.close()
      database.close()
    },
  }
}

/** Opens the database, makes what is missing, and loads the demo data where that is wanted and there are no rows. */
export const openSqlite = async (registry: Registry, url: string, options: StorageOptions): Promise<Storage> => {
  const path = url.slice('sqlite:'.length)
  if (path === inMemory) return openFile(registry, path, options)
  // A file that takes the place of another is shown as it is, even where it is empty.
  return followFile(path, (again) => openFile(registry, path, { ...options, demo: options.demo && !again }))
}
