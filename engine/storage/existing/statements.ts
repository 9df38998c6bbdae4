/** The statements of a table that has nothing but its columns, for any database: every one counts, sorts or scans by itself. */
import type { Knex } from 'knex'
import { kindOf, servedValue } from '../../descriptor/kinds.js'
import { orderName, type Position } from '../../descriptor/listQuery.js'
import { operatorOf } from '../../descriptor/operators.js'
import { type Field, type Registry, type Resource, searchedFields } from '../../descriptor/registry.js'
import { buildOnce, compile, parameter, type Statement } from '../bindings.js'
import { conflictsQuery } from '../conflicts.js'
import { excerptLength, maxValueBytes } from '../dialect.js'
import type { CatalogueTable } from '../migration/catalogue.js'
import { bindPosition, orderBy, partsAfter } from '../order.js'
import type { Plan } from '../plan.js'
import { referrersTo, type WriteSql } from '../referencing.js'
import { findField, ownSources, quoted, type Sources } from '../schema.js'
import type { CountSize } from '../storage.js'
import { type ColumnSql, escapedName, type PlainRunner, type PlainSql } from './dialect.js'

/** The most rows that one statement returns for a download. */
export const maxRows = 500

/** The columns of a table, by field. */
type Columns = ReadonlyMap<string, ColumnSql>

