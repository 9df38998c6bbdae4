/** Idempotency keys on SQLite: the statements that the writer runs. */
import { compile, parameter } from '../bindings.js'
import { keyQueries } from '../keys.js'
import { knex } from './knex.js'

const now = `cast(unixepoch('subsec') * 1000 as integer)`

/** The SQL that finds a key, stores one (key, digest, id, body), and deletes those that have expired. */
export const keySql = () => {
  const { find, expired, store } = keyQueries(knex, now)
  const values = ['key', 'digest', 'id', 'body'].map((name) => parameter(knex, name))
  return {
    find: compile(find).sql,
    // Replaces a key that has expired.
    store: compile(store(knex.select(values)).onConflict('key').merge(['digest', 'id', 'body', 'at'])).sql,
    prune: compile(expired.delete()).sql,
  }
}

export type KeySql = ReturnType<typeof keySql>
