/** The order of a list in SQL, and the conditions with which a page continues after a position. */
import type { Order, Position } from '../descriptor/listQuery.js'

/**
 * The conditions of the rows after a position, one after the other. Each is a range of an index on `(key, id)`, which a single
 * condition would not be. `@value` and `@id` are those of the position.
 */
export const partsAfter = (key: string, id: string, order: Order, { value }: Position): string[] => {
  const { field, descending } = order
  const sign = descending ? '<' : '>'
  if (field === 'id') return [`${id} ${sign} @id`]
  if (value === null) return [`${key} is null and ${id} ${sign} @id`, ...(descending ? [] : [`${key} is not null`])]
  return [`${key} = @value and ${id} ${sign} @id`, `${key} ${sign} @value`, ...(descending ? [`${key} is null`] : [])]
}

/** A condition with a `?` for each of its `@value` and `@id`, and what is bound to them. */
export const bindPosition = <T>(condition: string, value: T, id: T): [sql: string, bindings: T[]] => {
  const names = condition.match(/@(?:value|id)/g) ?? []
  return [condition.replaceAll(/@(?:value|id)/g, '?'), names.map((name) => (name === '@id' ? id : value))]
}

/** How rows are ordered by a key, then by `id`. Null comes first ascending. */
export const orderBy = ({ field, descending }: Order, key: string): string => {
  const [direction, nulls] = descending ? ['desc', 'last'] : ['asc', 'first']
  return field === 'id' ? `id ${direction}` : `${key} ${direction} nulls ${nulls}, id ${direction}`
}
