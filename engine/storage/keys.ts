/** Idempotency keys, the same for every database: stored with what the write made, and valid for 24 hours. */
import { quoted } from './schema.js'
import { type Fragment, parameter, type Sql, sql } from './sql.js'
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
export const keyQueries = (now: string) => {
  const expiry = `${now} - ${keyLifetime}`
  const [table, key, at] = [keysTable, 'key', 'at'].map(quoted) as [string, string, string]
  return {
    /** The create that was stored with the parameter `$key`, unless the key has expired. */
    find: sql`select digest, body from ${table} where ${key} = ${parameter('$key')} and ${at} > ${expiry}`,
    /** What follows `select …` and `delete` for the keys that have expired. */
    expired: `from ${table} where ${at} <= ${expiry}`,
    /** Stores the keys `key`, `digest` and `body`, which are selected from somewhere; expired ones must have been deleted. */
    store: (selected: Fragment, from: Fragment = ''): Sql =>
      sql`insert into ${table} (key, digest, body, id, at) select ${selected}, 0, ${now}${from}`,
  }
}
