/** The query that finds why a row cannot be stored: missing references, taken unique values. */
import type { Knex } from 'knex'
import { type Field, idField, type Registry } from '../descriptor/registry.js'
import { parameter, sqlTag } from './bindings.js'
import type { Dialect, Source } from './dialect.js'
import { resourceAt } from './schema.js'
import type { Conflict } from './writeData.js'

/** The values that a write stores: all of a new row, or some of the row with the parameter `id`. */
type Changed = readonly string[] | 'all'

/**
 * The query that returns the conflicts of a write, as JSON objects joined by commas; null is never in conflict. `sources` are the tables
 * that a field may reference, `given` is the value of a field, by default a parameter with its name; `toId` makes an id of a table of it.
 * `taken` is what has the ids that exist.
 */
export const conflictsQuery = (
  { knex, typeOf }: Dialect,
  registry: Registry,
  sources: (path: string, field: string) => Source,
  { resource, from: rowSource, uniqueKey }: Source,
  changed: Changed = 'all',
  given = (name: string, type?: string): Knex.Raw => parameter(knex, name, type),
  toId = (_: Source, id: Knex.Raw): Knex.Raw => id,
  taken = rowSource,
): Knex.QueryBuilder => {
  const { fields } = resource
  const sql = sqlTag(knex)
  const from = (source: string) => knex.from(sql`${source} as _source` as unknown as string)
  const constant = knex.raw('1')
  const rowId = given('id', typeOf(idField(resource)))
  const isChanged = (name: string) => changed === 'all' || changed.includes(name)
  const conflict = (type: Conflict['type'], field: string, isMet: Knex.Raw) =>
    knex.raw(`case when ? then '${JSON.stringify({ type, field })}' end`, [isMet])
  /** The value of the row as it would be stored. */
  const storedValue = (field: Field) =>
    isChanged(field.name)
      ? given(field.name, typeOf(field))
      : knex.raw('(?)', [from(rowSource).select(field.name).where('id', rowId)])
  const conflicts = fields.flatMap((field) => {
    const { name, references, unique, managed } = field
    const checks: Knex.Raw[] = []
    if (name === 'id' && !managed && changed === 'all')
      checks.push(conflict('unique', name, knex.raw('exists ?', [from(taken).select(constant).where('id', rowId)])))
    if (references && isChanged(name)) {
      const id = given(name, typeOf(field))
      const referenced = sources(resourceAt(registry, references).path, name)
      const target = from(referenced.from).select(constant).where('id', toId(referenced, id))
      checks.push(
        conflict('reference', name, knex.raw('? is not null and not exists ?', [given(name, 'text'), target])),
      )
    }
    if (unique && [name, ...unique].some(isChanged)) {
      const same = from(rowSource).select(constant)
      for (const field of fields.filter((other) => other.name === name || unique.includes(other.name)))
        same.whereRaw(`${uniqueKey(field, '??')} = ${uniqueKey(field, '?')}`, [field.name, storedValue(field)])
      if (changed !== 'all') same.whereNot('id', rowId)
      checks.push(conflict('unique', name, knex.raw('exists ?', [same])))
    }
    return checks
  })
  return knex.select(knex.raw(`concat_ws(',', null${', ?'.repeat(conflicts.length)}) as conflicts`, conflicts))
}
