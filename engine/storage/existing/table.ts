/** The table of a resource that has nothing but its columns: totals are counted, and tags are digests of the body. */
import { randomUUID } from 'node:crypto'
import type { ListQuery, Position } from '../../descriptor/listQuery.js'
import type { Resource, RowValues, Value } from '../../descriptor/registry.js'
import { parseConflicts } from '../conflicts.js'
import { toCsv } from '../csv.js'
import { valueCountsFrom } from '../dialect.js'
import { largePageBytes, pageHead, partBytes, turn } from '../parts.js'
import { emptyPage, maxInteger, type Plan, planRead } from '../plan.js'
import { findReferencing, runInTurn } from '../referencing.js'
import { boundValue, findField, readValue } from '../schema.js'
import type { Caller, Table } from '../storage.js'
import { elapsed, type Trace } from '../trace.js'
import { rememberUpdates, rowTag } from '../write.js'
import type { Cell, PlainRunner, PlainSql } from './dialect.js'
import { maxRows, type PlainStatements } from './statements.js'

/** Some rows, and the position of the last; `isMore` if its limit of bytes ended them. */
interface Rows {
  readonly json: readonly string[]
  readonly last: Position | undefined
  readonly isMore: boolean
}

const lines = (json: readonly string[]): Buffer => Buffer.from(json.map((row) => `${row}\n`).join(''))

