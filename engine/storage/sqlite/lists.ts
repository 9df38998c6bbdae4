/** Reads the pages of searches and filters, whose cost grows with the table: in steps, so that a deadline can end them. */
import type { Database, Statement } from 'better-sqlite3'
import { type LargePage, largePage, pageHead, type SizedRow } from '../largePage.js'
import type { Plan } from '../plan.js'
import { pageStart, type TableState } from './blocks.js'
import {
  addContains,
  containsSql,
  DeadlineExceeded,
  matchExpression,
  needleOf,
  probeSql,
  trigramsOf,
} from './search.js'
import { type Finder, type Matches, matchInSteps } from './steps.js'

/** The SQL that the lists of one resource are made of; plain data, so that it can be sent to a worker. */
export interface ListSql {
  readonly table: string
  readonly searchIndex: string
  /** The table's state: version, rows, first id, last id, and whether any row is long. */
  readonly state: string
  /** The blocks of ids, with how many rows each has. */
  readonly blocks: string
  /** The text that is searched. */
  readonly text: string
  /** The condition of each filter, with one parameter. */
  readonly filters: Readonly<Record<string, string>>
  /** The JSON of the rows whose ids are given as a JSON array, in order. */
  readonly rows: string
}

/** A page: its bytes, or for a large one which rows it holds. */
export type ListPage = { readonly version: string } & ({ readonly bytes: Uint8Array } | LargePage)

/** A filter that matches fewer rows than this leads to them sooner than the search index does. */
const fewRows = 2_000

/** Ids as a JSON array; not by JSON.stringify(), because ids may exceed 2^53. */
const jsonOf = (ids: readonly bigint[]): string => `[${ids.join()}]`

