/** Reads pages of searches and filters, whose cost grows with the table, downloads, and counts of values. */
import type { Database } from 'better-sqlite3'
import { isById, type ListQuery, type Position } from '../../descriptor/listQuery.js'
import { operatorOf } from '../../descriptor/operators.js'
import { toCsv } from '../csv.js'
import { maxValueBytes } from '../dialect.js'
import { bindPosition, partsAfter } from '../order.js'
import {
  asElements,
  type FoundIds,
  type LargePage,
  largePageBytes,
  maxIds,
  type Part,
  pageHead,
  partBytes,
} from '../parts.js'
import type { Plan } from '../plan.js'
import type { CountSize, RowFormat, ValueCounts } from '../storage.js'
import { elapsed } from '../trace.js'
import { type Block, pageStart, sampleBlocks, type TableState } from './blocks.js'
import { preparer } from './prepared.js'
import { addContains, containsSql, DeadlineExceeded, matchExpression, pickTrigrams, probeSql } from './search.js'
import { type Finder, idRanges, type Matches, matchInSteps, nextIds, pageById } from './steps.js'

/** The SQL fragments for the lists of one resource; plain data, so that it can be sent to a worker. */
export interface ListSql {
  readonly table: string
  readonly searchIndex: string
  readonly state: string
  readonly blocks: string
  readonly text: string
  /** By field: its column, what it is ordered and compared by, and its value as a response shows it. */
  readonly columns: Readonly<Record<string, { readonly column: string; readonly key: string; readonly served: string }>>
  /** The ids and JSON of the rows whose ids are given as a JSON array, in its order, and of those between two ids. */
  readonly rows: string
  readonly rowsBetween: string
}

/** A page: its bytes or, for a large one, its ids; with how many milliseconds it took to read. */
export type ListPage = { readonly version: string; readonly ms: number; readonly next: Position | undefined } & (
  | { readonly bytes: Uint8Array }
  | LargePage
)

/** A filter that matches fewer rows than this is used instead of the search index. */
const maxFilteredRows = 2_000

/** More matches than this are not sorted: they are frequent enough to find the page along the index of the order. */
const sortLimit = (rows: number): number => Math.min(Math.max(5_000, rows / 20), 50_000)

const countedAtOnce = 2_000

const lineFeed = Buffer.from('\n')

/** Ids as a JSON array; not by JSON.stringify(), because ids may exceed 2^53. */
const idList = (ids: readonly bigint[] | BigInt64Array): string => `[${ids.join()}]`

interface Test {
  readonly field: string
  readonly isEquality: boolean
  readonly isRange: boolean
  readonly sql: (plus: '' | '+') => string
  readonly values: readonly unknown[]
}

type KeyedRow = readonly [id: bigint, key: Position['value']]

const toPosition = (row: KeyedRow | undefined): Position | undefined => row && { id: row[0], value: row[1] }

/** The most frequent values; of equally frequent ones, the first by name. */
const mostFrequent = (counts: ReadonlyMap<string, number>, maxValues: number): [string, number][] =>
  [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, maxValues)

