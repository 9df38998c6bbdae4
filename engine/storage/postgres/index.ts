/** PostgreSQL: a server that several processes share, reached through a connection pool. */
import type { Registry, Resource } from '../../descriptor/registry.js'
import { existingOnPostgres } from '../existing/postgres.js'
import type { StorageOptions } from '../options.js'
import { ResponseCache } from '../responseCache.js'
import { literal } from '../schema.js'
import type { Storage } from '../storage.js'
import { resourceTables } from '../table.js'
import { type FitDialect, withFitCheck } from '../tableFit.js'
import { withTimeout } from './attempts.js'
import { columnType, kindsByType, serves } from './catalogue.js'
import { countAll } from './changes.js'
import { connectionsTo } from './connections.js'
import { isMismatch } from './errors.js'
import { knex, type Prepared, prepared } from './prepared.js'
import { openReplicas } from './replicas.js'
import { hasRight, writeRights } from './rights.js'
import { deferReferences, insertRows, readRows } from './rows.js'
import { retryUntilReachable } from './server.js'
import { setUp, withDatabaseInErrors } from './setUp.js'
import { postgresTable } from './table.js'
import { advanceSequence } from './writes.js'

/** Whether transactions are read-only, and whether this role has the right to any write of the registry. */
const pingStatement = (registry: Registry): Prepared => {
  const rights = writeRights(registry).map(hasRight)
  const mayWrite = rights.length === 0 ? 'true' : `coalesce(${rights.join(' or ')}, true)`
  return prepared(knex.raw(`select current_setting('transaction_read_only'), ${mayWrite}`))
}

const columnsStatement = (registry: Registry): Prepared => {
  const names = registry
    .map(({ table }) => literal(table))
    .join()
    .replaceAll('?', '\\?')
  return prepared(
    knex.raw(`select name, attname, ${columnType('null')} from unnest(array[${names}]::text[]) as name
      join pg_attribute on attrelid = to_regclass(quote_ident(name)) and attnum > 0 and not attisdropped`),
  )
}

/** Opens the database, creates what is missing, and loads the demo data into an empty one if requested. */
export const openPostgres = async (registry: Registry, url: string, options: StorageOptions): Promise<Storage> => {
  const { server, searchIndex, plainTables } = await withDatabaseInErrors(url, () =>
    retryUntilReachable(url, options, async (found) => ({
      server: found,
      ...(await setUp(found, registry, options)),
    })),
  )
  const managed = registry.filter((resource) => !plainTables.has(resource))
  const connections = connectionsTo(server, options.pool, managed.length === 0)
  const existing = existingOnPostgres(registry, plainTables, searchIndex.isThere)
  const [counts, columns, ping] = [countAll(managed), columnsStatement(registry), pingStatement(registry)]
  const ask = (query: Prepared) => withTimeout(options.pool.waitMs, connections.check(query))
  const cache = new ResponseCache(options.cacheBytes)
  const reads = await openReplicas(connections, options)
  const createDialect = (resource: Resource) =>
    postgresTable(registry, resource, connections, reads, searchIndex, options.pool, existing)
  const storage: Storage = {
    table: resourceTables(
      registry,
      createDialect,
      (resource) =>
        plainTables.has(resource)
          ? existing.table(resource, connections, reads.read, options.pool, options.trace)
          : undefined,
      cache,
      options.trace,
    ),
    async counts() {
      const counted = managed.length > 0 ? await connections.check(counts) : []
      const rows = new Map(counted.map(([name, count]) => [name, Number(count)]))
      const countRows = async (resource: Resource): Promise<[Resource, number]> => [
        resource,
        plainTables.has(resource) ? await existing.count(resource, reads.read) : (rows.get(resource.table) ?? 0),
      ]
      return new Map(await Promise.all(registry.map(countRows)))
    },
    rows: (table, after, count) => readRows(connections.read, table, after, count),
    fill: (batches) =>
      connections.transaction(async (ask) => {
        await ask(deferReferences)
        for await (const { resource, rows } of batches) {
          await insertRows(ask, resource, rows)
          if (plainTables.has(resource as Resource)) await ask(advanceSequence(resource.table))
        }
      }),
    stats: () => ({
      cache: cache.stats(),
      pools: [...connections.stats(), ...reads.stats()],
      reads: reads.reads(),
      replicas: reads.states(),
      threadRestarts: 0,
    }),
    async ping() {
      const [row] = await ask(ping)
      return { isReadOnly: row?.[0] === 'on', mayWrite: row?.[1] === 't', changedTables: [] }
    },
    async close() {
      await Promise.all([connections.close(), reads.close()])
    },
  }
  const fit: FitDialect = {
    isMismatch,
    columns: async () => (await ask(columns)) as never,
    fits: (type, kind, existing) => (existing ? serves(type, kind) : kindsByType[type] === kind),
  }
  return withFitCheck(storage, registry, fit, options.warn)
}
