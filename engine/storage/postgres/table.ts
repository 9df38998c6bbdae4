/** The rows of one resource on PostgreSQL: every query is one prepared statement and one round trip. */
import type { Registry, Resource } from '../../descriptor/registry.js'
import type { TableDialect } from '../dialect.js'
import { largePageBody, type SizedRow } from '../largePage.js'
import type { PoolOptions } from '../options.js'
import type { Plan } from '../plan.js'
import { compactor } from './changes.js'
import type { Connections } from './connections.js'
import { furtherReads } from './furtherReads.js'
import type { Prepared } from './prepared.js'
import type { Row } from './run.js'
import { rowJson } from './schema.js'
import { indexedFrom, searchValues } from './search.js'
import { statementsOf, timedOf } from './statements.js'
import type { SearchIndex } from './trigrams.js'
import { within } from './within.js'
import { tableWriter } from './writes.js'

/**
 * Runs a query once at a time: all callers that arrive during a run share the next one. They wait for both runs together no longer
 * than `waitMs`.
 */
const shared = <T>(waitMs: number, ask: () => Promise<T>): (() => Promise<T>) => {
  let current: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  const run = (): Promise<T> => {
    next = undefined
    const asked = ask()
    current = asked.catch(() => {})
    return asked
  }
  return () => {
    next ??= within(waitMs, current.then(run))
    return next
  }
}

/** The rows of a large page, from a list such as `1:2000,2:4000`. */
const sizedRows = (sizes: string): SizedRow[] =>
  sizes.split(',').map((row) => {
    const [id = '', bytes] = row.split(':')
    return { id: BigInt(id), bytes: Number(bytes) }
  })

/** The rows of one resource. */
export const postgresTable = (
  registry: Registry,
  resource: Resource,
  connections: Connections,
  searchIndex: SearchIndex,
  { waitMs, statementMs }: PoolOptions,
): TableDialect => {
  const { table } = resource
  const statements = statementsOf(resource)
  const { write, ...checks } = tableWriter(connections, registry, resource, statementMs)
  const log = compactor(connections, resource)

  /** The result of a statement that returns the version, whether the change log has become long, and more. */
  const parse = ([row]: readonly Row[]) => {
    const [version, isLong, body = null, sizes = null, tail = null] = row as Row
    if (isLong === 't') log.compact()
    return { version: String(version), body, sizes, tail }
  }
  const read = async (
    statement: Prepared,
    values: Readonly<Record<string, unknown>>,
    purpose: Omit<Parameters<Connections['read']>[2] & object, 'table'>,
  ) => parse(await connections.read(statement, values, { table, ...purpose }))
  const readRows = async (ids: readonly bigint[]): Promise<Uint8Array> => {
    const [row] = await connections.read(statements.rows, { ids: ids.join() }, { table })
    return Buffer.from(row?.[0] ?? '')
  }
  const statementFor = (plan: Plan): Prepared => {
    if (plan.by !== 'all') return statements.matching(plan)
    return plan.skip === 0n ? statements.first : statements.further
  }

  return {
    shape: rowJson(resource),
    version: shared(waitMs, async () => parse(await connections.check(statements.version)).version),
    isIndexed: (text) => indexedFrom(searchIndex, text) !== -1,
    async page(plan, caller) {
      const { q, filters, limit, offset, skip } = plan
      const values = { ...filters, ...(q && searchValues(searchIndex, q)), limit, offset, skipRows: skip }
      const bounds = plan.by === 'all' ? { limitMs: waitMs } : { timed: timedOf(plan) }
      const { version, body, sizes, tail } = await read(statementFor(plan), values, { caller, ...bounds })
      if (sizes === null) return { version, body: Buffer.from(String(body)) }
      return { body: largePageBody({ rows: sizedRows(sizes), tail: String(tail) }, readRows) }
    },
    ...furtherReads(resource, connections, searchIndex),
    async row(id, caller) {
      const { version, body } = await read(statements.get, { id }, { caller, limitMs: waitMs })
      return body === null ? undefined : { version, body: Buffer.from(body) }
    },
    ...checks,
    async write(given) {
      const outcome = await write(given)
      log.onWrite()
      return outcome
    },
  }
}
