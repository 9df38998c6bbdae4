/** PostgreSQL: a server that several processes share, reached through a connection pool. */
import { service } from '../../descriptor/access.js'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { createChanges } from '../changes.js'
import type { Cell, OwnRunner, Source } from '../dialect.js'
import { createEraser } from '../eraseHistory.js'
import { Unavailable } from '../failures.js'
import { createHistory } from '../history.js'
import { callerPlan } from '../log.js'
import { importParts, partSteps } from '../makeWrite.js'
import type { StorageOptions } from '../options.js'
import { ResponseCache } from '../responseCache.js'
import { literal } from '../schema.js'
import { parameter, sql } from '../sql.js'
import type { Storage } from '../storage.js'
import { resourceTables } from '../tables.js'
import { textSize } from '../unmanaged.js'
import { runInTurn } from '../walk.js'
import { webhookStore } from '../webhooks.js'
import type { ImportedRow } from '../writeData.js'
import { withTimeout } from './attempts.js'
import { columnType, isCompatible, kindOfType } from './catalogue.js'
import { connectionsTo } from './connections.js'
import { managedSize, managedSource, postgresDialect, unmanagedSource } from './dialect.js'
import { callerIs, logReader } from './log.js'
import { type Prepared, prepared } from './prepared.js'
import { openReplicas } from './replicas.js'
import { hasRight, writeRights } from './rights.js'
import { deferReferences, insertRows, readRows } from './rows.js'
import { managedRunner, unmanagedRunner } from './runner.js'
import { hasSequence, rowJson } from './schema.js'
import { retryUntilReachable } from './server.js'
import { setUp, withDatabaseInErrors } from './setUp.js'
import { createTransactions } from './transactions.js'
import { advanceSequence, createStatements, inSequence, keyStatements, refusedBy } from './writes.js'

/** Whether the coordinator of a Citus cluster reaches all servers that have rows. */
const reachesWorkers = `(select coalesce(bool_and(citus_check_connection_to_node(nodename, nodeport)), true) from pg_dist_node as node
  where isactive and noderole = 'primary' and exists (select from pg_dist_placement where groupid = node.groupid))`

/** The versions of tables, in their order. */
const tableStates = prepared(
  sql`select (registry_state(name)).state from unnest(${parameter('names', 'text[]')}) with ordinality as _n (name, place) order by place`,
)

/** Whether transactions are read-only, whether this role has the right to any write of the registry, and whether all rows can be read. */
const pingStatement = (registry: Registry, isDistributed: boolean): Prepared => {
  const rights = writeRights(registry).map(hasRight)
  const mayWrite = rights.length === 0 ? 'true' : `coalesce(${rights.join(' or ')}, true)`
  const hasRows = isDistributed ? reachesWorkers : 'true'
  return prepared(`select current_setting('transaction_read_only'), ${mayWrite}, ${hasRows}`)
}

const columnsStatement = (registry: Registry): Prepared => {
  const names = registry.map(({ table }) => literal(table)).join()
  return prepared(
    `select name, attname, ${columnType('atttypmod')} from unnest(array[${names}]::text[]) as name
      join pg_attribute on attrelid = to_regclass(quote_ident(name)) and attnum > 0 and not attisdropped`,
  )
}

