/** Which stored values convert to another kind without loss. */
import { isValueOf, type Kind } from '../../descriptor/kinds.js'

/** What a value must be to be converted, to complete the sentence "… convert". */
export const convertible: Readonly<Record<Kind, string>> = {
  text: 'every value',
  integer: 'only integers between -9007199254740991 and 9007199254740991, written without leading zeros,',
  number: 'only numbers in their shortest spelling, which a double stores exactly,',
  boolean: 'only true and false, or 1 and 0,',
  date: 'only days such as 2026-03-01',
  timestamp: 'only times such as 2026-03-01T09:30:00Z',
}

/** A number as text that converts back to the same number: the shortest form, as JavaScript prints it. */
export const numberAsText = (value: number): string => String(value)

/** Whether a text is the shortest form of its number: `007`, `1e3` and `1.50` are not. */
const isShortest = (text: string): boolean => numberAsText(Number(text)) === text

const booleans = { text: ['true', 'false'], integer: ['0', '1'] }

/** Whether a value, given as text, can be converted. */
export const converts = (value: string, from: Kind, to: Kind): boolean => {
  if (to === 'text') return true
  if (to === 'boolean') return (booleans[from as 'text'] ?? []).includes(value)
  if (to === 'date' || to === 'timestamp') return from === 'text' && isValueOf(to, value)
  if (from !== 'integer' && from !== 'number' && (from !== 'text' || !isShortest(value))) return false
  // An integer beyond 2^53 is not exact as a double.
  return isValueOf(to, Number(value)) && (from !== 'integer' || isValueOf('integer', Number(value)))
}
