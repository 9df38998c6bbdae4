/** Idempotency keys, the same for every database: stored with what the write made, and valid for 24 hours. */
import type { Knex } from 'knex'
import { parameter } from './bindings.js'
import { type SchemaDialect, sqlOf } from './schema.js'
import type { CopiedTable } from './storage.js'

export const keysTable = 'registry_keys'

export const copiedKeys: CopiedTable = {
  path: 'idempotency keys',
  table: keysTable,
  fields: [
    { name: 'key', kind: 'text' },
    { name: 'digest', kind: 'text' },
    { name: 'id', kind: 'integer' },
    { name: 'body', kind: 'json' },
    { name: 'at', kind: 'integer' },
  ],
  cursor: 'key',
}

const createKeysTable = ({ knex, columnOf, jsonType }: SchemaDialect): string[] =>
  sqlOf(
    knex.schema.createTable(keysTable, (table) => {
      table.text('key').primary()
      table.text('digest').notNullable()
      table.specificType('id', columnOf('integer').type).notNullable()
      table.specificType('body', jsonType).notNullable()
      table.specificType('at', columnOf('integer').type).notNullable()
      table.index(['at'], `${keysTable}_at`)
    }),
  )

export const ownKeys = (dialect: SchemaDialect) => ({
  create: createKeysTable(dialect),
  columns: copiedKeys.fields.map(({ name }) => name),
})

/** How long a key is valid, in milliseconds. */
const keyLifetime = 24 * 60 * 60 * 1000

/** The queries of the table of keys; `now` is the database's clock in milliseconds, so that all processes share it. */
export const keyQueries = (knex: Knex, now: string) => {
  const expiry = knex.raw(`${now} - ${keyLifetime}`)
  return {
    /** The create that was stored with the parameter `idempotencyKey`, unless the key has expired. */
    find: knex(keysTable)
      .select('digest', 'id', 'body')
      .where('key', parameter(knex, 'idempotencyKey'))
      .where('at', '>', expiry),
    expired: knex(keysTable).where('at', '<=', expiry),
    /** Stores the keys `key`, `digest`, `id` and `body` that a query selects; expired ones must have been deleted. */
    store: (source: Knex.QueryBuilder) =>
      knex(knex.raw('?? (??)', [keysTable, ['key', 'digest', 'id', 'body', 'at']])).insert(
        source.select(knex.raw(now)),
      ),
  }
}
