/** Reads the pages of searches and filters, whose cost grows with the table: in steps, so that a deadline can end them. */
import type { Database } from 'better-sqlite3'
import type { StreamPart } from '../dialect.js'
import { type LargePage, largePage, pageHead, type SizedRow } from '../largePage.js'
import type { Plan } from '../plan.js'
import type { ValueCounts } from '../storage.js'
import { elapsed } from '../trace.js'
import { type Block, pageStart, type TableState } from './blocks.js'
import { partReader, type RowsSql } from './parts.js'
import { preparer } from './prepared.js'
import { addContains, containsSql, DeadlineExceeded, matchExpression, probeSql, trigramsOf } from './search.js'
import { type Finder, type Matches, matchInSteps } from './steps.js'
import { valueCounter } from './valueCounts.js'

/** The SQL fragments for the lists of one resource; plain data, so that it can be sent to a worker. */
export interface ListSql extends RowsSql {
  readonly table: string
  readonly searchIndex: string
  /** The table's state, as a TableState. */
  readonly state: string
  /** The blocks of rows, in order. */
  readonly blocks: string
  /** The text that is searched. */
  readonly text: string
  /** The condition of each filter, with one parameter. */
  readonly filters: Readonly<Record<string, string>>
}

/** A page: its bytes or, for a large one, its rows; with how many milliseconds it took to read. */
export type ListPage = { readonly version: string; readonly ms: number } & ({ readonly bytes: Uint8Array } | LargePage)

/** A filter that matches fewer rows than this is used instead of the search index. */
const fewRows = 2_000

