/** The query, for any database, that finds why a row cannot be stored: missing references, taken unique values. */
import type { Knex } from 'knex'
import type { Field, Registry, Resource } from '../descriptor/registry.js'
import { parameter } from './bindings.js'
import { ownSources, resourceAt, type Sources } from './schema.js'
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
