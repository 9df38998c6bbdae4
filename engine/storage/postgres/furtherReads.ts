/** The other reads on PostgreSQL: all rows of a query in parts, the most frequent values, and excerpts. */
import type { Knex } from 'knex'
import type { Resource, Value } from '../../descriptor/registry.js'
import { excerptLength, longestValue, mostValues, partBytes, type TableDialect } from '../dialect.js'
import type { Plan } from '../plan.js'
import { fieldOf, quoted } from '../schema.js'
import type { Connections } from './connections.js'
import { bounded, knex, named, type Prepared, prepared } from './prepared.js'
import { rowJson, searchedColumn } from './schema.js'
import { contains, isLongSearch, searchValues } from './search.js'
import { addFilters, statementKey, timedOf } from './statements.js'
import type { SearchIndex } from './trigrams.js'

/** How many rows a part reads; more for a search, of which few may match. */
const candidates = ({ q }: Plan): number => (q === '' ? 250 : 2_000)

/** Adds the filters, and the test for the searched text. */
const addConditions = (query: Knex.QueryBuilder, resource: Resource, { q, filters }: Plan): Knex.QueryBuilder => {
  addFilters(query, resource, filters)
  return q === '' ? query : query.where(contains(searchedColumn, isLongSearch(q)))
}

/** The next matching rows, each with a line feed, and the id after which the next part begins. */
const partStatement = (resource: Resource, plan: Plan): Prepared => {
  const { table } = resource
  const next = addFilters(knex(table).select('id').where('id', '>', named('after', 'bigint')), resource, plan.filters)
  const among = (part: string) => knex(table).whereRaw(`id = any(array(select id from ${part}))`)
  const size = knex.raw(`octet_length(${searchedColumn}) as size`)
  const parts: Record<string, Knex.QueryBuilder | Knex.Raw> = {
    _next: bounded(next),
    _matches: addConditions(among('_next').select('id', size), resource, plan),
    _sized: knex('_matches').select('id', knex.raw('sum(size) over (order by id) - size as before')),
    _part: knex('_sized').select('id').whereRaw(`before < ${partBytes}`),
  }
  const query = knex.select(
    among('_part')
      .select(knex.raw(`string_agg(${rowJson(resource)} || chr(10), '' order by id)`))
      .as('rows'),
    knex.raw(`case when (select count(*) from _part) < (select count(*) from _matches)
      then (select max(id) from _part) else (select max(id) from _next) end`),
  )
  for (const [name, part] of Object.entries(parts)) query.withMaterialized(name, part)
  return prepared(query)
}

/** The most frequent values, as rows of field, value and count. The first row has the number of counted rows. */
const valueCountsStatement = (
  resource: Resource,
  plan: Plan,
  fields: readonly string[],
  isSample: boolean,
): Prepared => {
  const { table } = resource
  // Samples whole pages of the table, the same ones each time.
  const sample = () => knex.raw('?? tablesample system (?) repeatable (1)', [table, named('percent')] as never)
  const columns = fields.map((name) =>
    fieldOf(resource, name).kind === 'text'
      ? knex.raw(`case when octet_length(??) <= ${longestValue} then ?? end as ??`, [name, name, name])
      : knex.raw('??', [name]),
  )
  const rows = addConditions(knex(isSample ? (sample() as never) : table).select(columns as never[]), resource, plan)
  if (plan.by === 'search' && !isSample) rows.where(searchedColumn, 'like', named('searchPattern'))
  const counts = fields.map((name) => {
    const value = quoted(name)
    return `(select '${name}', ${value}::text, count(*) from _rows where ${value} is not null
      group by ${value} order by 3 desc, 2 limit ${mostValues})`
  })
  const all = ['select null, null, count(*) from _rows', ...counts].join(' union all ')
  return prepared(knex.raw(`with _rows as materialized (?) ${all}`, [rows]))
}

/** Some fields of some rows, given by their ids joined by commas. */
const excerptsStatement = (resource: Resource, fields: readonly string[]): Prepared => {
  const columns = fields.map((name) =>
    fieldOf(resource, name).kind === 'text' ? knex.raw(`left(??, ${excerptLength})`, [name]) : knex.raw('??', [name]),
  )
  const query = knex(resource.table).select('id', ...(columns as never[]))
  return prepared(query.whereRaw(`id = any(string_to_array(?, ',')::bigint[])`, [named('ids')] as never))
}

/** The reads of one resource. */
export const furtherReads = (
  resource: Resource,
  connections: Connections,
  searchIndex: SearchIndex,
): Pick<TableDialect, 'part' | 'valueCounts' | 'excerpts'> => {
  const built = new Map<string, Prepared>()
  const statement = (key: string, build: () => Prepared): Prepared => {
    const known = built.get(key) ?? build()
    built.set(key, known)
    return known
  }
  const valuesOf = ({ q, filters }: Plan) => ({ ...filters, ...(q && searchValues(searchIndex, q)) })

  return {
    async part(plan, after, caller) {
      const part = statement(`part ${statementKey(plan)}`, () => partStatement(resource, plan))
      const values = { ...valuesOf(plan), after, limit: candidates(plan), skipRows: 0 }
      const [row] = await connections.read(part, values, { table: resource.table, caller, timed: timedOf(plan) })
      const last = row?.[1] ?? undefined
      return { rows: Buffer.from(row?.[0] ?? ''), last: last === undefined ? undefined : BigInt(last) }
    },
    async valueCounts(plan, fields, share, caller) {
      const isSample = share < 1
      const key = `values ${statementKey(plan)} ${isSample} ${fields}`
      const counts = statement(key, () => valueCountsStatement(resource, plan, fields, isSample))
      const values = { ...valuesOf(plan), percent: share * 100 }
      const purpose = { table: resource.table, caller, timed: timedOf(plan) }
      const [total, ...rows] = await connections.read(counts, values, purpose)
      const found = new Map(fields.map((name) => [name, [] as [string, number][]]))
      for (const [name, value, count] of rows) found.get(String(name))?.push([String(value), Number(count)])
      return { rows: Number(total?.[2]), values: found }
    },
    async excerpts(ids, fields) {
      const excerpts = statement(`excerpts ${fields}`, () => excerptsStatement(resource, fields))
      const rows = await connections.read(excerpts, { ids: ids.join() }, { table: resource.table })
      return rows.map(([id, ...values]) => {
        const shown = fields.map((name, n): [string, Value] => {
          const value = values[n] ?? null
          return [name, value === null || fieldOf(resource, name).kind === 'text' ? value : Number(value)]
        })
        return { ...Object.fromEntries(shown), id: Number(id) }
      })
    },
  }
}
