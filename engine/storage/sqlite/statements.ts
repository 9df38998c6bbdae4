/** Every statement a resource needs on SQLite, written when the registry is loaded. */
import type { Knex } from 'knex'
import { filterFields, type Registry, type Resource } from '../../descriptor/registry.js'
import { compile, type Statement, slot } from '../slots.js'
import { quoted, tableOf } from '../tables.js'
import { blocksTable, jsonIndex, rowJson, searchedText, searchTable, statesTable } from './schema.js'

/** Looks for what a new row must find (a reference) or must not find (a value that is unique). */
export interface Check {
  readonly type: 'reference' | 'unique'
  readonly field: string
  /** The fields it reads; it has nothing to say where one of them is null or missing. */
  readonly reads: readonly string[]
  readonly statement: Statement
}

export interface Statements {
  /** The table's state and count, and its first and last id. */
  readonly state: Statement
  /** The blocks of ids, with how many rows each has. */
  readonly blocks: Statement
  readonly get: Statement
  readonly insert: Statement
  readonly checks: readonly Check[]
  /** The page of all rows from an id on. */
  readonly all: Statement
  /** The page that an index on one filter leads to, whatever other filters there are; the best leader comes first. */
  readonly filtered: ReadonlyMap<string, Statement>
  /** The same where there is no other: a third less to do for each row that is counted. */
  readonly filteredAlone: ReadonlyMap<string, Statement>
  /** The page where a filter's index, or that of some trigrams, leads to few rows; null where it leads to more. */
  readonly fewFiltered: ReadonlyMap<string, Statement>
  readonly fewFound: Statement
  /** The page of the rows that contain a text: by the search index alone, with more to hold them against, and without it. */
  readonly search: Statement
  readonly searchFurther: Statement
  readonly scan: Statement
  /** The text that is searched of the first row from an id on. */
  readonly sample: Statement
}

/** A query for ids, asked twice: for the page and for the count. */
type Ids = () => Knex.QueryBuilder

/** Leaves of the rows of a query those that have everything that was asked for. */
type Held = (query: Knex.QueryBuilder) => Knex.QueryBuilder

/** SQLite plans a statement anew for every new value of a bare limit; behind a cast it takes the value as it comes. */
const bounded = 'limit cast(? as integer) offset cast(? as integer)'

/** So many rows are few: looking at each of them takes no longer than asking another thread would. */
const few = 200

/** What a statement has found so far; no resource's table begins like them. */
const [candidates, found] = ['registry_candidates', 'registry_found']

/** The parts that the statements of one resource are made of. */
const partsOf = (knex: Knex, resource: Resource) => {
  const { table } = resource
  const slots = (...names: string[]) => names.map((name) => slot(knex, name))
  const state = (column: 'state' | 'rows') => `(select ${column} from ${statesTable} where name = '${table}')`
  // Told outright to read the JSON from its index: SQLite would rather compute it anew for a handful of rows.
  const rows = `select ${rowJson(knex, resource)} as row from ${quoted(table)} indexed by ${jsonIndex(resource)}`
  const body = (data: string, total: string) =>
    `cast(concat('{"data":[', (select group_concat(row, ',') from (${data})),
      '],"meta":{"total":', ${total}, ',"limit":', ?, ',"offset":', ?, '}}') as blob)`
  const meta = slots('limit', 'shownOffset')

  /** The ids of the page come first, from an index that holds little else; their rows are then looked up. */
  const pageOf = (ids: Ids, id = 'id'): Statement => {
    const first = ids().select({ id }).orderBy(id).toSQL()
    const counted = ids().count().toSQL()
    // A page that is not full is the last one, and tells the total by itself, unless it lies past the end.
    const total = `case when (select count(*) from ${found}) between (? > 0) and ? - 1
      then ? + (select count(*) from ${found}) else (${counted.sql}) end`
    return compile(
      knex.raw(
        `with ${found} as materialized (${first.sql} ${bounded}) select ${state('state')},
          ${body(`${rows} where id in (select id from ${found}) order by id`, total)}`,
        [
          ...first.bindings,
          ...slots('limit', 'offset', 'offset', 'limit', 'offset'),
          ...counted.bindings,
          ...meta,
        ] as never,
      ),
    )
  }
  /** The same where an index leads to few rows: those are looked at, one by one. Where it leads to more there is no page. */
  const fewOf = (held: Held) => {
    const kept = held(knex(table).select('id').whereRaw(`id in (select id from ${candidates})`))
      .orderBy('id')
      .toSQL()
    const page = body(
      `${rows} where id in (select id from ${found} ${bounded}) order by id`,
      `(select count(*) from ${found})`,
    )
    return (leading: Knex.QueryBuilder, id = 'id'): Statement => {
      const led = leading.select({ id }).toSQL()
      return compile(
        knex.raw(
          `with ${candidates} as materialized (${led.sql} limit ${few + 1}), ${found} as materialized (${kept.sql})
            select ${state('state')}, case when (select count(*) from ${candidates}) <= ${few} then ${page} end`,
          [...led.bindings, ...kept.bindings, ...slots('limit', 'offset'), ...meta] as never,
        ),
      )
    }
  }
  const all = compile(
    knex.raw(`select ${state('state')}, ${body(`${rows} where id >= ? order by id ${bounded}`, state('rows'))}`, [
      ...slots('first', 'limit', 'skip'),
      ...meta,
    ] as never),
  )
  const get = compile(
    knex.raw(`select ${state('state')}, (select cast(row as blob) from (${rows} where id = ?))`, slots('id') as never),
  )
  const bounds = compile(
    knex.raw(
      `select ${state('state')}, ${state('rows')}, (select min(id) from ${quoted(table)}), (select max(id) from ${quoted(table)})`,
    ),
  )
  return { pageOf, fewOf, all, get, bounds }
}