/** Ids as a JSON array; not by JSON.stringify(), because ids may exceed 2^53. */
const jsonOf = (ids: readonly bigint[]): string => `[${ids.join()}]`

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

  /** The filter that matches the fewest rows, and how many up to `fewRows`. */
  const drivingFilter = (filters: Plan['filters']) =>
    Object.entries(filters)
      .map(([name, given]) => {
        const counted = `select count(*) from (select 1 from ${sql.table} where ${sql.filters[name]} limit ${fewRows})`
        return { name, rows: value(counted, given) as number }
      })
      .sort((a, b) => a.rows - b.rows)[0]

  /** Chooses the index that finds the matching rows. */
  const finder = ({ by, q, filters }: Plan, deadline: number): Finder => {
    const { folded, parameters } = lookFor(q, deadline)
    const trigrams = trigramsOf(folded)
    const driver = drivingFilter(filters)
    const isIndexed = by === 'search' && (driver === undefined || driver.rows >= fewRows)
    const index = sql.searchIndex
    const probe = (match: string) => value(probeSql(index), match) as number | undefined
    const match = isIndexed ? [matchExpression(trigrams, probe)] : []
    const source = isIndexed ? `${index} cross join ${sql.table} on id = ${index}.rowid` : sql.table
    const key = isIndexed ? `${index}.rowid` : 'id'
    // A plus keeps SQLite from using the index of any other filter.
    const filtered = Object.keys(filters).map(
      (name) => `${isIndexed || name !== driver?.name ? '+' : ''}${sql.filters[name]}`,
    )
    const conditions = [...(isIndexed ? [`${index} match ?`] : []), `${key} between ? and ?`, ...filtered]
    const candidates = (columns: string) => `select ${columns} from ${source} where ${conditions.join(' and ')}`
    // The limit keeps SQLite from merging the two queries, which would compute the text again for each part of the test.
    const matching =
      q === ''
        ? `(${candidates('id')})`
        : `(${candidates(`id, ${sql.text} as text`)} order by ${key} limit -1) where ${containsSql}`
    const ids = prepare(`select id from ${matching} ${q === '' ? 'order by id' : ''}`)
      .pluck()
      .safeIntegers()
    const count = prepare(`select count(*) from ${matching}`).pluck()
    const values = [...Object.values(filters), ...(q === '' ? [] : parameters)]
    return {
      ids: (from, to) => ids.all([...match, from, to, ...values]) as bigint[],
      count: (from, to) => count.get([...match, from, to, ...values]) as number,
    }
  }

  const matchesOf = (query: Plan, state: TableState, deadline: number): Matches => {
    if (query.by !== 'all') {
      return matchInSteps(readBlocks(), query, deadline, finder(query, deadline))
    }
    const { first, skip } = pageStart(state, query.offset, readBlocks)
    const page = prepare(`select id from ${sql.table} where id >= ? order by id limit ? offset ?`)
      .pluck()
      .safeIntegers()
    return { ids: page.all([first, BigInt(query.limit), skip]) as bigint[], total: state.rows }
  }

  /** The sizes of some rows; a long row takes milliseconds to read. */
  const sizesOf = (ids: readonly bigint[], deadline: number): SizedRow[] => {
    const rows: SizedRow[] = []
    const sizes = prepare(`select id, octet_length(row) from (${sql.rows})`).raw().safeIntegers()
    for (const [id, bytes] of sizes.iterate([jsonOf(ids)]) as IterableIterator<[bigint, bigint]>) {
      if (performance.now() > deadline) throw new DeadlineExceeded()
      rows.push({ id, bytes: Number(bytes) })
    }
    return rows
  }

  /** The JSON of some rows, joined by commas, between a head and a tail. */
  const jsonOfRows = (ids: readonly bigint[], head = '', tail = '') => {
    const json = `select cast(concat(?, (select group_concat(row, ',') from (${sql.rows})), ?) as blob)`
    return value(json, head, jsonOf(ids), tail) as Buffer
  }

  const pageOf = (query: Plan, deadline: number): ListPage => {
    const started = performance.now()
    const state = prepare(sql.state).get() as TableState
    const { ids, total } = matchesOf(query, state, deadline)
    const { version } = state
    const tail = `],"meta":{"total":${total},"limit":${query.limit},"offset":${query.offset}}}`
    if (state.hasLongRows) {
      const rows = sizesOf(ids, deadline)
      if (rows.reduce((sum, { bytes }) => sum + bytes, 0) > largePage)
        return { version, rows, tail, ms: elapsed(started) }
    }
    const bytes = jsonOfRows(ids, pageHead, tail)
    return { version, bytes, ms: elapsed(started) }
  }

  const page = database.transaction(pageOf)
  const partAfter = partReader(prepare, sql, readBlocks)
  const countValues = valueCounter(prepare, sql.table, readBlocks)
  return {
    part: database.transaction((query: Plan, after: bigint, deadline: number) =>
      partAfter(after, query.by === 'all' ? undefined : finder(query, deadline)),
    ),
    valueCounts: database.transaction((query: Plan, fields: readonly string[], share: number, deadline: number) =>
      countValues(fields, share, finder(query, deadline), deadline),
    ),
    /** The page of a query, all of it from one version of the table. */
    page: (query: Plan, deadline: number): ListPage => page.deferred(query, deadline),
    rows: (ids: readonly bigint[]): Uint8Array => jsonOfRows(ids),
  }
}

/** A task of a read worker. */
export type ListTask = { readonly resource: string } & (
  | { readonly query: Plan; readonly maxMs?: number }
  | { readonly query: Plan; readonly after: bigint }
  | { readonly query: Plan; readonly fields: readonly string[]; readonly share: number }
  | { readonly ids: readonly bigint[] }
)

/** Makes the function that runs a task on a connection. */
export const listReader = (
  database: Database,
  sql: ReadonlyMap<string, ListSql>,
  onPrepare?: (sql: string) => void,
) => {
  const lookFor = addContains(database)
  const lists = new Map([...sql].map(([resource, one]) => [resource, listsOf(database, one, lookFor, onPrepare)]))
  return (task: ListTask, timeLeftMs: number): ListPage | StreamPart | ValueCounts | Uint8Array => {
    const list = lists.get(task.resource) as ReturnType<typeof listsOf>
    if ('ids' in task) return list.rows(task.ids)
    const now = performance.now()
    if ('after' in task) return list.part(task.query, task.after, now + timeLeftMs)
    if ('share' in task) return list.valueCounts(task.query, task.fields, task.share, now + timeLeftMs)
    return list.page(task.query, now + Math.min(task.maxMs ?? timeLeftMs, timeLeftMs))
  }
}
