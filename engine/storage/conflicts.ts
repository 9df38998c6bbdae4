/** The queries, for any database, that find why a write cannot be made: missing references, taken unique values, rows that reference the row. */
import type { Knex } from 'knex'
import type { Field, Registry, Resource } from '../descriptor/registry.js'
import { parameter } from './bindings.js'
import { tableNameOf } from './schema.js'
import type { Conflict, Referencing } from './write.js'

/** How a dialect compares values. */
interface Comparison {
  /** A value as its unique indexes store it: only a query with the same expression can use them. */
  keyOf(field: Field, value: string): string
  /** The type of a parameter. */
  typeOf(field: Field): string | undefined
}

const plain: Comparison = { keyOf: (_, value) => value, typeOf: () => undefined }

/** The values that a write stores: all of a new row, or some of the row with the parameter `id`. */
type Changed = readonly string[] | 'all'

/** The query that returns the conflicts of a write, as JSON objects joined by commas; null is never in conflict. */
export const conflictsQuery = (
  knex: Knex,
  registry: Registry,
  resource: Resource,
  changed: Changed = 'all',
  { keyOf, typeOf } = plain,
): Knex.QueryBuilder => {
  const { table, fields } = resource
  const constant = knex.raw('1')
  const isChanged = (name: string) => changed === 'all' || changed.includes(name)
  const conflict = (type: Conflict['type'], field: string, isMet: Knex.Raw) =>
    knex.raw(`case when ? then '${JSON.stringify({ type, field })}' end`, [isMet])
  /** The value of the row as it would be stored. */
  const storedValue = (field: Field) =>
    isChanged(field.name)
      ? parameter(knex, field.name, typeOf(field))
      : knex.raw('(?)', [
          knex(table)
            .select(field.name)
            .where('id', parameter(knex, 'id', 'bigint')),
        ])
  const conflicts = fields.flatMap(({ name, references, unique }) => {
    const found: Knex.Raw[] = []
    if (references && isChanged(name)) {
      const id = parameter(knex, name, 'bigint')
      const target = knex(tableNameOf(registry, references)).select(constant).where('id', id)
      found.push(conflict('reference', name, knex.raw('? is not null and not exists ?', [id, target])))
    }
    if (unique && [name, ...unique].some(isChanged)) {
      const same = knex(table).select(constant)
      for (const field of fields.filter((other) => other.name === name || unique.includes(other.name)))
        same.whereRaw(`${keyOf(field, '??')} = ${keyOf(field, '?')}`, [field.name, storedValue(field)])
      if (changed !== 'all') same.whereNot('id', parameter(knex, 'id', 'bigint'))
      found.push(conflict('unique', name, knex.raw('exists ?', [same])))
    }
    return found
  })
  return knex.select(knex.raw(`concat_ws(',', null${', ?'.repeat(conflicts.length)}) as conflicts`, conflicts))
}

/** The conflicts that the query has returned. */
export const parseConflicts = (found: string): Conflict[] => JSON.parse(`[${found}]`) as Conflict[]

/** The query that returns what references the row with the parameter `id` and prevents its delete, as JSON objects joined by commas. */
export const referencingQuery = (knex: Knex, registry: Registry, { path }: Resource): Knex.QueryBuilder => {
  const id = parameter(knex, 'id', 'bigint')
  const counts = registry.flatMap((other) =>
    other.fields.flatMap(({ name, references, onDelete = 'restrict' }) => {
      if (references !== path || onDelete !== 'restrict') return []
      const head = JSON.stringify({ resource: other.path, field: name }).slice(0, -1)
      const rows = knex(other.table).where(name, id).count()
      return [knex.raw(`nullif(concat('${head},"count":', ?, '}'), '${head},"count":0}')`, [rows])]
    }),
  )
  return knex.select(knex.raw(`concat_ws(',', null${', ?'.repeat(counts.length)}) as referencing`, counts))
}

/** What the query has returned. */
export const parseReferencing = (found: string): Referencing[] => JSON.parse(`[${found}]`) as Referencing[]