const createLists = (database: Database, sql: ListSql, lookFor: ReturnType<typeof addContains>) => {
  const prepare = preparer(database)
  const value = (text: string, ...parameters: readonly unknown[]) => prepare(text).pluck().get(parameters)
  const readBlocks = () => prepare(sql.blocks).raw().safeIntegers().all() as Block[]

  /** The conditions of a plan as SQL, both bounds of a field in one; a plus keeps SQLite from using an index. */
  const conditionTests = ({ where }: Pick<Plan, 'where'>): Test[] => {
    const tests = new Map<string, Test>()
    for (const { field, operator, value: given } of where) {
      const { sql: template, option, isEquality, operand } = operatorOf(operator)
      const known = sql.columns[field] as ListSql['columns'][string]
      const column = option === 'range' ? known.key : known.column
      const text = template(given).replace('in (?)', 'in (select value from json_each(?))')
      const bounds = option === 'range' ? tests.get(field) : undefined
      tests.set(option === 'range' ? field : `${field} ${operator}`, {
        field,
        isEquality,
        isRange: option === 'range',
        sql: (plus) => [...(bounds ? [bounds.sql(plus)] : []), text.replace('??', () => plus + column)].join(' and '),
        values: [...(bounds?.values ?? []), ...(operand === 'boolean' ? [] : [given])],
      })
    }
    return [...tests.values()]
  }

  /** Chooses the index that finds the matching rows. */
  const finder = (plan: Plan, deadline: number): Finder => {
    const { strategy, search } = plan
    const { folded, parameters } = lookFor(search, deadline)
    const tests = conditionTests(plan).map((test) => {
      const counted = `select count(*) from (select 1 from ${sql.table} where ${test.sql('')} limit ${maxFilteredRows})`
      return { ...test, rows: value(counted, ...test.values) as number }
    })
    const ranked = [...tests].sort((a, b) => a.rows - b.rows)
    const few = ranked[0] && ranked[0].rows < maxFilteredRows ? ranked[0] : undefined
    const isIndexed = strategy === 'search' && !few
    // The index of a range has no order by id, so that of a long one would be read again for every step.
    const driver = isIndexed ? undefined : (few ?? ranked.find(({ isEquality }) => isEquality))
    const index = sql.searchIndex
    const probe = (match: string) => value(probeSql(index), match) as number | undefined
    const match = isIndexed ? [matchExpression(pickTrigrams(folded), probe)] : []
    const source = isIndexed ? `${index} cross join ${sql.table} on id = ${index}.rowid` : sql.table
    // Without the plus, SQLite would scan the table in order of id instead of using the index of a range.
    const key = isIndexed ? `${index}.rowid` : driver?.isEquality === false ? '+id' : 'id'
    const conditions = tests.map((test) => test.sql(test === driver ? '' : '+'))
    const values = [...tests.flatMap((test) => test.values), ...(search === '' ? [] : parameters)]
    // The limit keeps SQLite from merging the two queries, which would compute the text again for each part of the test.
    const matching = (from: string, rowId: string, ...first: string[]) => {
      const candidates = (columns: string) =>
        `select ${columns} from ${from} where ${[...first, ...conditions].join(' and ')}`
      return search === ''
        ? `(${candidates('id')})`
        : `(${candidates(`id, ${sql.text} as text`)} order by ${rowId} limit -1) where ${containsSql()}`
    }
    const ids = (text: string, by = 'id') =>
      prepare(`select id from ${text} ${search === '' ? `order by ${by}` : ''}`)
        .pluck()
        .safeIntegers()
    const inRange = matching(source, key, ...(isIndexed ? [`${index} match ?`] : []), `${key} between ? and ?`)
    const count = prepare(`select count(*) from ${inRange}`).pluck()
    return {
      ids: (from, to) => ids(inRange, key).all([...match, from, to, ...values]) as bigint[],
      count: (from, to) => count.get([...match, from, to, ...values]) as number,
      among: (given) => {
        const found = ids(matching(sql.table, 'id', 'id in (select value from json_each(?))'))
        return new Set(found.all([idList(given), ...values]) as bigint[])
      },
    }
  }

  /** The number of rows that one range matches, which its index counts quickly; undefined for any other plan. */
  const rangeTotal = (plan: Plan): number | undefined => {
    const [test, ...others] = conditionTests(plan)
    if (plan.search !== '' || others.length > 0 || !test || test.isEquality) return undefined
    return value(`select count(*) from ${sql.table} where ${test.sql('')}`, ...test.values) as number
  }

  /** The next rows in the order of a plan, with their keys: those within the bounds of the order's field, or some given ones. */
  const ordered = (
    { where, order }: Plan,
    after: Position | undefined,
    limit: number,
    skip: bigint,
    given?: string,
  ) => {
    const { key } = sql.columns[order.field] as ListSql['columns'][string]
    const id = `${sql.table}.id`
    const bounds = given ? [] : conditionTests({ where }).filter((test) => test.isRange && test.field === order.field)
    const source = given
      ? `json_each(?) as registry_given cross join ${sql.table} on ${id} = registry_given.value`
      : sql.table
    const direction = order.descending ? 'desc' : 'asc'
    const rows: KeyedRow[] = []
    for (const part of after ? partsAfter(key, id, order, after) : ['1']) {
      const [condition, position] = bindPosition<unknown>(part, after?.value, after?.id)
      const values = [...(given ? [given] : []), ...position, ...bounds.flatMap((bound) => bound.values)]
      // SQLite does not notice that all these keys are equal, and would sort every row that has the key.
      const byKey = / = @value| is null/.test(part) ? '' : `${key} ${direction}, `
      const read =
        prepare(`select ${id}, ${key} from ${source} where ${[condition, ...bounds.map((bound) => bound.sql(''))].join(' and ')}
        order by ${byKey}${id} ${direction} limit cast(? as integer) offset cast(? as integer)`)
      rows.push(
        ...(read
          .raw()
          .safeIntegers()
          .all([...values, limit - rows.length, skip]) as KeyedRow[]),
      )
      if (rows.length >= limit) break
    }
    return rows
  }

  /** The next rows along the order that match the plan, from a position on. */
  function* inOrder(plan: Plan, after: Position | undefined, deadline: number, find: Finder | undefined) {
    for (let last = after; ; ) {
      if (performance.now() > deadline) throw new DeadlineExceeded()
      const rows = ordered(plan, last, maxIds, 0n)
      const matches = find?.among(rows.map(([id]) => id))
      last = rows.length < maxIds ? undefined : toPosition(rows.at(-1))
      yield { rows: matches ? rows.filter(([id]) => matches.has(id)) : rows, last }
      if (!last) return
    }
  }

  /** A page that does not begin at an offset in order of `id`. Few matches are sorted, many are found along the order. */
  const orderedMatches = (plan: Plan, page: ListQuery['page'], state: TableState, deadline: number): Matches => {
    const wanted = page.limit + 1
    const skip = page.after ? 0n : page.offset > state.rows ? BigInt(state.rows) : page.offset
    const paged = (rows: readonly KeyedRow[], total: number): Matches => {
      const shown = rows.slice(0, page.limit)
      return {
        ids: shown.map(([id]) => id),
        total,
        next: rows.length > page.limit ? toPosition(shown.at(-1)) : undefined,
      }
    }
    if (plan.strategy === 'all') return paged(ordered(plan, page.after, wanted, skip), state.rows)
    const find = finder(plan, deadline)
    const maxSorted = sortLimit(state.rows)
    const known = rangeTotal(plan)
    const few: bigint[] = []
    let total = 0
    if (known !== undefined && known > maxSorted) total = known
    else {
      for (const range of idRanges(readBlocks(), deadline)) {
        const found = few.length > maxSorted ? undefined : find.ids(...range)
        for (const id of found ?? []) few.push(id)
        total += found?.length ?? find.count(...range)
      }
    }
    if (total <= maxSorted) return paged(ordered(plan, page.after, wanted, skip, idList(few)), total)
    const rows: KeyedRow[] = []
    let left = Number(skip)
    for (const { rows: found } of inOrder(plan, page.after, deadline, find)) {
      rows.push(...found.slice(left, left + wanted - rows.length))
      left = Math.max(0, left - found.length)
      if (rows.length >= wanted) break
    }
    return paged(rows, total)
  }

  const findMatches = (plan: Plan, page: ListQuery['page'], state: TableState, deadline: number): Matches => {
    if (page.after || !isById(plan.order)) return orderedMatches(plan, page, state, deadline)
    if (plan.strategy !== 'all')
      return matchInSteps(readBlocks(), page, deadline, finder(plan, deadline), rangeTotal(plan))
    const { first, skip } = pageStart(state, page.offset, readBlocks)
    const ids = prepare(`select id from ${sql.table} where id >= ? order by id limit ? offset ?`).pluck().safeIntegers()
    return pageById(ids.all([first, BigInt(page.limit), skip]) as bigint[], state.rows, page)
  }

  /** The next matching ids of a download. */
  const nextMatches = (plan: Plan, after: Position | undefined, deadline: number): FoundIds => {
    const find = plan.strategy === 'all' && !isById(plan.order) ? undefined : finder(plan, deadline)
    if (find && isById(plan.order)) return nextIds(readBlocks(), after?.id, deadline, find)
    const { value: found } = inOrder(plan, after, deadline, find).next()
    return { ids: BigInt64Array.from(found?.rows ?? [], ([id]) => id), last: found?.last }
  }

  /** The first rows until they have so many bytes; a long row takes milliseconds to read. */
  const part = (ids: readonly bigint[] | BigInt64Array, maxBytes = partBytes, deadline = Number.MAX_VALUE): Part => {
    const [first = 0n, last = -1n] = [ids[0], ids.at(-1)]
    // Rows next to each other are read in one pass, in a quarter of the time.
    const isDense = last - first === BigInt(ids.length - 1) && ids.every((id, n) => id === first + BigInt(n))
    const read = prepare(`select id, cast(row as blob) from (${isDense ? sql.rowsBetween : sql.rows})`)
      .raw()
      .safeIntegers()
    const lines: Buffer[] = []
    let size = 0
    for (const [id, row] of read.iterate(isDense ? [first, last] : [idList(ids)]) as IterableIterator<
      [bigint, Buffer | null]
    >) {
      if (performance.now() > deadline) throw new DeadlineExceeded()
      // The row was deleted since its id was found.
      if (row === null) continue
      lines.push(row, lineFeed)
      size += row.length
      if (size >= maxBytes && id !== last) return { rows: Buffer.concat(lines), last: id }
    }
    return { rows: Buffer.concat(lines), last: undefined }
  }

  const page = (plan: Plan, wanted: ListQuery['page'], deadline: number): ListPage => {
    const started = performance.now()
    const state = prepare(sql.state).get() as TableState
    const { ids, total, next } = findMatches(plan, wanted, state, deadline)
    const found = { version: state.version, next }
    const tail = `],"meta":{"total":${total},"limit":${wanted.limit},"offset":${wanted.offset}}}`
    if (!state.hasLongRows) {
      const json = `select cast(concat(?, (select group_concat(row, ',') from (${sql.rows})), ?) as blob)`
      return { ...found, bytes: value(json, pageHead, idList(ids), tail) as Buffer, ms: elapsed(started) }
    }
    const { rows, last } = part(ids, largePageBytes, deadline)
    if (last !== undefined) return { ...found, ids: BigInt64Array.from(ids), tail, ms: elapsed(started) }
    const bytes = Buffer.concat([Buffer.from(pageHead), asElements(rows), Buffer.from(tail)])
    return { ...found, bytes, ms: elapsed(started) }
  }

  const countValues = (
    plan: Plan,
    fields: readonly string[],
    { share, maxValues }: CountSize,
    deadline: number,
  ): ValueCounts => {
    const { ids } = finder(plan, deadline)
    const columns = fields.map(
      (name) =>
        `case when octet_length(${sql.columns[name]?.column}) <= ${maxValueBytes} then ${sql.columns[name]?.served} end`,
    )
    const read = prepare(`select ${columns.join()} from ${sql.table} where id in (select value from json_each(?))`)
    const counts = fields.map(() => new Map<string, number>())
    let rows = 0
    // The blocks of a sample are not adjacent, so they are counted one by one.
    for (const range of idRanges(sampleBlocks(readBlocks(), share), deadline, 1, share < 1 ? 1 : undefined)) {
      const found = ids(...range)
      for (let from = 0; from < found.length; from += countedAtOnce) {
        if (performance.now() > deadline) throw new DeadlineExceeded()
        for (const row of read.raw().all(idList(found.slice(from, from + countedAtOnce))) as unknown[][]) {
          rows++
          for (const [n, stored] of row.entries()) {
            if (stored === null) continue
            const counted = counts[n] as Map<string, number>
            counted.set(String(stored), (counted.get(String(stored)) ?? 0) + 1)
          }
        }
      }
    }
    return {
      rows,
      values: new Map(fields.map((name, n) => [name, mostFrequent(counts[n] as Map<string, number>, maxValues)])),
    }
  }

  return {
    /** All of a page is from one version of the table. */
    page: database.transaction(page).deferred,
    ids: database.transaction(nextMatches),
    valueCounts: database.transaction(countValues),
    part(ids: BigInt64Array, format?: RowFormat): Part {
      const found = part(ids)
      return format === 'csv' ? { ...found, rows: toCsv(Object.keys(sql.columns), found.rows) } : found
    },
  }
}

