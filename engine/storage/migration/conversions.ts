/** Converts stored values to another kind, if nothing is lost. */
import { type JsonText, parseAnyText } from '../../descriptor/jsonText.js'
import { type Column, canonicalOf, isValueOf, type Kind, type KindSpec } from '../../descriptor/kinds/index.js'
import type { GivenValue } from '../../descriptor/registry.js'
import { Violation } from '../../descriptor/violations.js'

const toNumber = (text: string, from: Kind, to: KindSpec): number | undefined => {
  const number = Number(text)
  if (from === 'decimal') return isValueOf(to, number) && isSameDecimal(text, number) ? number : undefined
  // `007`, `1e3` and `1.50` are not the shortest form of their numbers.
  if (from === 'text' ? String(number) !== text : from !== 'integer' && from !== 'number') return undefined
  // An integer beyond 2^53 is not exact as a double.
  return isValueOf(to, number) && (from !== 'integer' || isValueOf({ kind: 'integer' }, number)) ? number : undefined
}

const isSameDecimal = (text: string, number: number): boolean =>
  number.toFixed(/\.(\d+)/.exec(text)?.[1]?.length ?? 0) === text

const booleans: Partial<Record<Kind, Readonly<Record<string, boolean>>>> = {
  text: { true: true, false: false },
  integer: { 1: true, 0: false },
}

/** The text of a JSON value; null is no value. */
const toJson = (text: string): JsonText | undefined => {
  const value = parseAnyText(text)
  return value instanceof Violation || value.text === 'null' ? undefined : value
}

/** The value as responses show it, for one that is given as the text that the column has. */
export const displayText = (stored: string, { kind }: KindSpec, { read }: Column): string =>
  kind === 'decimal' && read ? String(read(stored as never)) : stored

/** The value of kind `to` for one of kind `from`, which is given as the text that the column has; undefined if there is none. */
export const convert = (stored: string, from: KindSpec, column: Column, to: KindSpec): GivenValue | undefined => {
  const text = displayText(stored, from, column)
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
      const decimal = from.kind === 'number' ? Number(text).toFixed(to.places) : text
      const isExact = from.kind !== 'number' || Number(decimal) === Number(text)
      return isNumber && isExact && isValueOf(to, decimal) ? canonicalOf(to, decimal) : undefined
    }
    case 'json':
      return from.kind === 'text' ? toJson(text) : undefined
    default:
      return from.kind === 'text' && isValueOf(to, text) ? canonicalOf(to, text) : undefined
  }
}
