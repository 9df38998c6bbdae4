/** Every statement a resource needs on PostgreSQL; those of a list are written when they are first asked for. */
import type { Knex } from 'knex'
import type { Field, Registry, Resource } from '../../descriptor/registry.js'
import { compile, slot } from '../slots.js'
import type { Conflict } from '../storage.js'
import { quoted, tableNameOf } from '../tables.js'
import { type Prepared, prepared } from './connections.js'
import { blockBits, blocksTable, statesTable } from './functions.js'
import { keepKey } from './keys.js'
import { columnTypes, isIndexed, jsonColumn, keyOf, searchedColumn } from './schema.js'
import { containsSql, type SearchPlan } from './search.js'

/** What a list is narrowed down by. */
export interface Narrowing {
  /** The filters that were given; true for a text that is too long for their index. */
  readonly filters: ReadonlyMap<string, boolean>
  readonly search: SearchPlan | undefined
}

export interface Statements {
  /** The table's tag, of how many changes it is made up, and how many rows there are; all that read tell the same. */
  readonly look: Prepared
  /** Makes one change of all that are settled: the tag and the count stay what they were. */
  readonly gather: Prepared
  readonly gatherBlocks: Prepared
  readonly get: Prepared
  /** The first page of all rows, and any other. */
  readonly first: Prepared
  readonly further: Prepared
  narrowed(narrowing: Narrowing): Prepared
  /** What the numbers that `conflicts` and `create` answer with stand for. */
  readonly checks: readonly Conflict[]
  readonly conflicts: Prepared
  readonly create: Prepared
  /** The same, together with what a retry needs. */
  readonly createOnce: Prepared
  /** Moves the sequence of ids past the last one, where rows were given theirs by other means. */
  readonly passTaken: Prepared
}

/** The statements of one resource. */
export const statementsOf = (knex: Knex, registry: Registry, resource: Resource): Statements => {
  const table = quoted(resource.table)
  /** Writes a statement whose slots are named in it, as in `:limit`. */
  const written = (sql: string): Prepared => {
    const names = [...sql.matchAll(/(?<!:):([a-z_][a-z0-9_]*)/gi)].map(([, name]) => name as string)
    const marked = sql.replaceAll(/(?<!:):[a-z_][a-z0-9_]*/gi, '?')
    return prepared(compile(knex.raw(marked, names.map((name) => slot(knex, name)) as never)))
  }
  const state = `state as materialized (select to_hex(bit_xor(state)) as tag, coalesce(sum(rows), 0) as total,
    count(*) as changes from ${statesTable} where name = '${resource.table}')`
  /** The state, and a body whose page is given as rows of JSON. */
  const body = (page: string, total: string) =>
    `select tag, changes, total, concat('{"data":[', (select string_agg(${jsonColumn}, ',') from (${page}) as page),
      '],"meta":{"total":', ${total}, ',"limit":', :limit::bigint, ',"offset":', :shownOffset::text, '}}') from state`
  const rows = `select ${jsonColumn} from ${table}`
  /** As an array, so that the rows are looked up one by one whatever the server believes of their number. */
  const rowsFound = `${rows} where id = any(array(select id from found)) order by id`
  const fieldOf = (name: string) => resource.fields.find((field) => field.name === name) as Field

  // Where no id is missing, the offset is a key. Else the page begins in the last block that has no more rows before it.
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

  const narrowed = ({ filters, search }: Narrowing): Prepared => {
    const conditions = [...filters].map(([name, isLong]) => {
      const indexed = isLong ? undefined : isIndexed(fieldOf(name))
      return `${quoted(name)} = :${name}${indexed ? ` and ${indexed}` : ''}`
    })
    if (search && search.test !== 'none') conditions.unshift(containsSql(searchedColumn, search.test))
    if (search?.isIndexed) conditions.unshift(`${searchedColumn} like :searchPattern`)
    const matching = `from ${table} where ${conditions.join(' and ')}`
    const bounded = 'order by id limit :limit offset :offset'
    // What is searched for has to be found in full for its count, so the page is taken from there.
    if (search) {
      return written(`with ${state}, matches as materialized (select id ${matching}),
        found as materialized (select id from matches ${bounded})
        ${body(rowsFound, '(select count(*) from matches)')}`)
    }
    // A page that is not full is the last one, and tells the total by itself, unless it lies past the end.
    const total = `(select case when count(*) < :limit::bigint and (count(*) > 0 or :offset::bigint = 0)
      then :offset::bigint + count(*) else (select count(*) ${matching}) end from found)`
    return written(`with ${state}, found as materialized (select id ${matching} ${bounded}) ${body(rowsFound, total)}`)
  }
  const known = new Map<string, Prepared>()

  const checks = resource.fields.flatMap(({ name: field, references, unique }) => [
    ...(references ? [{ type: 'reference' as const, field }] : []),
    ...(unique ? [{ type: 'unique' as const, field }] : []),
  ])
  const isAgainst = ({ type, field }: Conflict): string => {
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
    ...checks.map((check, nth) => `select ${nth} where ${isAgainst(check)}`),
  ].join(' union all ')
  const columns = resource.fields.filter(({ name }) => name !== 'id')
  const create = (beside = '') => `with conflicts as materialized (${conflicts}),
    made as (insert into ${table} (${columns.map(({ name }) => quoted(name)).join(', ')})
      select ${columns.map(({ name, kind }) => `:${name}::${columnTypes[kind]}`).join(', ')}
      where not exists (select from conflicts) returning id, ${jsonColumn})${beside}
    select (select string_agg(nth::text, ',' order by nth) from conflicts), (select id from made), (select ${jsonColumn} from made)`
  const sequence = `pg_get_serial_sequence('${table}', 'id')`

  const own = `name = '${resource.table}'`
  /** Deletes what no other process is at, for its sum to be put in its place. */
  const gone = (from: string, where: string, columns: string) => `gone as (delete from ${from} where ctid = any(array(
    select ctid from ${from} where ${where} for update skip locked)) returning ${columns})`

  return {
    look: written(`with ${state} select tag, changes, total from state`),
    gather: written(`with ${gone(statesTable, own, 'rows, state')}
      insert into ${statesTable} select '${resource.table}', sum(rows), bit_xor(state) from gone having count(*) > 0`),
    gatherBlocks:
      written(`with many as (select block from ${blocksTable} where ${own} group by block having count(*) > 1),
      ${gone(blocksTable, `${own} and block in (select block from many)`, 'block, rows')}
      insert into ${blocksTable} select '${resource.table}', block, sum(rows) from gone group by block having sum(rows) <> 0`),
    get: written(`with ${state} select tag, changes, total, (${rows} where id = :id) from state`),
    first: written(`with ${state} ${body(`${rows} order by id limit :limit`, 'total')}`),
    further: written(further),
    narrowed(narrowing) {
      const key = JSON.stringify([[...narrowing.filters], narrowing.search])
      const statement = known.get(key) ?? narrowed(narrowing)
      known.set(key, statement)
      return statement
    },
    checks,
    conflicts: written(`select string_agg(nth::text, ',' order by nth) from (${conflicts}) as conflicts`),
    create: written(create()),
    createOnce: written(create(keepKey(jsonColumn))),
    passTaken: written(`select setval(${sequence}, max(id)) from ${table}
      having max(id) > coalesce(pg_sequence_last_value(${sequence}::regclass), 0)`),
  }
}
