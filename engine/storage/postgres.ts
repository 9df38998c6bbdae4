/** PostgreSQL: a server that several processes share, asked over a pool of connections. */
import createKnex from 'knex'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { StorageOptions } from './options.js'
import { perResource } from './perResource.js'
import { shownAddress } from './postgres/address.js'
import { connectionsTo, prepared } from './postgres/connections.js'
import { statesTable } from './postgres/functions.js'
import { deferReferences, insertRows, readRows } from './postgres/rows.js'
import { setUp } from './postgres/setUp.js'
import { postgresTable } from './postgres/table.js'
import { ResponseCache } from './responseCache.js'
import { type Storage, StorageError } from './storage.js'
import { resourceTable } from './table.js'

/** Writes SQL and never connects: the statements run on the driver itself. */
const knex = createKnex({ client: 'pg' })

const ping = prepared({ sql: 'select 1', slots: [] })
const counts = prepared({ sql: `select name, sum(rows) from ${statesTable} group by name`, slots: [] })

/** Opens the database, makes what is missing, and loads the demo data where that is wanted and there are no rows. */
export const openPostgres = async (registry: Registry, url: string, options: StorageOptions): Promise<Storage> => {
  if (!URL.canParse(url)) throw new StorageError('DATABASE_URL is no address such as postgres://USER@HOST:5432/NAME.')
  const searchIndex = await setUp(url, registry, options).catch((error: Error) => {
    throw new StorageError(`The database ${shownAddress(url)} cannot be used: ${error.message}`)
  })
  const connections = connectionsTo(url, options.pool)
  const shared = { connections, knex, searchIndex }
  const cache = new ResponseCache(options.cacheBytes)
  return {
    table: perResource(registry, (resource) =>
      resourceTable(resource, postgresTable(registry, resource, shared), cache),
    ),
    async counts() {
      const rows = new Map((await connections.read(counts)).map(([name, count]) => [name, Number(count)]))
      return new Map(registry.map((resource): [Resource, number] => [resource, rows.get(resource.table) ?? 0]))
    },
    load: (resource, rows) => connections.transaction((ask) => insertRows(ask, resource, rows)),
    rows: (resource, after, count) => readRows(connections.read, resource, after, count),
    fill: (batches) =>
      connections.transaction(async (ask) => {
        await ask(deferReferences)
        for await (const { resource, rows } of batches) await insertRows(ask, resource, rows)
      }),
    async ping() {
      await connections.read(ping)
    },
    close: connections.close,
  }
}
