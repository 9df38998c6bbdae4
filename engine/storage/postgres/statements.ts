/** The SQL of a resource on PostgreSQL; statements for filters and searches are built on first use. */
import type { Knex } from 'knex'
import type { Field, Registry, Resource } from '../../descriptor/registry.js'
import { compile, parameter } from '../bindings.js'
import { largePage, pageHead } from '../largePage.js'
import { quoted, statesTable, tableNameOf } from '../schema.js'
import type { Conflict } from '../storage.js'
import { type Prepared, prepared } from './connections.js'
import { blockBits, blocksTable } from './functions.js'
import { storeKey } from './keys.js'
import { columnTypes, isIndexed, jsonColumn, keyOf, searchedColumn } from './schema.js'
import { containsSql, type SearchPlan } from './search.js'

/** The conditions of a list. */
export interface Conditions {
  /** The given filters; true for a text that is too long for the filter's index. */
  readonly filters: ReadonlyMap<string, boolean>
  readonly search: SearchPlan | undefined
}

export interface Statements {
  /** The table's version, the number of its change rows, and its row count; every read begins with these columns. */
  readonly version: Prepared
  /** Merges change rows into one; version and row count stay the same. */
  readonly compactChanges: Prepared
  readonly compactBlocks: Prepared
  readonly get: Prepared
  /** The JSON of some rows, given by their ids joined by commas. */
  readonly rows: Prepared
  /** The first page of all rows, and any other. */
  readonly first: Prepared
  readonly further: Prepared
  matching(conditions: Conditions): Prepared
  /** The checks, by the numbers that `conflicts` and `create` return. */
  readonly checks: readonly Conflict[]
  readonly conflicts: Prepared
  readonly create: Prepared
  /** The same, and stores the idempotency key. */
  readonly createWithKey: Prepared
  /** Moves the sequence past the last id, for rows that were inserted with ids of their own. */
  readonly advanceSequence: Prepared
}

