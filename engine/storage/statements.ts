/** Every statement a resource needs, written by knex when the registry is loaded. */
import type { Knex } from 'knex'
import { filterFields, type Registry, type Resource, searchedFields } from '../descriptor/registry.js'
import { compile, type Statement, slot } from './slots.js'
import { tableOf } from './tables.js'

/** Looks for what a new row must find (a reference) or must not find (a value that is unique). */
export interface Check {
  readonly type: 'reference' | 'unique'
  readonly field: string
  /** The fields it reads; it has nothing to say where one of them is null or missing. */
  readonly reads: readonly string[]
  readonly statement: Statement
}

export interface Statements {
  readonly get: Statement
  readonly insert: Statement
  readonly checks: readonly Check[]
  /** The page of all rows. */
  readonly all: Statement
  /** The page that an index on one filter leads to, whatever other filters there are; the best leader comes first. */
  readonly filtered: ReadonlyMap<string, Statement>
  /** The page of the rows that contain a text, whatever filters there are. */
  readonly search: Statement
}

type Narrow = (query: Knex.QueryBuilder) => Knex.QueryBuilder

/** The row as JSON, its keys in the descriptor's order; a redacted column is never even read. */
const rowJson = (knex: Knex, resource: Resource): Knex.Raw => {
  const pairs = resource.fields.map(({ name, redacted }) => `'${name}', ${redacted ? 'null' : '??'}`)
  const columns = resource.fields.filter((field) => !field.redacted).map((field) => field.name)
  return knex.raw(`json_object(${pairs.join(', ')})`, columns)
}

/** The whole body of a list, written by the database: the page and the count of all that match. */
const page = (knex: Knex, resource: Resource, narrow: Narrow): Statement => {
  // knex's own limit() takes numbers only, so the bounds are put behind the SQL it writes.
  const rows = narrow(knex(resource.table).select({ row: rowJson(knex, resource) }))
    .orderBy('id')
    .toSQL()
  const count = narrow(knex(resource.table).count()).toSQL()
  const [limit, offset, shownOffset] = ['limit', 'offset', 'shownOffset'].map((name) => slot(knex, name))
  return compile(
    knex.raw(
      `select cast('{"data":['
        || coalesce((select group_concat(row, ',') from (${rows.sql} limit ? offset ?)), '')
        || '],"meta":{"total":' || (${count.sql}) || ',"limit":' || ? || ',"offset":' || ? || '}}' as blob)`,
      [...rows.bindings, limit, offset, ...count.bindings, limit, shownOffset] as never,
    ),
  )
}

const equals =
  (knex: Knex, field: string): Narrow =>
  (query) =>
    query.where(field, slot(knex, field))

/** A filter that may not have been given: nothing is bound for it then. */
const equalsIfGiven =
  (knex: Knex, field: string): Narrow =>
  (query) =>
    query.whereRaw('(? is null or ?? = ?)', [slot(knex, field), field, slot(knex, field)] as never)

const contains =
  (knex: Knex, resource: Resource): Narrow =>
  (query) => {
    const columns = searchedFields(resource).map((field) => field.name)
    const joined = `concat_ws(' '${', ??'.repeat(columns.length)})`
    return query.whereRaw(`instr(fold(${joined}), ?) > 0`, [...columns, slot(knex, 'q')] as never)
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
  const columns = resource.fields.map((field) => field.name).filter((name) => name !== 'id')
  const filters = filterFields(resource)
  // A reference finds fewer rows than a status does, so it leads where both are given.
  const leaders = [...filters.filter((field) => field.references), ...filters.filter((field) => !field.references)]
  const names = filters.map((field) => field.name)
  const narrowBy =
    (...steps: Narrow[]): Narrow =>
    (query) =>
      steps.reduce((narrowed, step) => step(narrowed), query)
  return {
    get: compile(
      knex(resource.table)
        .select({ row: knex.raw('cast(? as blob)', [rowJson(knex, resource)]) })
        .where('id', slot(knex, 'id')),
    ),
    insert: compile(knex(resource.table).insert(Object.fromEntries(columns.map((name) => [name, slot(knex, name)])))),
    checks: checksOf(knex, registry, resource),
    all: page(knex, resource, (query) => query),
    filtered: new Map(
      leaders.map(({ name }) => {
        const others = names.filter((other) => other !== name).map((other) => equalsIfGiven(knex, other))
        return [name, page(knex, resource, narrowBy(equals(knex, name), ...others))]
      }),
    ),
    search: page(knex, resource, narrowBy(contains(knex, resource), ...names.map((name) => equalsIfGiven(knex, name)))),
  }
}