/** Makes the functions that read the lists of one resource on a connection. */
const listsOf = (database: Database, sql: ListSql, lookFor: ReturnType<typeof addContains>) => {
  const statements = new Map<string, Statement>()
  const prepare = (text: string): Statement => {
    const statement = statements.get(text) ?? database.prepare(text)
    statements.set(text, statement)
    return statement
  }
  const value = (text: string, ...parameters: readonly unknown[]) => prepare(text).pluck().get(parameters)
  const readState = (): TableState => {
    const [version, rows, first, last, hasLongRows] = prepare(sql.state).raw().get() as [
      string,
      number,
      number,
      number,
      number,
    ]
    return { version, rows, first, last, hasLongRows: hasLongRows === 1 }
  }
  const readBlocks = () => prepare(sql.blocks).raw().all() as [number, number][]

  /** The filter that matches the fewest rows, if one matches few. */
  const drivingFilter = (filters: Plan['filters']) =>
    Object.entries(filters)
      .map(([name, given]) => {
        const counted = `select count(*) from (select 1 from ${sql.table} where ${sql.filters[name]} limit ${fewRows})`
        return { name, rows: Number(value(counted, given)) }
      })
      .sort((a, b) => a.rows - b.rows)[0]

  /** Chooses the index that leads to the matching rows. */
  const finder = ({ by, q, filters }: Plan, { first, last }: TableState, deadline: number): Finder => {
    const needle = needleOf(q)
    lookFor(needle, deadline)
    const trigrams = trigramsOf(needle.folded)
    const driver = drivingFilter(filters)
    const isIndexed = by === 'search' && (driver === undefined || driver.rows >= fewRows)
    const index = sql.searchIndex
    const probe = (match: string, from: bigint) => value(probeSql(index), match, from) as number | null
    const match = isIndexed ? [matchExpression(trigrams, [first ?? 0, last ?? 0], probe)] : []
    const source = isIndexed ? `${index} cross join ${sql.table} on id = ${index}.rowid` : sql.table
    const given = Object.entries(filters)
    // A plus keeps SQLite from using the index of a filter that does not lead.
    const conditions = given.map(([name]) => `${isIndexed || name !== driver?.name ? '+' : ''}${sql.filters[name]}`)
    const range = isIndexed ? `${index} match ? and ${index}.rowid between ? and ?` : 'id between ? and ?'
    const matching = `from ${source} where ${[range, ...conditions].join(' and ')}`
    const inOrder = `${matching} order by ${isIndexed ? `${index}.rowid` : 'id'}`
    // The limit keeps SQLite from merging the two queries, which would compute the text again for each part of the test.
    const containing = (selected: string) =>
      `from (select ${selected}${sql.text} as text ${selected === '' ? matching : inOrder} limit -1) where ${containsSql}`
    const ids = prepare(`select id ${q === '' ? inOrder : containing('id, ')}`)
      .pluck()
      .safeIntegers()
    const count = prepare(`select count(*) ${q === '' ? matching : containing('')}`).pluck()
    const [values, searched] = [given.map(([, filter]) => filter), q === '' ? [] : needle.parameters]
    const bound = (from: bigint, to: bigint) => [...match, from, to, ...values, ...searched]
    return {
      ids: (from, to) => ids.all(bound(from, to)) as bigint[],
      count: (from, to) => count.get(bound(from, to)) as number,
    }
  }

  const matchesOf = (query: Plan, state: TableState, deadline: number): Matches => {
    if (query.by !== 'all') {
      return matchInSteps(readBlocks(), query, deadline, finder(query, state, deadline))
    }
    const { first, skip } = pageStart(state, query.offset, readBlocks)
    const page = prepare(`select id from ${sql.table} where id >= ? order by id limit ? offset ?`)
    const ids = page
      .pluck()
      .safeIntegers()
      .all([first, BigInt(query.limit), skip]) as bigint[]
    return { ids, total: state.rows }
  }

  /** The sizes of some rows; to read them takes milliseconds each where they are long. */
  const sizesOf = (ids: string, deadline: number): SizedRow[] => {
    const rows: SizedRow[] = []
    const sizes = prepare(`select id, octet_length(row) from (${sql.rows})`).raw().safeIntegers()
    for (const [id, bytes] of sizes.iterate([ids]) as IterableIterator<[bigint, bigint]>) {
      if (performance.now() > deadline) throw new DeadlineExceeded()
      rows.push({ id, bytes: Number(bytes) })
    }
    return rows
  }

  const pageOf = (query: Plan, deadline: number): ListPage => {
    const state = readState()
    const { ids, total } = matchesOf(query, state, deadline)
    const { version } = state
    const tail = `],"meta":{"total":${total},"limit":${query.limit},"offset":${query.offset}}}`
    const given = jsonOf(ids)
    if (state.hasLongRows) {
      const rows = sizesOf(given, deadline)
      if (rows.reduce((sum, { bytes }) => sum + bytes, 0) > largePage) return { version, rows, tail }
    }
    const body = `select cast(concat(?, (select group_concat(row, ',') from (${sql.rows})), ?) as blob)`
    return { version, bytes: value(body, pageHead, given, tail) as Buffer }
  }

  const page = database.transaction(pageOf)
  return {
    /** The page of a query, all of it from one version of the table. */
    page: (query: Plan, deadline: number): ListPage => page.deferred(query, deadline),
    /** The JSON of some rows, joined by commas. */
    rows: (ids: readonly bigint[]): Uint8Array =>
      value(`select cast(coalesce(group_concat(row, ','), '') as blob) from (${sql.rows})`, jsonOf(ids)) as Buffer,
  }
}

/** What can be read of a resource's lists. */
export type ListTask = { readonly resource: string } & (
  | { readonly query: Plan; readonly maxMs: number }
  | { readonly ids: readonly bigint[] }
)

/** Makes the function that runs a task on a connection. */
export const listReader = (database: Database, sql: ReadonlyMap<string, ListSql>) => {
  const lookFor = addContains(database)
  const lists = new Map([...sql].map(([resource, one]) => [resource, listsOf(database, one, lookFor)]))
  return (task: ListTask, timeLeftMs: number): ListPage | Uint8Array => {
    const list = lists.get(task.resource)
    if (!list) throw new TypeError(`no lists of ${task.resource}`)
    if ('ids' in task) return list.rows(task.ids)
    return list.page(task.query, performance.now() + Math.min(task.maxMs, timeLeftMs))
  }
}
