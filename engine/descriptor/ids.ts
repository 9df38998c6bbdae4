/** The ids of rows: which texts can be one, and their order. */
import { isWhole, kindOf } from './kinds/index.js'
import { idField, type Resource, type RowId, type RowValues } from './registry.js'
import { isStorable, Violation } from './violations.js'

/** Whether a text is an integer of so many bits, in its one form. */
export const isInteger = (text: string, bits = 64): boolean =>
  /^(?:0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(bits, BigInt(text)) === BigInt(text)

/** The id that a text stands for, in its one form; undefined if no row can have it. */
export const parseId = (resource: Pick<Resource, 'fields'>, text: string): RowId | undefined => {
  const field = idField(resource)
  if (isWhole(field)) return isInteger(text) ? text : undefined
  const id = isStorable(text) ? kindOf(field.kind).parse(text, field) : undefined
  return id === undefined || id instanceof Violation ? undefined : String(id)
}

/** Compares rows by id; texts by their code points. */
export const byId = ({ id: a = null }: RowValues, { id: b = null }: RowValues): number =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
