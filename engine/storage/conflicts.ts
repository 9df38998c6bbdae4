/** The queries, for any database, that find why a write cannot be made: missing references, taken unique values, rows that reference the row. */
import type { Knex } from 'knex'
import { type Field, type Reference, type Registry, type Resource, referencesTo } from '../descriptor/registry.js'
import { parameter } from './bindings.js'
import { ownSources, quoted, resourceAt, type Sources } from './schema.js'
import type { Conflict } from './write.js'

interface Comparison {
  /** A value as its unique indexes store it: only a query with the same expression can use them. */
  indexKey(field: Field, value: string): string
  typeOf(field: Field): string | undefined
}

const plain: Comparison = { indexKey: (_, value) => value, typeOf: () => undefined }

/** The values that a write stores: all of a new row, or some of the row with the parameter `id`. */
type Changed = readonly string[] | 'all'

/** The query that returns the conflicts of a write, as JSON objects joined by commas; null is never in conflict. */
export const conflictsQuery = (
  knex: Knex,
  registry: Registry,
  resource: Resource,
  changed: Changed = 'all',
  { indexKey, typeOf } = plain,
  sources: Sources = ownSources,
): Knex.QueryBuilder => {
  const { fields } = resource
  const from = (source: Resource) => knex.fromRaw(`${sources(source)} as _source`)
  const constant = knex.raw('1')
  const isChanged = (name: string) => changed === 'all' || changed.includes(name)
  const conflict = (type: Conflict['type'], field: string, isMet: Knex.Raw) =>
    knex.raw(`case when ? then '${JSON.stringify({ type, field })}' end`, [isMet])
  /** The value of the row as it would be stored. */
  const storedValue = (field: Field) =>
    isChanged(field.name)
      ? parameter(knex, field.name, typeOf(field))
      : knex.raw('(?)', [
          from(resource)
            .select(field.name)
            .where('id', parameter(knex, 'id', 'bigint')),
        ])
  const conflicts = fields.flatMap(({ name, references, unique }) => {
    const found: Knex.Raw[] = []
    if (references && isChanged(name)) {
      const id = parameter(knex, name, 'bigint')
      const target = from(resourceAt(registry, references)).select(constant).where('id', id)
      found.push(conflict('reference', name, knex.raw('? is not null and not exists ?', [id, target])))
    }
    if (unique && [name, ...unique].some(isChanged)) {
      const same = from(resource).select(constant)
      for (const field of fields.filter((other) => other.name === name || unique.includes(other.name)))
        same.whereRaw(`${indexKey(field, '??')} = ${indexKey(field, '?')}`, [field.name, storedValue(field)])
      if (changed !== 'all') same.whereNot('id', parameter(knex, 'id', 'bigint'))
      found.push(conflict('unique', name, knex.raw('exists ?', [same])))
    }
    return found
  })
  return knex.select(knex.raw(`concat_ws(',', null${', ?'.repeat(conflicts.length)}) as conflicts`, conflicts))
}

export const parseConflicts = (found: string): Conflict[] => JSON.parse(`[${found}]`) as Conflict[]

/**
 * The query that returns what references the row with the parameter `id`, or a row that its delete deletes too, as JSON objects joined
 * by commas; what is deleted anyway prevents nothing. PostgreSQL has recursion in one term only, and SQLite has no lateral joins.
 */
export const referencingQuery = (
  knex: Knex,
  registry: Registry,
  { path }: Resource,
  isLateral = false,
  sources: Sources = ownSources,
): Knex.QueryBuilder => {
  const deleted = new Set([path])
  const references: Reference[] = []
  for (const target of deleted) {
    for (const reference of referencesTo(registry, target)) {
      references.push(reference)
      if (reference.field.onDelete === 'cascade') deleted.add(reference.resource.path)
    }
  }
  const cascades = references.filter(({ field }) => field.onDelete === 'cascade')
  const cascaded = ({ resource, field }: Reference) =>
    `select cast('${resource.path}' as text) as resource, _row.id from ${isLateral ? '' : '_deleted join '}${sources(resource)} as _row
      ${isLateral ? 'where' : 'on'} _row.${quoted(field.name)} = _deleted.id and _deleted.resource = '${field.references}'`
  const further = isLateral
    ? [`select _next.* from _deleted cross join lateral (${cascades.map(cascaded).join(' union all ')}) as _next`]
    : cascades.map(cascaded)
  const all = [`select cast('${path}' as text), ?`, ...(cascades.length > 0 ? further : [])].join(' union ')
  const deletedIds = (of = '') => `(select id from _deleted where resource = '${of}')`
  const counts = references.map(({ resource, field: { name, references: target, onDelete = 'restrict' } }) => {
    const head = JSON.stringify({ resource: resource.path, field: name, onDelete }).slice(0, -1)
    const others = onDelete === 'cascade' ? '' : ` and id not in ${deletedIds(resource.path)}`
    const count = `select count(*) from ${sources(resource)} as _source where ${quoted(name)} in ${deletedIds(target)}${others}`
    return `nullif(concat('${head},"count":', (${count}), '}'), '${head},"count":0}')`
  })
  return knex
    .withRecursive('_deleted', ['resource', 'id'], knex.raw(all, [parameter(knex, 'id', 'bigint')]))
    .select(knex.raw(`concat_ws(',', ${['null', ...counts].join(', ')}) as referencing`))
}
