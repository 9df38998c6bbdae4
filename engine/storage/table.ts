/** Reads and writes of one resource on any database: version → cache → plan → statement → body. */
import { createHash } from 'node:crypto'
import { boundValue, isWhole, jsonFieldNames, type ParameterValue, readValue } from '../descriptor/kinds/index.js'
import {
  type Condition,
  defaultListQuery,
  type ListQuery,
  type Position,
  type Selection,
  selectionKey,
} from '../descriptor/listQuery.js'
import { operatorOf } from '../descriptor/operators.js'
import { idField, type RowId, type RowValues, type Value } from '../descriptor/registry.js'
import { toCsv } from './csv.js'
import type { Cell, Dialect, Purpose, Runner, Source, TableState } from './dialect.js'
import {
  clampedInteger,
  type Driver,
  emptyPage,
  type ListPlan,
  listKey,
  maxProbed,
  pageHead,
  planRead,
  type ReadStatements,
} from './list.js'
import { largePageBody, maxIds, partBytes, type RowsPart, rowsInParts, toIds } from './parts.js'
import { type ResponseCache, singleFlight } from './responseCache.js'
import { findField } from './schema.js'
import { jsonList, rowTag, sql, toBuffer, type Values } from './sql.js'
import type { CachedBody, Caller, RowFormat, Table } from './storage.js'
import { summaryBody, summaryKey } from './summary.js'
import { elapsed, type Trace } from './trace.js'
import { runInTurn } from './walk.js'
import type { WritePlanner } from './write.js'
import { parseConflicts } from './writeData.js'

/** Rows before a page that are skipped in less time than it takes to ask another thread. */
const shortOffset = 500n

/** More rows than any table has; a server can still add the limit of a page to it. */
const maxSkipped = 2n ** 62n

/** The tags of rows, by their bodies: a cached row is digested once. */
const rowTags = new WeakMap<Buffer, string>()

/** A row with its own tag, where the cache has the version of its table. */
const withOwnTag = (body: Buffer): CachedBody => {
  const tag = rowTags.get(body) ?? rowTag(body)
  rowTags.set(body, tag)
  return { tag, body }
}

type Versioned = CachedBody & { readonly version: string }

/** A page; of one that is too large to be read at once the ids of its rows as JSON, and the JSON after them. */
type Page = Versioned | { readonly ids: string; readonly tail: string; readonly next: Position | undefined }

interface Database {
  readonly dialect: Dialect
  readonly cache: ResponseCache
  readonly trace?: Trace | undefined
}

export interface TableParts {
  readonly source: Source
  readonly runner: Runner
  readonly statements: ReadStatements
  readonly writes: WritePlanner
  /** What the rules of a caller bind. */
  readonly scope?: Values
  /** Whether the caller does not see everything. */
  readonly isPrivate?: boolean
  /** Whether a row is locked before it is read by its id. */
  readonly isLocked?: boolean
}