const checksOf = (knex: Knex, registry: Registry, resource: Resource): Check[] =>
  resource.fields.flatMap(({ name: field, references, unique }) => {
    const checks: Check[] = []
    if (references) {
      const found = knex(tableOf(registry, references)).select(knex.raw('1')).where('id', slot(knex, field))
      checks.push({ type: 'reference', field, reads: [field], statement: compile(found) })
    }
    if (unique) {
      const reads = [...unique, field]
      const taken = knex(resource.table).select(knex.raw('1'))
      for (const name of reads) taken.where(name, slot(knex, name))
      checks.push({ type: 'unique', field, reads, statement: compile(taken) })
    }
    return checks
  })

/** The statements of one resource. */
export const statementsOf = (knex: Knex, registry: Registry, resource: Resource): Statements => {
  const { pageOf, fewOf, all, get, bounds } = partsOf(knex, resource)
  const filters = filterFields(resource)
  const { table } = resource
  /** A filter that may not have been given: nothing is bound for it then. */
  const ifGiven = (query: Knex.QueryBuilder, names: readonly string[]): Knex.QueryBuilder =>
    names.reduce((sofar, name) => {
      const value = slot(knex, name)
      return sofar.whereRaw('(? is null or ?? = ?)', [value, `${table}.${name}`, value] as never)
    }, query)
  const names = filters.map((field) => field.name)
  const search = searchTable(resource)
  const matching = (what: 'phrase' | 'trigrams') =>
    knex(search).whereRaw('?? match ?', [search, slot(knex, what)] as never)
  const text = searchedText(knex, resource)
  /** Held against a pattern, and against the text itself where a pattern cannot tell; either may not be given. */
  const ifContained = (query: Knex.QueryBuilder): Knex.QueryBuilder => {
    const [anywhere, folded] = [slot(knex, 'anywhere'), slot(knex, 'folded')]
    return query
      .whereRaw(`(? is null or ${text} glob ?)`, [anywhere, anywhere] as never)
      .whereRaw(`(? is null or registry_contains(${text}, ?))`, [folded, folded] as never)
  }
  const held: Held = (query) => ifGiven(ifContained(query), names)
  const fewLedBy = fewOf(held)
  // The search index leads, row by row and in the order of the ids, so the first page needs no sorting.
  const further: Ids = () =>
    held(matching('phrase').joinRaw(`cross join ${quoted(table)} on ${quoted(table)}.id = ${search}.rowid`))
  // A reference finds fewer rows than a status does, so it leads where both are given.
  const leaders = [...filters.filter((field) => field.references), ...filters.filter((field) => !field.references)]
  const byLeader = (make: (name: string) => Statement) => new Map(leaders.map(({ name }) => [name, make(name)]))
  const filteredBy = (name: string) => knex(table).where(name, slot(knex, name))
  const othersThan = (name: string) => names.filter((other) => other !== name)
  const columns = resource.fields.map((field) => field.name).filter((name) => name !== 'id')
  return {
    state: bounds,
    blocks: compile(knex(blocksTable(resource)).select('block', 'rows').orderBy('block')),
    get,
    insert: compile(knex(resource.table).insert(Object.fromEntries(columns.map((name) => [name, slot(knex, name)])))),
    checks: checksOf(knex, registry, resource),
    all,
    filtered: byLeader((name) => pageOf(() => ifGiven(filteredBy(name), othersThan(name)))),
    filteredAlone: byLeader((name) => pageOf(() => filteredBy(name))),
    fewFiltered: byLeader((name) => fewLedBy(filteredBy(name))),
    fewFound: fewLedBy(matching('trigrams'), 'rowid'),
    search: pageOf(() => matching('phrase'), 'rowid'),
    searchFurther: pageOf(further, `${search}.rowid`),
    scan: pageOf(() => held(knex(table))),
    sample: compile(
      knex(table)
        .select({ text: knex.raw(text) })
        .where('id', '>=', slot(knex, 'id'))
        .orderByRaw('id limit 1'),
    ),
  }
}
