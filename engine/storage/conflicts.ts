/** One query, for any database, that finds the missing references and taken unique values of a new row. */
import type { Knex } from 'knex'
import type { Field, Registry, Resource } from '../descriptor/registry.js'
import { parameter } from './bindings.js'
import { tableNameOf } from './schema.js'
import type { Conflict } from './storage.js'

/** How a dialect compares values. */
interface Comparison {
  /** A value as its unique indexes store it: only a query with the same expression can use them. */
  keyOf(field: Field, value: string): string
  /** The type of a parameter. */
  typeOf(field: Field): string | undefined
}

const plain: Comparison = { keyOf: (_, value) => value, typeOf: () => undefined }

/** The query that returns the conflicts of a row, as JSON objects joined by commas; null is never in conflict. */
export const conflictsQuery = (
  knex: Knex,
  registry: Registry,
  resource: Resource,
  { keyOf, typeOf } = plain,
): Knex.QueryBuilder => {
  const one = knex.raw('1')
  const conflict = (type: Conflict['type'], field: string, isMet: Knex.Raw) =>
    knex.raw(`case when ? then '${JSON.stringify({ type, field })}' end`, [isMet])
  const conflicts = resource.fields.flatMap(({ name: field, references, unique }) => {
    const found: Knex.Raw[] = []
    if (references) {
      const id = parameter(knex, field, 'bigint')
      const target = knex(tableNameOf(registry, references)).select(one).where('id', id)
      const isMissing = knex.raw('? is not null and not exists ?', [id, target])
      found.push(conflict('reference', field, isMissing))
    }
    if (unique) {
      const same = knex(resource.table).select(one)
      for (const column of resource.fields.filter(({ name }) => name === field || unique.includes(name))) {
        const isSame = `${keyOf(column, '??')} = ${keyOf(column, '?')}`
        same.whereRaw(isSame, [column.name, parameter(knex, column.name, typeOf(column))])
      }
      found.push(conflict('unique', field, knex.raw('exists ?', [same])))
    }
    return found
  })
  return knex.select(knex.raw(`concat_ws(',', null${', ?'.repeat(conflicts.length)}) as conflicts`, conflicts))
}

/** The conflicts that the query has returned. */
export const parseConflicts = (found: string): Conflict[] => JSON.parse(`[${found}]`) as Conflict[]