/** A statement about a table of another program, and what it searches for. */
export interface PlainTask {
  readonly sql: string
  readonly values: readonly unknown[]
  readonly search: string
}

export type ListTask = { readonly resource: string } & (
  | { readonly read: 'page'; readonly plan: Plan; readonly page: ListQuery['page']; readonly maxMs?: number }
  | { readonly read: 'ids'; readonly plan: Plan; readonly after: Position | undefined }
  | { readonly read: 'part'; readonly ids: BigInt64Array; readonly format?: RowFormat }
  | (PlainTask & { readonly read: 'plain'; readonly maxMs?: number })
  | { readonly read: 'valueCounts'; readonly plan: Plan; readonly fields: readonly string[]; readonly size: CountSize }
)

export const listReader = (database: Database, sql: ReadonlyMap<string, ListSql>) => {
  const lookFor = addContains(database)
  const lists = new Map([...sql].map(([resource, one]) => [resource, createLists(database, one, lookFor)]))
  const prepare = preparer(database)
  return (task: ListTask, timeLeftMs: number): ListPage | FoundIds | Part | ValueCounts | unknown[] => {
    const deadline = performance.now() + timeLeftMs
    if (task.read === 'plain') {
      lookFor(task.search, Math.min(deadline, performance.now() + (task.maxMs ?? timeLeftMs)))
      return prepare(task.sql).raw().safeIntegers().all(task.values)
    }
    const list = lists.get(task.resource) as ReturnType<typeof createLists>
    switch (task.read) {
      case 'page':
        return list.page(task.plan, task.page, Math.min(deadline, performance.now() + (task.maxMs ?? timeLeftMs)))
      case 'ids':
        return list.ids(task.plan, task.after, deadline)
      case 'part':
        return list.part(task.ids, task.format)
      case 'valueCounts':
        return list.valueCounts(task.plan, task.fields, task.size, deadline)
    }
  }
}
