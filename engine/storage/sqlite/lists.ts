/** Reads pages of searches and filters, whose cost grows with the table, downloads, and counts of values. */
import type { Database } from 'better-sqlite3'
import type { ListQuery } from '../../descriptor/listQuery.js'
import { parseReferencing } from '../conflicts.js'
import { maxValueBytes, maxValues } from '../dialect.js'
import { asElements, type FoundIds, type LargePage, largePageBytes, type Part, pageHead, partBytes } from '../parts.js'
import type { Plan } from '../plan.js'
import { quoted } from '../schema.js'
import type { ValueCounts } from '../storage.js'
import { elapsed } from '../trace.js'
import type { Referencing } from '../write.js'
import { type Block, pageStart, sampleBlocks, type TableState } from './blocks.js'
import { preparer } from './prepared.js'
import { addContains, containsSql, DeadlineExceeded, matchExpression, probeSql, trigramsOf } from './search.js'
import { type Finder, idRanges, type Matches, matchInSteps, nextIds } from './steps.js'

/** The SQL fragments for the lists of one resource; plain data, so that it can be sent to a worker. */
export interface ListSql {
  readonly table: string
  readonly searchIndex: string
  /** The table's state, as a TableState. */
  readonly state: string
  /** The blocks of rows, in order. */
  readonly blocks: string
  /** The text that is searched. */
  readonly text: string
  /** Each possible condition, by field and operator, with one parameter. */
  readonly conditions: Readonly<Record<string, string>>
  /** The value of each field as a response shows it. */
  readonly values: Readonly<Record<string, string>>
  /** The ids and JSON of the rows whose ids are given as a JSON array, and of those between two ids; in order. */
  readonly rows: string
  readonly rowsBetween: string
  /** Finds what references a row. */
  readonly referencing: string
}

/** A page: its bytes or, for a large one, its ids; with how many milliseconds it took to read. */
export type ListPage = { readonly version: string; readonly ms: number } & ({ readonly bytes: Uint8Array } | LargePage)

/** A filter that matches fewer rows than this is used instead of the search index. */
const maxFilteredRows = 2_000

/** How many rows are read between two checks of the deadline when values are counted. */
const countedAtOnce = 2_000

const lineFeed = Buffer.from('\n')

/** Ids as a JSON array; not by JSON.stringify(), because ids may exceed 2^53. */
const jsonOf = (ids: readonly bigint[] | BigInt64Array): string => `[${ids.join()}]`

/** The most frequent values; of equally frequent ones, the first by name. */
const mostFrequent = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, maxValues)

