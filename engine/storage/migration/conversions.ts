/** Converts stored values to another kind, if nothing is lost. */
import { isValueOf, type Kind, kindOf } from '../../descriptor/kinds.js'
import type { GivenValue } from '../../descriptor/registry.js'

const toNumber = (text: string, from: Kind, to: Kind): number | undefined => {
  const number = Number(text)
  // `007`, `1e3` and `1.50` are not the shortest form of their numbers.
  if (from === 'text' ? String(number) !== text : from !== 'integer' && from !== 'number') return undefined
  // An integer beyond 2^53 is not exact as a double.
  return isValueOf(to, number) && (from !== 'integer' || isValueOf('integer', number)) ? number : undefined
}

const booleans: Partial<Record<Kind, Readonly<Record<string, boolean>>>> = {
  text: { true: true, false: false },
  integer: { 1: true, 0: false },
}

/** The value of kind `to` for one of kind `from`, which is given as text; undefined if there is none. */
export const convert = (text: string, from: Kind, to: Kind): GivenValue | undefined => {
  if (to === 'boolean') return booleans[from]?.[text]
  if (to === 'integer' || to === 'number') return toNumber(text, from, to)
  // A boolean is 1 or 0 on SQLite.
  if (to === 'text') return from === 'boolean' ? String(booleans.integer?.[text] ?? text) : text
  if (from !== 'text' || !isValueOf(to, text)) return undefined
  return kindOf(to).canonical?.(text as never) ?? text
}
