/** Which stored values convert to another kind without loss. */
import { type Kind, kinds } from '../../descriptor/fields.js'

/** What a value must be to be converted, to complete the sentence "… convert". */
export const convertible: Readonly<Record<Kind, string>> = {
  text: 'every value',
  integer: 'only integers between -9007199254740991 and 9007199254740991, written without leading zeros,',
  number: 'only numbers in their shortest spelling, which a double stores exactly,',
}

/** A number as text that converts back to the same number: the shortest form, as JavaScript prints it. */
export const spelling = (value: number): string => String(value)

/** Whether a text is the shortest form of its number: `007`, `1e3` and `1.50` are not. */
const isShortest = (text: string): boolean => spelling(Number(text)) === text

/** Whether a value, given as text, can be converted. */
export const converts = (value: string, from: Kind, to: Kind): boolean => {
  if (to === 'text') return true
  if (from === 'text' && !isShortest(value)) return false
  // An integer beyond 2^53 is not exact as a double.
  return kinds[to].isValid(Number(value)) && (from !== 'integer' || kinds.integer.isValid(Number(value)))
}