/** Makes the functions that read the lists of one resource on a connection. */
const listsOf = (
  database: Database,
  sql: ListSql,
  lookFor: ReturnType<typeof addContains>,
  onPrepare?: (sql: string) => void,
) => {
  const prepare = preparer(database, onPrepare)
  const value = (text: string, ...parameters: readonly unknown[]) => prepare(text).pluck().get(parameters)
  const readBlocks = () => prepare(sql.blocks).raw().safeIntegers().all() as Block[]

  /** Chooses the index that finds the matching rows. */
  const finder = ({ strategy, search, where }: Plan, deadline: number): Finder => {
    const { folded, parameters } = lookFor(search, deadline)
    const trigrams = trigramsOf(folded)
    const conditions = where.map(({ field, operator, value: given }) => {
      const condition = String(sql.conditions[`${field} ${operator}`])
      const counted = `select count(*) from (select 1 from ${sql.table} where ${condition} limit ${maxFilteredRows})`
      return { condition, given, rows: value(counted, given) as number }
    })
    const [driver] = [...conditions].sort((a, b) => a.rows - b.rows)
    const isIndexed = strategy === 'search' && (driver === undefined || driver.rows >= maxFilteredRows)
    const index = sql.searchIndex
    const probe = (match: string) => value(probeSql(index), match) as number | undefined
    const match = isIndexed ? [matchExpression(trigrams, probe)] : []
    const source = isIndexed ? `${index} cross join ${sql.table} on id = ${index}.rowid` : sql.table
    const key = isIndexed ? `${index}.rowid` : 'id'
    const all = [
      ...(isIndexed ? [`${index} match ?`] : []),
      `${key} between ? and ?`,
      // A plus keeps SQLite from using the index of any other filter.
      ...conditions.map((one) => `${isIndexed || one !== driver ? '+' : ''}${one.condition}`),
    ]
    const candidates = (columns: string) => `select ${columns} from ${source} where ${all.join(' and ')}`
    // The limit keeps SQLite from merging the two queries, which would compute the text again for each part of the test.
    const matching =
      search === ''
        ? `(${candidates('id')})`
        : `(${candidates(`id, ${sql.text} as text`)} order by ${key} limit -1) where ${containsSql}`
    const ids = prepare(`select id from ${matching} ${search === '' ? 'order by id' : ''}`)
      .pluck()
      .safeIntegers()
    const count = prepare(`select count(*) from ${matching}`).pluck()
    const values = [...conditions.map(({ given }) => given), ...(search === '' ? [] : parameters)]
    return {
      ids: (from, to) => ids.all([...match, from, to, ...values]) as bigint[],
      count: (from, to) => count.get([...match, from, to, ...values]) as number,
    }
  }

  const matchesOf = (plan: Plan, page: ListQuery['page'], state: TableState, deadline: number): Matches => {
    if (plan.strategy !== 'all') return matchInSteps(readBlocks(), page, deadline, finder(plan, deadline))
    const { first, skip } = pageStart(state, page.offset, readBlocks)
    const ids = prepare(`select id from ${sql.table} where id >= ? order by id limit ? offset ?`).pluck().safeIntegers()
    return { ids: ids.all([first, BigInt(page.limit), skip]) as bigint[], total: state.rows }
  }

  /** The first rows until they have so many bytes; a long row takes milliseconds to read. */
  const part = (ids: readonly bigint[] | BigInt64Array, maxBytes = partBytes, deadline = Number.MAX_VALUE): Part => {
    const [first = 0n, last = -1n] = [ids[0], ids.at(-1)]
    // Rows next to each other are read in one pass, in a quarter of the time.
    const isDense = last - first === BigInt(ids.length - 1)
    const read = prepare(`select id, cast(row as blob) from (${isDense ? sql.rowsBetween : sql.rows})`)
      .raw()
      .safeIntegers()
    const lines: Buffer[] = []
    let size = 0
    for (const [id, row] of read.iterate(isDense ? [first, last] : [jsonOf(ids)]) as IterableIterator<
      [bigint, Buffer]
    >) {
      if (performance.now() > deadline) throw new DeadlineExceeded()
      lines.push(row, lineFeed)
      size += row.length
      if (size >= maxBytes && id !== last) return { rows: Buffer.concat(lines), last: id }
    }
    return { rows: Buffer.concat(lines), last: undefined }
  }

  const page = (plan: Plan, wanted: ListQuery['page'], deadline: number): ListPage => {
    const started = performance.now()
    const state = prepare(sql.state).get() as TableState
    const { ids, total } = matchesOf(plan, wanted, state, deadline)
    const { version } = state
    const tail = `],"meta":{"total":${total},"limit":${wanted.limit},"offset":${wanted.offset}}}`
    if (!state.hasLongRows) {
      const json = `select cast(concat(?, (select group_concat(row, ',') from (${sql.rows})), ?) as blob)`
      return { version, bytes: value(json, pageHead, jsonOf(ids), tail) as Buffer, ms: elapsed(started) }
    }
    const { rows, last } = part(ids, largePageBytes, deadline)
    if (last !== undefined) return { version, ids: BigInt64Array.from(ids), tail, ms: elapsed(started) }
    const bytes = Buffer.concat([Buffer.from(pageHead), asElements(rows), Buffer.from(tail)])
    return { version, bytes, ms: elapsed(started) }
  }

  /** Counts the values of fields among matching rows of the whole table, or of a sample of its blocks. */
  const countValues = (plan: Plan, fields: readonly string[], share: number, deadline: number): ValueCounts => {
    const { ids } = finder(plan, deadline)
    const columns = fields.map(
      (name) => `case when octet_length(${quoted(name)}) <= ${maxValueBytes} then ${sql.values[name]} end`,
    )
    const read = prepare(`select ${columns.join()} from ${sql.table} where id in (select value from json_each(?))`)
    const counts = fields.map(() => new Map<string, number>())
    let rows = 0
    // The blocks of a sample are not adjacent, so they are counted one by one.
    for (const range of idRanges(sampleBlocks(readBlocks(), share), deadline, 1, share < 1 ? 1 : undefined)) {
      const found = ids(...range)
      for (let from = 0; from < found.length; from += countedAtOnce) {
        if (performance.now() > deadline) throw new DeadlineExceeded()
        for (const row of read.raw().all(jsonOf(found.slice(from, from + countedAtOnce))) as unknown[][]) {
          rows++
          for (const [n, stored] of row.entries()) {
            if (stored === null) continue
            const counted = counts[n] as Map<string, number>
            counted.set(String(stored), (counted.get(String(stored)) ?? 0) + 1)
          }
        }
      }
    }
    return { rows, values: new Map(fields.map((name, n) => [name, mostFrequent(counts[n] as Map<string, number>)])) }
  }

  return {
    /** All of a page is from one version of the table. */
    page: database.transaction(page).deferred,
    ids: database.transaction(
      (plan: Plan, after: bigint, deadline: number): FoundIds =>
        nextIds(readBlocks(), after, deadline, finder(plan, deadline)),
    ),
    valueCounts: database.transaction(countValues),
    part: (ids: BigInt64Array) => part(ids),
    referencing: (id: number) => parseReferencing(value(sql.referencing, id) as string),
  }
}

/** A task of a read worker. */
export type ListTask = { readonly resource: string } & (
  | { readonly read: 'page'; readonly plan: Plan; readonly page: ListQuery['page']; readonly maxMs?: number }
  | { readonly read: 'ids'; readonly plan: Plan; readonly after: bigint }
  | { readonly read: 'part'; readonly ids: BigInt64Array }
  | { readonly read: 'referencing'; readonly id: number }
  | { readonly read: 'valueCounts'; readonly plan: Plan; readonly fields: readonly string[]; readonly share: number }
)

/** Makes the function that runs a task on a connection. */
export const listReader = (
  database: Database,
  sql: ReadonlyMap<string, ListSql>,
  onPrepare?: (sql: string) => void,
) => {
  const lookFor = addContains(database)
  const lists = new Map([...sql].map(([resource, one]) => [resource, listsOf(database, one, lookFor, onPrepare)]))
  return (task: ListTask, timeLeftMs: number): ListPage | FoundIds | Part | Referencing[] | ValueCounts => {
    const list = lists.get(task.resource) as ReturnType<typeof listsOf>
    const deadline = performance.now() + timeLeftMs
    switch (task.read) {
      case 'page':
        return list.page(task.plan, task.page, Math.min(deadline, performance.now() + (task.maxMs ?? timeLeftMs)))
      case 'ids':
        return list.ids(task.plan, task.after, deadline)
      case 'part':
        return list.part(task.ids)
      case 'referencing':
        return list.referencing(task.id)
      case 'valueCounts':
        return list.valueCounts(task.plan, task.fields, task.share, deadline)
    }
  }
}
