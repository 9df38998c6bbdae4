/** The order of a list in SQL: its key, and the conditions with which a page continues after a position. */
import { type Column, type Kind, kindOf } from '../descriptor/kinds.js'
import { keyLength, type Order, type Position } from '../descriptor/listQuery.js'

/** What a field is ordered and compared by: its value as a response shows it, of a text the beginning. */
export const orderKey = (kind: Kind, { isValue }: Column, column: string, clip: 'substr' | 'left'): string => {
  const beginning = clip === 'left' ? `left(${column}, ${keyLength}) collate "C"` : `substr(${column}, 1, ${keyLength})`
  const key = kindOf(kind).isText ? beginning : column
  return isValue ? `case when ${isValue(column)} then ${key} end` : key
}

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
