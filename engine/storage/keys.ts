/** Idempotency keys, the same for every database: stored with what the write made, and valid for 24 hours. */
import type { Knex } from 'knex'
import { parameter } from './bindings.js'
import type { CopiedTable } from './storage.js'

export const keysTable = 'registry_keys'

export const copiedKeys: CopiedTable = {
  path: 'idempotency keys',
  table: keysTable,
  fields: [
    { name: 'key', kind: 'text' },
    { name: 'digest', kind: 'text' },
    // Earlier versions stored the id of the row here, which the body has too.
    { name: 'id', kind: 'integer' },
    { name: 'body', kind: 'body' },
    { name: 'at', kind: 'integer' },
  ],
  cursor: 'key',
}

/** The table, given the types of its integers and of the JSON of a row. */
export const ownKeys = (integer: string, json: string) => ({
  create: [
    `create table ${keysTable} (key text primary key, digest text not null, id ${integer} not null, body ${json} not null, at ${integer} not null)`,
    `create index ${keysTable}_at on ${keysTable} (at)`,
  ],
  columns: copiedKeys.fields.map(({ name }) => name),
})

/** How long a key is valid, in milliseconds. */
const keyLifetime = 24 * 60 * 60 * 1000

/** The queries of the table of keys; `now` is the database's clock in milliseconds, so that all processes share it. */
export const keyQueries = (knex: Knex, now: string) => {
  const expiry = knex.raw(`${now} - ${keyLifetime}`)
  return {
    /** The create that was stored with the parameter `$key`, unless the key has expired. */
    find: knex(keysTable).select('digest', 'body').where('key', parameter(knex, '$key')).where('at', '>', expiry),
    expired: knex(keysTable).where('at', '<=', expiry),
    /** Stores the keys `key`, `digest` and `body` that a query selects; expired ones must have been deleted. */
    store: (source: Knex.QueryBuilder) =>
      knex(knex.raw('?? (??)', [keysTable, ['key', 'digest', 'body', 'id', 'at']])).insert(
        source.select(knex.raw('0'), knex.raw(now)),
      ),
  }
}
