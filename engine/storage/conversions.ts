/** Which stored values can become values of another kind without a loss. */
import { type Kind, kinds } from '../descriptor/fields.js'

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** What a value must be to be converted, to complete the sentence "… convert". */
export const convertible: Readonly<Record<Kind, string>> = {
  text: 'every value',
  integer: 'only integers between -9007199254740991 and 9007199254740991, written without leading zeros,',
  number: 'only numbers, written without leading zeros,',
}

/** Whether a value, given as text, can be converted. A text such as `007` is not a number: its zeros would be lost. */
export const converts = (value: string, to: Kind): boolean => {
  if (to === 'text') return true
  return jsonNumber.test(value) && kinds[to].isValid(Number(value))
}
