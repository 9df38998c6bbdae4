/** Idempotency keys on SQLite: their table, and the statements that the writer runs. */
import type { Database } from 'better-sqlite3'
import type { Knex } from 'knex'
import { compile, parameter } from '../bindings.js'
import { keyQueries, keysTable } from '../keys.js'

/** Creates the table of keys. */
export const ensureKeys = (database: Database): void => {
  database.exec(
    `create table if not exists ${keysTable} (key text primary key, digest text not null, id integer not null, body blob not null, at integer not null);
     create index if not exists ${keysTable}_at on ${keysTable} (at)`,
  )
}

const now = `cast(unixepoch('subsec') * 1000 as integer)`

/** The SQL that finds a key, stores one (key, digest, id, body), and deletes those that have expired. */
export const keySql = (knex: Knex) => {
  const { find, expired, store } = keyQueries(knex, now)
  const values = ['key', 'digest', 'id', 'body'].map((name) => parameter(knex, name))
  return {
    find: compile(find).sql,
    store: compile(store(knex.select(values))).sql,
    prune: compile(expired.delete()).sql,
  }
}

export type KeySql = ReturnType<typeof keySql>