export const resourceTable = (
  { dialect, cache, trace }: Database,
  { source, runner, statements, writes, scope = {}, isPrivate = false, isLocked = false }: TableParts,
): Table => {
  const { resource } = source
  const { path } = resource
  const names = resource.fields.map(({ name }) => name)
  const jsonNames = jsonFieldNames(resource.fields)
  // The same rows in another shape are a different response.
  const columns = dialect.compile(isPrivate ? sql`${source.json} ${source.from}` : source.json)
  const shape = createHash('sha256')
    .update(isPrivate ? `${columns.sql} ${columns.parameters} ${jsonList(Object.entries(scope))}` : columns.sql)
    .digest('hex')
    .slice(0, isPrivate ? 32 : 8)
  const share = singleFlight<Page>()
  const isIndexed = (text: string) => source.candidates?.(text) !== undefined
  const planOf = (selection: Selection) => planRead(selection, isIndexed, source.rowRule !== undefined)
  const column = (name: string) => dialect.columnOf(findField(resource, name))
  const bound = (name: string, value: unknown) => boundValue(column(name), value)
  const isNumbered = isWhole(idField(resource))
  /** Integer ids are bound as integers, all others as text. */
  const boundId = (id: RowId): unknown => (isNumbered ? BigInt(id) : source.bindId ? source.bindId(id) : id)
  // Nothing tells whether a table without a version has changed, so nothing that was read before is used again.
  const version = async (): Promise<string | null> => (await runner.version?.()) ?? null
  const tagOf = (tableVersion: string): string => `${shape}${tableVersion}`
  /** A body with its tag: the version of the table, or a digest of the body if the table has no version. */
  const versioned = (tableVersion: Cell, body: Buffer): Versioned =>
    tableVersion === null
      ? { version: '', tag: rowTag(body), body }
      : { version: String(tableVersion), tag: tagOf(String(tableVersion)), body }
  /** A body with the tag that its client gets: a version would tell about rows that the client may not read. */
  const withClientTag = <B extends CachedBody>(versionedBody: B): B =>
    isPrivate ? { ...versionedBody, ...withOwnTag(versionedBody.body) } : versionedBody

  const boundOperand = ({ field, operator, value }: Condition): unknown => {
    if (operatorOf(operator).operand === 'boolean') return value
    return typeof value === 'object' ? dialect.bindList(value.map((item) => bound(field, item))) : bound(field, value)
  }
  const boundValues = ({ where, search }: ListPlan): Values => ({
    ...Object.fromEntries(where.map((condition, n) => [`condition${n}`, boundOperand(condition)])),
    ...(search && dialect.searchValues(search)),
  })
  const afterValues = ({ order: { field } }: ListPlan, after: Position | undefined): Values | undefined =>
    after && { afterId: boundId(after.id), afterValue: after.value === null ? null : bound(field, after.value) }
  const toPosition = ({ order: { field } }: ListPlan, id: Cell | undefined, key: Cell | undefined): Position => ({
    id: String(id),
    value:
      field === 'id' || key === null || key === undefined ? null : (readValue(column(field), key) as ParameterValue),
  })

  const purpose = (plan: ListPlan, driver: Driver, caller: Caller | undefined, skip = 0n): Purpose => ({
    caller,
    ...(plan.search && {
      search: { text: plan.search, isIndexed: plan.strategy === 'search' && typeof driver !== 'number' },
    }),
    // The rows of one caller may be few, and those of another many. To count the matches takes longer than to skip some; to skip half or
    // twice as many rows takes about as long.
    values: `${isPrivate ? shape : ''}${selectionKey(plan)} ${plan.strategy === 'all' ? skip.toString(2).length : ''}`,
    isScan: plan.strategy === 'scan',
  })

  /** Chooses the condition that the fewest rows match, or the search; undefined where the database chooses. */
  const chooseDriver = async (plan: ListPlan): Promise<Driver> => {
    const probes = statements.probes(plan)
    if (probes.length === 0) return undefined
    const values = boundValues(plan)
    let best: { driver: Driver; rows: number } = {
      driver: plan.strategy === 'search' ? 'search' : probes[0]?.driver,
      rows: maxProbed,
    }
    for (const { driver, statement } of probes) {
      const [counted] = await runner.read(statement, values, { isShort: true })
      const rows = Number(counted?.[0])
      if (rows < best.rows) best = { driver, rows }
    }
    return best.driver
  }

  const readPart =
    ({ order }: ListPlan, caller: Caller | undefined, format?: RowFormat) =>
    async (ids: readonly string[]): Promise<RowsPart> => {
      const values = { ids: dialect.bindList(ids.map(boundId)), bytes: partBytes }
      const [row] = await runner.read(statements.part(order), values, { caller, isBegun: true })
      const lines = toBuffer(row?.[0])
      return { lines: format === 'csv' ? toCsv(names, lines, jsonNames) : lines, left: toIds(row?.[1]) }
    }

  /** Where a page begins that skips some of all rows, if no id is missing: an offset is an id then. */
  const startAfter = (
    { strategy, order }: ListPlan,
    offset: bigint,
    ids: TableState['denseIds'],
  ): Position | undefined => {
    if (strategy !== 'all' || order.field !== 'id' || !ids || offset === 0n) return undefined
    const [first, last] = ids
    const id = order.descending ? last - offset + 1n : first + offset - 1n
    return { id: String(clampedInteger(id)), value: null }
  }

  const readPage = async (
    plan: ListPlan,
    { limit, offset, after }: ListQuery['page'],
    caller: Caller | undefined,
    isByOffset = false,
  ): Promise<Page> => {
    const state = await runner.state?.()
    const isSized = state?.hasLongRows ?? true
    const start = after || isByOffset ? undefined : startAfter(plan, offset, state?.denseIds)
    const place = after ?? start
    const driver = await chooseDriver(plan)
    const skip = offset < maxSkipped ? offset : maxSkipped
    const values = {
      ...boundValues(plan),
      ...afterValues(plan, place),
      // One more row shows whether there is another page.
      limit: limit + 1,
      shown: limit,
      last: limit - 1,
      skip,
      offset: String(offset),
    }
    const isShort = plan.strategy === 'all' && !isSized && (place !== undefined || skip <= shortOffset)
    const [row] = await runner.read(statements.page(plan, driver, place, isSized), values, {
      ...purpose(plan, driver, caller, skip),
      isShort,
    })
    const [readVersion, total, body, rows, lastId, lastKey, ids] = row as readonly Cell[]
    // Another process has changed the ids since.
    if (start && readVersion !== state?.version) return readPage(plan, { limit, offset, after }, caller, true)
    const next = Number(rows) > limit ? toPosition(plan, lastId, lastKey) : undefined
    const tail = `],"meta":{"total":${total},"limit":${limit},"offset":${offset}}}`
    if (ids) return { ids: String(ids), tail, next }
    return { ...versioned(readVersion as Cell, toBuffer(body)), next }
  }

  /** Runs a read, or takes the result of the same one that runs already. */
  const shared = async <T extends Page>(
    key: string,
    caller: Caller | undefined,
    read: () => Promise<T>,
  ): Promise<T> => {
    if (!runner.version) return read()
    const isCurrent = async () => {
      const now = await version()
      return (page: Page) => 'version' in page && page.version === now
    }
    return (await share(key, caller, read, isCurrent)) as T
  }

  const cached = async (operation: string, key: string): Promise<CachedBody | undefined> => {
    if (!runner.version) return undefined
    const entry = cache.get(key)
    const isHit = entry !== undefined && entry.tag === tagOf(String(await version()))
    cache.count(isHit)
    if (!isHit) return undefined
    trace?.(operation, { resource: path, cache: 'hit' })
    return entry
  }
  /** Runs a read, and reports how long it took. */
  const timed = async <T>(operation: string, fields: Values, work: () => Promise<T>): Promise<T> => {
    if (!trace) return work()
    const started = performance.now()
    const result = await work()
    trace(operation, { resource: path, ...fields, ms: elapsed(started) })
    return result
  }

  return {
    async list(query, caller) {
      const key = `${shape}${path}?${listKey(query)}`
      const entry = await cached('list', key)
      if (entry) return withClientTag(entry)
      const plan = planOf(query)
      const { strategy, where } = plan
      if (strategy === 'nothing') return withClientTag(versioned(await version(), emptyPage(query.page)))
      const filters = where.map(({ field }) => field)
      const page = await timed('list', { cache: runner.version ? 'miss' : 'none', plan: strategy, filters }, () =>
        shared(key, caller, () => readPage(plan, query.page, caller)),
      )
      if ('ids' in page) {
        const rows = rowsInParts(page.ids, readPart(plan, caller))
        return { body: largePageBody([pageHead, page.tail], rows), next: page.next }
      }
      if (runner.version) cache.storeOnSecondRequest(key, page)
      return withClientTag(page)
    },
    async *stream(selection, caller, format) {
      const plan = planOf(selection)
      if (plan.strategy === 'nothing') return
      const driver = await chooseDriver(plan)
      let after: Position | undefined
      do {
        const values = { ...boundValues(plan), ...afterValues(plan, after), limit: maxIds, last: maxIds - 1 }
        const [row] = await runner.read(statements.ids(plan, driver, after), values, {
          ...purpose(plan, driver, caller),
          isBegun: true,
        })
        const [ids, count, lastId, lastKey] = row as readonly Cell[]
        yield* rowsInParts(String(ids ?? '[]'), readPart(plan, caller, format))
        after = Number(count) === maxIds ? toPosition(plan, lastId, lastKey) : undefined
      } while (after)
    },
    async summary(query, caller) {
      const selection = { where: query.where, search: query.search, order: defaultListQuery.order }
      const { limit, maxRows } = query
      const bounds = query.by.flatMap((group) => group.bounds?.map((value) => bound(group.field, value)) ?? [])
      // No id of a row and no query of a list can make the same key.
      const key = `${shape}${path}&${limit}&${maxRows ?? ''}&${summaryKey(query)}${jsonList(bounds)}&${selectionKey(selection)}`
      const entry = await cached('summary', key)
      if (entry) return withClientTag(entry)
      const plan = planOf(selection)
      const { strategy } = plan
      const body = (rows: readonly (readonly Cell[])[]) => summaryBody(dialect, resource, query, rows)
      if (strategy === 'nothing') return withClientTag(versioned(await version(), body([])))
      const read = async () => {
        const driver = await chooseDriver(plan)
        const numbered = Object.fromEntries(bounds.map((value, n) => [`bound${n}`, value]))
        const values = { ...boundValues(plan), ...numbered, limit, rows: maxRows }
        const statement = statements.summary(plan, driver, query)
        // The groups decide how long it takes, too.
        const timing = { ...purpose(plan, driver, caller), values: key, isHeavy: true }
        const rows = await runner.read(statement, values, timing)
        return versioned(rows[0]?.[0] ?? null, body(rows))
      }
      const summary = await timed('summary', { plan: strategy }, () => shared(key, caller, read))
      if (runner.version) cache.storeOnSecondRequest(key, summary)
      return withClientTag(summary)
    },
    async excerpts(ids, fields) {
      const rows = await runner.read(
        statements.excerpts(fields),
        { ids: dialect.bindList(ids.map(boundId)) },
        { isShort: true },
      )
      return rows.map(([id, ...values]): RowValues => {
        const read = fields.map((name, n) => [name, readValue(column(name), values[n] ?? null) as Value])
        return { ...Object.fromEntries(read), id: String(id) }
      })
    },
    async get(id, caller) {
      const key = `${shape}${path}/${id}`
      const entry = await cached('get', key)
      if (entry) return withOwnTag(entry.body)
      if (isLocked) await runner.read(writes.lock(), { id: boundId(id) })
      const [row] = await timed('get', { cache: 'miss' }, () =>
        runner.read(statements.row, { id: boundId(id) }, { caller, isShort: true }),
      )
      if (!row) return undefined
      const body = toBuffer(row[1])
      if (row[0] !== null) cache.storeOnSecondRequest(key, { tag: tagOf(String(row[0])), body })
      return withOwnTag(body)
    },
    async earlierWrite(key) {
      const { find } = writes.keys ?? {}
      const [stored] = find ? await runner.read(find, { $key: key }, { isShort: true }) : []
      return stored && { digest: String(stored[0]), body: toBuffer(stored[1]) }
    },
    async conflicts(values, id, sent) {
      const query = writes.conflicts(values, id, scope, sent)
      const [conflicting] = await runner.read(query.statement, query.values, { isShort: true })
      return parseConflicts(conflicting?.[0])
    },
    async allows(kind, id) {
      const query = writes.allowed(kind, scope)
      if (!query) return true
      return (await runner.read(query.statement, { ...query.values, id: boundId(id) }, { isShort: true })).length > 0
    },
    referencing: (id) =>
      runInTurn(writes.referencing(id, scope), ({ statement, values }) => runner.read(statement, values)),
    write: (write) => timed(write.kind, {}, () => runner.write(writes.plan(write, scope))),
    import: (rows) =>
      timed('import', { rows: rows.rows.length }, async () => runner.import(await writes.planImport(rows, scope))),
    async rowsWith(field, values) {
      const bindings = { $rows: jsonList(values.map((value) => [bound(field, value)])) }
      const rows = await runner.read(statements.rowsWith(field), bindings)
      return rows.map(([json]) => toBuffer(json))
    },
  }
}