/** The statements of one resource; those of lists are built on first use. */
const plainStatements = (
  sql: PlainSql,
  registry: Registry,
  resource: Resource,
  sources: Sources,
  writeSql: WriteSql,
) => {
  const { knex } = sql
  const source = sources(resource)
  const raw = (text: string, ...bindings: unknown[]): Knex.Raw => knex.raw(text, bindings as never)
  const named = (name: string, type?: string): Knex.Raw => parameter(knex, name, type)
  /** knex puts a query in parentheses, which SQLite does not take everywhere. */
  const unwrapped = (query: Knex.QueryBuilder): Knex.Raw => {
    const { sql: text, bindings } = query.toSQL()
    return raw(text, ...bindings)
  }
  const rowId = named('id', 'bigint')
  const json = sql.rowJson(resource)
  const comparison = { indexKey: (_: Field, value: string) => value, typeOf: sql.typeOf }
  const texts = searchedFields(resource).map(({ name }) => `coalesce(octet_length(${quoted(name)}), 0)`)
  const size = ['0', ...texts].join(' + ')

  /** The rows that match a plan. */
  const matching = ({ where, search }: Pick<Plan, 'where' | 'search'>): Knex.QueryBuilder => {
    const from = search === '' ? raw(source) : sql.withText(source, resource)
    const query: Knex.QueryBuilder = knex.fromRaw(raw('? as _t', from) as never)
    // First, because SQLite tests conditions in this order, and those after one that fails not at all.
    if (sql.inTime) query.whereRaw(sql.inTime)
    for (const [n, { field: name, operator, value }] of where.entries()) {
      const field = findField(resource, name)
      const { sql: template, option, operand } = operatorOf(operator)
      const type = sql.typeOf(field)
      const text = template(value)
        .replace('in (?)', () => sql.isIn)
        .replace('??', () => (option === 'range' ? sql.sortKey(field) : quoted(name)))
      const bound = operand === 'list' ? named(`condition${n}`) : named(`condition${n}`, type)
      query.whereRaw(text, (operand === 'boolean' ? [] : [bound]) as never)
    }
    if (search !== '') query.where(sql.contains(search))
    return query
  }
  /** The next rows: their ids, keys and JSON, which is null once those before have `bytes`. */
  const rows = (plan: Plan, after: Position | undefined): Knex.Raw => {
    const { order } = plan
    const field = findField(resource, order.field)
    const key = sql.sortKey(field)
    const found = matching(plan).select('_t.*', raw(`${key} as _k`))
    if (after) {
      const parts = partsAfter(key, 'id', order, after).map((part) => `(${part})`)
      const position = [named('afterValue', sql.typeOf(field)), named('afterId', 'bigint')] as const
      const [condition, bindings] = bindPosition(parts.join(' or '), ...position)
      found.whereRaw(`(${condition})`, bindings as never)
    }
    const by = orderBy(order, '_k')
    const bounds = [named('limit', 'bigint'), named('skip', 'bigint')]
    const limited = raw(`? order by ${orderBy(order, key)} limit ? offset ?`, unwrapped(found), ...bounds)
    const before = `sum(${size}) over (order by ${by} rows unbounded preceding) - (${size})`
    const sized = raw(`select *, ${before} as _before from (?) as _t`, limited)
    const shown = `case when _before < ? then ${json} end as _json`
    return raw(`select id, _k, ${shown} from (?) as _t order by ${by}`, named('bytes', 'bigint'), sized)
  }
  const keyed = ({ order }: Plan) => sql.keyText(findField(resource, order.field), '_k')
  const page = (plan: Plan, after: Position | undefined): Knex.Raw =>
    raw(
      `select (?), id, ${keyed(plan)}, _json from (select 1) as _one left join (?) as _page on true order by ${orderBy(plan.order, '_k')}`,
      unwrapped(matching(plan).count()),
      rows(plan, after),
    )
  const next = (plan: Plan, after: Position | undefined): Knex.Raw =>
    raw(`select id, ${keyed(plan)}, _json from (?) as _page order by ${orderBy(plan.order, '_k')}`, rows(plan, after))

  const served = (name: string): string => servedValue(sql.columnOf(findField(resource, name).kind), quoted(name))
  /** The number of rows, and the most frequent values of each field: rows of field, value and count. */
  const valueCounts = (plan: Plan, fields: readonly string[], { share, maxValues }: CountSize): Knex.Raw => {
    const short = (name: string) =>
      kindOf(findField(resource, name).kind).isText
        ? `case when octet_length(${quoted(name)}) <= ${maxValueBytes} then ${served(name)} end`
        : served(name)
    const found = matching(plan).select(fields.map((name) => raw(`${short(name)} as ${quoted(name)}`)) as never[])
    const counts = fields.map(
      (name) => `select * from (select '${name}', cast(${quoted(name)} as text), count(*) from _rows
        where ${quoted(name)} is not null group by ${quoted(name)} order by 3 desc, 2 limit ${maxValues}) as _values`,
    )
    const all = ['select cast(null as text), cast(null as text), count(*) from _rows', ...counts].join(' union all ')
    // Rows from all over the table, the same ones each time.
    if (share < 1) found.whereRaw('abs(id % 1000) < ?', [named('permille', 'bigint')] as never)
    return raw(`with _rows as (?) ${all}`, unwrapped(found))
  }
  const excerpts = (fields: readonly string[]): Knex.Raw => {
    const values = fields.map((name) => {
      const field = findField(resource, name)
      const column = { ...sql.columnOf(field.kind), json: (key: string) => sql.keyText(field, key) }
      const value = servedValue(column, quoted(name))
      return kindOf(field.kind).isText ? `substr(${value}, 1, ${excerptLength})` : value
    })
    return raw(`select ${['id', ...values].join(', ')} from ${source} as _t where id ${sql.isIn}`, named('ids'))
  }

  const table = escapedName(resource.table)
  const column = (name: string) => escapedName(findField(resource, name).column)
  const idColumn = column('id')
  const typed = (name: string) => named(name, sql.typeOf(findField(resource, name)))
  const written = (name: string) => writeSql(resource, name)
  // The database sets a managed field without a value.
  const inserted = resource.fields.filter(({ managed }) => managed !== true).map(({ name }) => name)
  const values = inserted.length > 0 ? `(${inserted.map(column)}) values (${inserted.map(written)})` : 'default values'
  const returning = sql.returnsIds ? ` returning ${idColumn}` : ''

  const keep = buildOnce<Statement>()
  const once = (key: string, build: () => Knex.Raw): Statement => keep(key, () => compile(build()))
  /** What the SQL of a plan depends on. */
  const statementKey = ({ where, search, order }: Plan, after?: Position): string =>
    JSON.stringify([
      where.map(({ field, operator, value }) => [field, operatorOf(operator).sql(value)]),
      search === '' ? '' : sql.contains(search).toSQL().sql,
      orderName(order),
      after && (after.value === null ? 'null' : 'value'),
    ])

  return {
    count: compile(matching({ where: [], search: '' }).count()),
    page: (plan: Plan, after?: Position) => once(`page ${statementKey(plan, after)}`, () => page(plan, after)),
    next: (plan: Plan, after?: Position) => once(`next ${statementKey(plan, after)}`, () => next(plan, after)),
    valueCounts: (plan: Plan, fields: readonly string[], size: CountSize) =>
      once(`values ${statementKey(plan)} ${size.share < 1} ${size.maxValues} ${fields}`, () =>
        valueCounts(plan, fields, size),
      ),
    excerpts: (fields: readonly string[]) => once(`excerpts ${fields}`, () => excerpts(fields)),
    get: compile(raw(`select ${json} as _row from ${source} as _t where id = ?`, rowId)),
    lock: compile(raw(`select ${json} from ${source} as _t where id = ? for update`, rowId)),
    conflicts: compile(conflictsQuery(knex, registry, resource, 'all', comparison, sources)),
    referrers: referrersTo(sql, registry, resource, writeSql),
    insert: compile(raw(`insert into ${table} ${values}${returning}`, ...inserted.map((name) => named(name)))),
    /** Finds the conflicts of an update, and makes it if it changes a value: `stamps` only then. */
    update(names: readonly string[], stamps: readonly string[]) {
      const changed = [...names, ...stamps]
      const set = changed.map((name) => `${column(name)} = ${written(name)}`).join(', ') || `${idColumn} = ${idColumn}`
      const differs = names.map((name) => `${quoted(name)} is distinct from ?`).join(' or ') || '1 = 0'
      const before = `select 1 from ${source} as _t where id = ? and (${differs})`
      const update = `update ${table} set ${set} where ${idColumn} = ? and exists (${before})`
      return {
        conflicts: compile(conflictsQuery(knex, registry, resource, names, comparison, sources)),
        change: compile(raw(update, ...changed.map((name) => named(name)), rowId, rowId, ...names.map(typed))),
      }
    },
    delete: compile(raw(`delete from ${table} where ${idColumn} = ?`, rowId)),
  }
}