/** Opens the database, creates what is missing, and loads the demo data into an empty one if requested. */
export const openPostgres = async (registry: Registry, url: string, options: StorageOptions): Promise<Storage> => {
  const { server, searchIndex, lockable, unmanagedTables } = await withDatabaseInErrors(url, () =>
    retryUntilReachable(url, options, async (reached) => ({
      server: reached,
      ...(await setUp(reached, registry, options)),
    })),
  )
  const isPlain = (resource: Resource) => unmanagedTables.has(resource)
  const connections = connectionsTo(server, options.pool, registry.every(isPlain))
  const [columns, ping] = [columnsStatement(registry), pingStatement(registry, server.isDistributed)]
  const ask = (query: Prepared) => withTimeout(options.pool.waitMs, connections.check(query))
  const cache = new ResponseCache(options.cacheBytes)
  const reads = await openReplicas(connections, options)
  const dialect = postgresDialect(searchIndex)
  const source = (resource: Resource): Source => ({
    ...(isPlain(resource)
      ? unmanagedSource(resource, unmanagedTables.get(resource), searchIndex.isAvailable, server.isDistributed)
      : managedSource(searchIndex, resource)),
    ...(lockable.has(resource) && { isLockable: true }),
  })
  const sources = new Map(registry.map((resource) => [resource.path, source(resource)]))
  const sourceAt = (path: string) => sources.get(path) as Source
  const { prune, ...keys } = keyStatements
  const { table, batch, planImport, counts, changed, forTransactions } = resourceTables(registry, {
    dialect,
    source: ({ path }) => sourceAt(path),
    shown: (resource, fields) => ({
      json: rowJson({ ...resource, fields }),
      size: (isPlain(resource) ? textSize : managedSize)({ ...resource, fields }),
    }),
    runner: (resource) =>
      isPlain(resource)
        ? unmanagedRunner(connections, reads, resource, options.pool)
        : managedRunner(connections, reads, resource, options.pool),
    writeOptions: (resource) =>
      isPlain(resource)
        ? { beforeDelete: [inSequence, deferReferences], ...(!resource.existing && { keys: { ...keys, prune } }) }
        : {
            keys,
            isDeleteLocked: true,
            // A row that is deleted by a later cascade does not prevent the delete.
            beforeDelete: [deferReferences],
            create: createStatements(dialect, registry, sourceAt(resource.path), sourceAt),
          },
    locksReads: (resource) => server.isDistributed || isPlain(resource),
    checks: {
      columns: async () => (await ask(columns)) as never,
      isCompatible: (type, spec, existing) =>
        existing ? isCompatible(type, spec) : kindOfType(type)?.kind === spec.kind,
    },
    cache,
    ...options,
  })
  const own: OwnRunner = {
    read: async (statement, values) => (await connections.read(statement, values)) as Cell[][],
    transaction: (work) =>
      connections.transaction((run) => work(async (statement, values) => (await run(statement, values)) as Cell[][])),
  }
  return {
    ...createChanges({ registry, dialect, own, log: logReader, table, changesDays: options.changesDays }),
    history: createHistory({ registry, dialect, own, table }),
    eraseHistory: createEraser({ registry, dialect, own, table }),
    async versions(resources) {
      const states = await connections.check(tableStates, { names: resources.map((resource) => resource.table) })
      return new Map(resources.map((resource, n) => [resource, String(states[n]?.[0])]))
    },
    webhooks: webhookStore(dialect, own),
    table,
    batch,
    transaction: createTransactions(connections, forTransactions, {
      registry,
      isPlain,
      isDistributed: server.isDistributed,
      waitMs: options.pool.waitMs,
    }),
    counts,
    rows: (copied, after, count) => readRows(connections.read, copied, after, count),
    fill: (batches, by) =>
      connections.transaction(async (ask) => {
        const { caller } = callerPlan(registry, callerIs, by)
        if (caller) await ask(caller.set.statement, caller.set.values)
        await ask(deferReferences)
        for await (const { resource, rows } of batches) {
          await insertRows(ask, resource, rows)
          if (isPlain(resource as Resource) && hasSequence(resource as Resource))
            await ask(advanceSequence(resource.table))
        }
      }),
    importAll: (resource, created, parts) =>
      connections.transaction(
        (ask) => {
          const make = async (rows: readonly ImportedRow[]) => {
            const plan = await planImport(resource, { rows, mode: 'store', created, by: service.name })
            return runInTurn(partSteps(plan), ({ statement, values }) => ask(statement, values))
          }
          return importParts(parts(), make, (error) => refusedBy(error, resource.table))
        },
        resource.table,
        undefined,
        (failure) => failure === undefined,
      ),
    stats: () => ({
      cache: cache.stats(),
      pools: [...connections.stats(), ...reads.stats()],
      reads: reads.reads(),
      replicas: reads.states(),
      threadRestarts: 0,
    }),
    async ping() {
      const [row] = await ask(ping)
      if (row?.[2] === 'f') throw new Unavailable('a server of the cluster that has rows does not respond')
      return { isReadOnly: row?.[0] === 'on', mayWrite: row?.[1] === 't', changedTables: await changed() }
    },
    async close() {
      await Promise.all([connections.close(), reads.close()])
    },
  }
}
