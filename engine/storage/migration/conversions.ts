/** Converts stored values to another kind, if nothing is lost. */
import { parseDecimal } from '../../descriptor/decimals.js'
import { type Column, canonicalOf, isValueOf, type Kind, type KindSpec } from '../../descriptor/kinds.js'
import type { GivenValue } from '../../descriptor/registry.js'

const toNumber = (text: string, from: Kind, to: KindSpec): number | undefined => {
  const number = Number(text)
  if (from === 'decimal') return isValueOf(to, number) && isSameDecimal(text, number) ? number : undefined
  // `007`, `1e3` and `1.50` are not the shortest form of their numbers.
  if (from === 'text' ? String(number) !== text : from !== 'integer' && from !== 'number') return undefined
  // An integer beyond 2^53 is not exact as a double.
  return isValueOf(to, number) && (from !== 'integer' || isValueOf({ kind: 'integer' }, number)) ? number : undefined
}

const isSameDecimal = (text: string, number: number): boolean =>
  parseDecimal(String(number), { places: /\.(\d+)/.exec(text)?.[1]?.length }) === text

const booleans: Partial<Record<Kind, Readonly<Record<string, boolean>>>> = {
  text: { true: true, false: false },
  integer: { 1: true, 0: false },
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The value of kind `to` for one of kind `from`, which is given as the text that the column has; undefined if there is none. */
export const convert = (stored: string, from: KindSpec, { read }: Column, to: KindSpec): GivenValue | undefined => {
  const text = from.kind === 'decimal' && read ? String(read(stored as never)) : stored
  switch (to.kind) {
    case 'boolean':
      return booleans[from.kind]?.[text]
    case 'integer':
    case 'number':
      return toNumber(text, from.kind, to)
    case 'text':
      // A boolean is 1 or 0 on SQLite.
      return from.kind === 'boolean' ? String(booleans.integer?.[text] ?? text) : text
    case 'decimal': {
      const isNumber = ['text', 'integer', 'number', 'decimal'].includes(from.kind)
      return isNumber && isValueOf(to, text) ? canonicalOf(to, text) : undefined
    }
    case 'json':
      return from.kind === 'text' && isJson(text) && isValueOf(to, JSON.parse(text)) ? JSON.parse(text) : undefined
    default:
      return from.kind === 'text' && isValueOf(to, text) ? canonicalOf(to, text) : undefined
  }
}
