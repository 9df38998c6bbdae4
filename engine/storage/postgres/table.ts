/** The rows of one resource on PostgreSQL: every query is one prepared statement and one round trip. */
import { isById, type Position } from '../../descriptor/listQuery.js'
import type { Registry, Resource, Value } from '../../descriptor/registry.js'
import { toCsv } from '../csv.js'
import { type TableDialect, valueCountsFrom } from '../dialect.js'
import type { PoolOptions } from '../options.js'
import { maxIds } from '../parts.js'
import { maxInteger, type Plan } from '../plan.js'
import type { WriteSql } from '../referencing.js'
import { findField, readValue, type Sources } from '../schema.js'
import { shared } from './attempts.js'
import { compactor } from './changes.js'
import type { Connections } from './connections.js'
import type { Prepared } from './prepared.js'
import type { Reads } from './replicas.js'
import type { Row } from './run.js'
import { columnOf, rowJson } from './schema.js'
import { indexedFrom, searchValues } from './search.js'
import { conditionValues, readStatements, timing } from './statements.js'
import type { SearchIndex } from './trigrams.js'
import { tableWriter, writeStatements } from './writes.js'

const idsFrom = (text: string): BigInt64Array => BigInt64Array.from(text.split(','), BigInt)

export const postgresTable = (
  registry: Registry,
  resource: Resource,
  connections: Connections,
  reads: Reads,
  searchIndex: SearchIndex,
  { waitMs, statementMs }: PoolOptions,
  existing: { sources: Sources; writeSql: WriteSql },
): TableDialect => {
  const { table } = resource
  const names = resource.fields.map(({ name }) => name)
  const statements = readStatements(resource)
  const own = writeStatements(registry, resource, existing)
  const { write, ...checks } = tableWriter(connections, resource, statementMs, own)
  const log = compactor(connections, resource)

  /** The result of a statement that returns the version, whether the change log has become long, and more. */
  const parse = ([row]: readonly Row[]) => {
    const [version, isLong, body = null, ids = null, tail = null, lastId = null, lastKey = null] = row as Row
    if (isLong === 't') log.compact()
    return { version: String(version), body, ids, tail, lastId, lastKey }
  }
  const version = shared(waitMs, async () => parse(await connections.check(statements.version)).version)
  type Purpose = Omit<Parameters<Connections['read']>[2] & object, 'table'>
  const ask = (statement: Prepared, values: Readonly<Record<string, unknown>>, purpose: Purpose = {}) =>
    reads.read(statement, values, { table, ...purpose })
  const read = async (...given: Parameters<typeof ask>) => parse(await ask(...given))
  const boundValues = (plan: Plan) => ({
    ...conditionValues(plan),
    ...(plan.search && searchValues(searchIndex, plan.search)),
  })
  const positionFrom = ({ order: { field } }: Plan, id: string | null | undefined, key: string | null | undefined) => {
    if (id === null || id === undefined) return undefined
    const value = field === 'id' ? null : readValue(columnOf(findField(resource, field).kind), key ?? null)
    return { id: BigInt(id), value }
  }
  const afterValues = (after: Position | undefined) => after && { afterId: after.id, afterValue: after.value }

  return {
    shape: rowJson(resource),
    version,
    isIndexed: (text) => indexedFrom(searchIndex, text) !== -1,
    async page(plan, { limit, offset, after }, caller) {
      const skipRows = offset > maxInteger ? maxInteger : offset
      const values = { ...boundValues(plan), ...afterValues(after), limit, offset, skipRows }
      const isAll = plan.strategy === 'all' && isById(plan.order)
      const statement = isAll && !after && skipRows > 0n ? statements.atOffset : statements.matching(plan, after)
      const bounds = isAll ? { limitMs: waitMs } : { timed: timing(plan) }
      const { version, body, ids, tail, lastId, lastKey } = await read(statement, values, { caller, ...bounds })
      const next = positionFrom(plan, lastId, lastKey)
      if (ids === null) return { version, body: Buffer.from(String(body)), next }
      return { ids: idsFrom(ids), tail: String(tail), next }
    },
    async ids(plan, after, caller) {
      const values = { ...boundValues(plan), ...afterValues(after), limit: maxIds }
      const rows = await ask(statements.ids(plan, after), values, { caller, timed: timing(plan) })
      const ids = BigInt64Array.from(rows, ([id]) => BigInt(String(id)))
      return {
        ids,
        last: rows.length === maxIds ? positionFrom(plan, ...(rows.at(-1) as [string, string | null])) : undefined,
      }
    },
    async part(ids, caller, format) {
      const [row] = await ask(statements.part, { ids: ids.join() }, { caller })
      const [rows, last] = row ?? []
      const json = Buffer.from(rows ?? '')
      return { rows: format === 'csv' ? toCsv(names, json) : json, last: last ? BigInt(last) : undefined }
    },
    async valueCounts(plan, fields, { share, maxValues }, caller) {
      const statement = statements.valueCounts(plan, fields, share < 1)
      const values = { ...boundValues(plan), percent: share * 100, most: maxValues }
      return valueCountsFrom(await ask(statement, values, { caller, timed: timing(plan) }), fields)
    },
    async excerpts(ids, fields) {
      const rows = await ask(statements.excerpts(fields), { ids: ids.join() })
      const columns = fields.map((name) => columnOf(findField(resource, name).kind))
      return rows.map(([id, ...texts]) => ({
        ...Object.fromEntries(columns.map((column, n) => [fields[n], readValue(column, texts[n] ?? null) as Value])),
        id: Number(id),
      }))
    },
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