export type PlainStatements = ReturnType<typeof plainStatements>

/** The tables that are served as they are, by resource, as the database describes them. */
export type PlainTables = ReadonlyMap<Resource, CatalogueTable | undefined>

/** The sources of all resources, and the statements of those whose tables are served as they are. */
export const plainResources = (sql: PlainSql, registry: Registry, tables: PlainTables) => {
  const readColumns = (resource: Resource): Columns => {
    const types = new Map(tables.get(resource)?.columns.map(({ name, type }) => [name, type]))
    return new Map(resource.fields.map((field) => [field.name, sql.columnSql(field, types.get(field.column) ?? '')]))
  }
  const columns = new Map([...tables.keys()].map((resource) => [resource, readColumns(resource)]))
  /** The table as a query whose columns are the fields; a redacted column is never read. */
  const sources: Sources = (resource) => {
    const own = columns.get(resource)
    if (!own) return ownSources(resource)
    const shown = resource.fields.filter(({ redacted }) => !redacted)
    const selected = shown.map(({ name }) => `${own.get(name)?.read} as ${quoted(name)}`)
    const isRow = sql.hasId(escapedName(findField(resource, 'id').column))
    return `(select ${selected.join(', ')} from ${escapedName(resource.table)} where ${isRow})`
  }
  const writeSql: WriteSql = (resource, field) => columns.get(resource)?.get(field)?.write ?? '?'
  const statementsFor = (resource: Resource, own = sql): PlainStatements =>
    plainStatements(own, registry, resource, sources, writeSql)
  return {
    sources,
    writeSql,
    statementsFor,
    /** How many rows a table has. */
    async count(resource: Resource, read: PlainRunner['read']): Promise<number> {
      const [row] = await read(statementsFor(resource).count, {})
      return Number(row?.[0])
    },
  }
}