export const plainTable = (
  resource: Resource,
  sql: PlainSql,
  statements: PlainStatements,
  runner: PlainRunner,
  trace?: Trace,
): Table => {
  const { path } = resource
  const names = resource.fields.map(({ name }) => name)
  const column = (name: string) => sql.columnOf(findField(resource, name).kind)
  const bound = (name: string, value: unknown) => boundValue(column(name), value)
  const update = rememberUpdates(statements.update)

  const boundValues = ({ where, search }: Plan) => ({
    ...Object.fromEntries(
      where.map(({ field, value }, n) => [
        `condition${n}`,
        typeof value === 'object' ? sql.bindList(value.map((one) => bound(field, one))) : bound(field, value),
      ]),
    ),
    ...(search && sql.searchValues(search)),
  })
  const afterValues = ({ order: { field } }: Plan, after: Position | undefined) =>
    after && { afterId: after.id, afterValue: after.value === null ? null : bound(field, after.value) }
  const rowsFrom = ({ order: { field } }: Plan, found: readonly Cell[][]): Rows => {
    const shown = found.findIndex(([, , json]) => json === null)
    const rows = shown === -1 ? found : found.slice(0, shown)
    const [id, key = null] = rows.at(-1) ?? []
    const value = field === 'id' || key === null ? null : readValue(column(field), key)
    return {
      json: rows.map(([, , json]) => String(json)),
      last: id === undefined ? undefined : { id: BigInt(String(id)), value },
      isMore: shown !== -1,
    }
  }
  /** The next rows after a position, at least one if there is any. */
  const readNext = async (plan: Plan, after: Position | undefined, limit: number, caller?: Caller): Promise<Rows> => {
    const values = { ...boundValues(plan), ...afterValues(plan, after), limit, skip: 0, bytes: partBytes }
    return rowsFrom(plan, await runner.read(statements.next(plan, after), values, { caller, plan }))
  }
  /** Up to `limit` rows after a position, in parts. */
  async function* inParts(plan: Plan, after: Position | undefined, limit: number, caller?: Caller) {
    let [last, left] = [after, limit]
    while (left > 0) {
      await turn()
      const size = Math.min(left, maxRows)
      const rows = await readNext(plan, last, size, caller)
      if (rows.json.length > 0) yield rows.json
      if (!rows.isMore && rows.json.length < size) return
      last = rows.last
      left -= rows.json.length
    }
  }
  /** A page that is too large to be read at once: what was read of it, and then the rest. */
  async function* largePage(plan: Plan, first: Rows, limit: number, tail: string, caller?: Caller) {
    yield Buffer.from(pageHead + first.json.join(','))
    for await (const json of inParts(plan, first.last, limit - first.json.length, caller))
      yield Buffer.from(`,${json.join(',')}`)
    yield Buffer.from(tail)
  }
  const page = async (plan: Plan, { limit, offset, after }: ListQuery['page'], caller?: Caller) => {
    const skip = after ? 0n : offset > maxInteger ? maxInteger : offset
    // One more row shows whether there is another page.
    const values = { ...boundValues(plan), ...afterValues(plan, after), limit: limit + 1, skip, bytes: largePageBytes }
    const found = await runner.read(statements.page(plan, after), values, { caller, plan })
    const tail = `],"meta":{"total":${found[0]?.[0]},"limit":${limit},"offset":${offset}}}`
    const rows = found.filter(([, id]) => id !== null).map(([, ...row]) => row)
    const first = rowsFrom(plan, rows.slice(0, limit))
    const next = rows.length > limit ? toPosition(plan, rows[limit - 1] as Cell[]) : undefined
    if (first.isMore) return { body: largePage(plan, first, Math.min(limit, rows.length), tail, caller), next }
    const body = Buffer.from(`${pageHead}${first.json.join(',')}${tail}`)
    return { tag: rowTag(body), body, next }
  }
  const toPosition = (plan: Plan, [id = null, key = null]: readonly Cell[]): Position | undefined =>
    rowsFrom(plan, [[id, key, '']]).last

  return {
    // Nothing tells whether the table has changed, so nothing that was read before is used again.
    tag: async () => randomUUID(),
    async list(query, caller) {
      const plan = planRead(query, sql.isIndexed)
      if (plan.strategy === 'nothing') {
        const body = emptyPage(query.page)
        return { tag: rowTag(body), body }
      }
      const started = trace ? performance.now() : 0
      const found = await page(plan, query.page, caller)
      trace?.('list', { resource: path, cache: 'none', plan: plan.strategy, ms: elapsed(started) })
      return found
    },
    async *stream(selection, caller, format) {
      const plan = planRead(selection, sql.isIndexed)
      if (plan.strategy === 'nothing') return
      for await (const json of inParts(plan, undefined, Number.MAX_SAFE_INTEGER, caller))
        yield format === 'csv' ? toCsv(names, lines(json)) : lines(json)
    },
    async valueCounts(selection, fields, size, caller) {
      const plan = planRead(selection, sql.isIndexed)
      if (plan.strategy === 'nothing' || fields.length === 0) return { rows: 0, values: new Map() }
      const statement = statements.valueCounts(plan, fields, size)
      const given = { ...boundValues(plan), permille: Math.ceil(size.share * 1000) }
      return valueCountsFrom(await runner.read(statement, given, { caller, plan }), fields)
    },
    async excerpts(ids, fields) {
      const rows = await runner.read(statements.excerpts(fields), { ids: sql.bindList(ids) })
      return rows.map(([id, ...values]): RowValues => {
        const read = fields.map((name, n) => [name, readValue(column(name), values[n]) as Value])
        return { ...Object.fromEntries(read), id: Number(id) }
      })
    },
    async get(id, caller) {
      const [row] = await runner.read(statements.get, { id }, { caller })
      if (!row) return undefined
      const body = Buffer.from(String(row[0]))
      return { tag: rowTag(body), body }
    },
    hasKey: async (key) => (await runner.hasKey?.(key)) === true,
    async conflicts(values, id) {
      const { conflicts } = id === undefined ? statements : update(Object.keys(values), [])
      const given = Object.entries(values).map(([name, value]) => [name, bound(name, value)])
      const [found] = await runner.read(conflicts, { ...Object.fromEntries(given), id })
      return parseConflicts(String(found?.[0] ?? ''))
    },
    async referencing(id) {
      const walk = findReferencing(statements.referrers(), path, id)
      return runInTurn(walk, ({ statement, values }) => runner.read(statement, values))
    },
    async write(write) {
      const started = trace ? performance.now() : 0
      const outcome = await runner.write(write)
      trace?.(write.kind, { resource: path, ms: elapsed(started) })
      return outcome
    },
  }
}
