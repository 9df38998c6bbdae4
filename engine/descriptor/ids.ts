/** The ids of rows: which texts can be one. */
import { isStorable, kindOf } from './kinds.js'
import { idField, type Resource, type RowId } from './registry.js'
import { Violation } from './violations.js'

/** The least and the greatest integer of the databases. */
const [minId, maxId] = [-(2n ** 63n), 2n ** 63n - 1n]

/** The id that a text stands for, in its one form; undefined if no row can have it. */
export const parseId = (resource: Pick<Resource, 'fields'>, text: string): RowId | undefined => {
  const field = idField(resource)
  if (field.kind === 'integer' && !/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined
  if (!isStorable(text)) return undefined
  const id = kindOf(field.kind).parse(text, field)
  if (id instanceof Violation || (typeof id === 'bigint' && (id < minId || id > maxId))) return undefined
  return String(id)
}