/** The statements of one resource. */
export const statementsOf = (knex: Knex, registry: Registry, resource: Resource): Statements => {
  const table = quoted(resource.table)
  /** Prepares SQL with named parameters such as `:limit`. */
  const named = (sql: string): Prepared => {
    const names = [...sql.matchAll(/(?<!:):([a-z_][a-z0-9_]*)/gi)].map(([, name]) => name as string)
    const marked = sql.replaceAll(/(?<!:):[a-z_][a-z0-9_]*/gi, '?')
    return prepared(compile(knex.raw(marked, names.map((name) => parameter(knex, name)) as never)))
  }
  const state = `state as materialized (select to_hex(bit_xor(state)) as tag, coalesce(sum(rows), 0) as total,
    count(*) as changes from ${statesTable} where name = '${resource.table}')`
  /**
   * Ends a statement: the version, and the body of a page given as ids and rows of JSON. Of a large page the rows are only
   * listed, each as `id:size`, with the JSON that follows them.
   */
  const body = (page: string, total: string) =>
    `, page as materialized (${page}),
    size as materialized (select coalesce(sum(octet_length(${jsonColumn})), 0) > ${largePage} as is_large from page),
    tail as materialized (select concat('],"meta":{"total":', ${total}, ',"limit":', :limit::bigint, ',"offset":', :shownOffset::text,
      '}}') as json from state)
    select tag, changes, total,
      case when not is_large then concat('${pageHead}', (select string_agg(${jsonColumn}, ',' order by id) from page), tail.json) end,
      case when is_large then (select string_agg(id || ':' || octet_length(${jsonColumn}), ',' order by id) from page) end,
      case when is_large then tail.json end
      from state, size, tail`
  const rows = `select id, ${jsonColumn} from ${table}`
  /** An array, so that rows are looked up by id whatever the server estimates. */
  const rowsFound = `${rows} where id = any(array(select id from found)) order by id`
  const fieldOf = (name: string) => resource.fields.find((field) => field.name === name) as Field

  // Where no id is missing, the offset is a key. Otherwise the page begins in the last block with at most `offset` rows before it.
  const further = `with ${state},
    bounds as materialized (select min(id) as first,
      max(id) - min(id) + 1 = (select total from state) and :offset::bigint < (select total from state) as is_key from ${table}),
    blocks as materialized (select block, sum(rows) as rows from ${blocksTable} where name = '${resource.table}' group by block),
    places as materialized (select block << ${blockBits} as first, :offset::bigint - (sum(rows) over (order by block) - rows) as skip
      from blocks),
    place as materialized (select first, skip::bigint from places where skip >= 0 order by first desc limit 1),
    start as materialized (select
      case when is_key then first + :offset::bigint else (select first from place) end as first,
      case when is_key then 0 else (select skip from place) end as skip from bounds),
    found as materialized (select id from ${table} where id >= (select first from start)
      order by id limit :limit offset (select skip from start))
    ${body(rowsFound, 'total')}`

  const matching = ({ filters, search }: Conditions): Prepared => {
    const conditions = [...filters].map(([name, isLong]) => {
      const indexed = isLong ? undefined : isIndexed(fieldOf(name))
      return `${quoted(name)} = :${name}${indexed ? ` and ${indexed}` : ''}`
    })
    if (search && search.test !== 'none') conditions.unshift(containsSql(searchedColumn, search.test))
    if (search?.isIndexed) conditions.unshift(`${searchedColumn} like :searchPattern`)
    const matching = `from ${table} where ${conditions.join(' and ')}`
    const bounded = 'order by id limit :limit offset :offset'
    // The count needs all matches, so the page is taken from them.
    if (search) {
      return named(`with ${state}, matches as materialized (select id ${matching}),
        found as materialized (select id from matches ${bounded})
        ${body(rowsFound, '(select count(*) from matches)')}`)
    }
    // A page that is not full is the last one, so the total follows from it, unless the offset is past the end.
    const total = `(select case when count(*) < :limit::bigint and (count(*) > 0 or :offset::bigint = 0)
      then :offset::bigint + count(*) else (select count(*) ${matching}) end from found)`
    return named(`with ${state}, found as materialized (select id ${matching} ${bounded}) ${body(rowsFound, total)}`)
  }
  const built = new Map<string, Prepared>()

  const checks = resource.fields.flatMap(({ name: field, references, unique }) => [
    ...(references ? [{ type: 'reference' as const, field }] : []),
    ...(unique ? [{ type: 'unique' as const, field }] : []),
  ])
  const isConflict = ({ type, field }: Conflict): string => {
    const { references = '', unique = [] } = fieldOf(field)
    if (type === 'reference') {
      const target = quoted(tableNameOf(registry, references))
      return `:${field}::bigint is not null and not exists (select from ${target} where id = :${field}::bigint)`
    }
    const same = [...unique, field].map(fieldOf).map((column) => {
      const value = `:${column.name}::${columnTypes[column.kind]}`
      return `${keyOf(column)} = ${keyOf(column, value)}`
    })
    return `exists (select from ${table} where ${same.join(' and ')})`
  }
  const conflicts = [
    'select null::int as nth where false',
    ...checks.map((check, nth) => `select ${nth} where ${isConflict(check)}`),
  ].join(' union all ')
  const columns = resource.fields.filter(({ name }) => name !== 'id')
  const create = (beside = '') => `with conflicts as materialized (${conflicts}),
    made as (insert into ${table} (${columns.map(({ name }) => quoted(name)).join(', ')})
      select ${columns.map(({ name, kind }) => `:${name}::${columnTypes[kind]}`).join(', ')}
      where not exists (select from conflicts) returning id, ${jsonColumn})${beside}
    select (select string_agg(nth::text, ',' order by nth) from conflicts), (select id from made), (select ${jsonColumn} from made)`
  const sequence = `pg_get_serial_sequence('${table}', 'id')`

  const own = `name = '${resource.table}'`
  /** Deletes rows that no other process has locked; their sum replaces them. */
  const deleted = (
    from: string,
    where: string,
    columns: string,
  ) => `deleted as (delete from ${from} where ctid = any(array(
    select ctid from ${from} where ${where} for update skip locked)) returning ${columns})`

  return {
    version: named(`with ${state} select tag, changes, total from state`),
    compactChanges: named(`with ${deleted(statesTable, own, 'rows, state')}
      insert into ${statesTable} select '${resource.table}', sum(rows), bit_xor(state) from deleted having count(*) > 0`),
    compactBlocks:
      named(`with many as (select block from ${blocksTable} where ${own} group by block having count(*) > 1),
      ${deleted(blocksTable, `${own} and block in (select block from many)`, 'block, rows')}
      insert into ${blocksTable} select '${resource.table}', block, sum(rows) from deleted group by block having sum(rows) <> 0`),
    get: named(
      `with ${state} select tag, changes, total, (select ${jsonColumn} from ${table} where id = :id) from state`,
    ),
    rows: named(
      `select string_agg(${jsonColumn}, ',' order by id) from ${table} where id = any(string_to_array(:ids, ',')::bigint[])`,
    ),
    first: named(`with ${state} ${body(`${rows} order by id limit :limit`, 'total')}`),
    further: named(further),
    matching(conditions) {
      const key = JSON.stringify([[...conditions.filters], conditions.search])
      const statement = built.get(key) ?? matching(conditions)
      built.set(key, statement)
      return statement
    },
    checks,
    conflicts: named(`select string_agg(nth::text, ',' order by nth) from (${conflicts}) as conflicts`),
    create: named(create()),
    createWithKey: named(create(storeKey(jsonColumn))),
    advanceSequence: named(`select setval(${sequence}, max(id)) from ${table}
      having max(id) > coalesce(pg_sequence_last_value(${sequence}::regclass), 0)`),
  }
}
