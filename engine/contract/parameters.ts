/** The grammar, the bounds and the refusals of the parameters that reads take. */
import type { ParameterIssue } from './errors.js'

export const limitBounds = { default: 50, least: 1, most: 200 } as const
export const offsetBounds = { default: 0, least: 0 } as const

/**
 * An integer as pydantic v2 reads one from text: a sign, leading zeros, single underscores between digits and a fraction
 * of zeros are allowed.
 */
const integerGrammar = /^(?:\+|(-))?(?:0[0_]*(?=[1-9])([1-9]\d*(?:_\d+)*)|([1-9]\d*(?:_\d+)*)|0(?:[0_]*0)?)(?:\.0+)?$/

/** pydantic reads the text as it stands first, and stops past this many characters, whatever follows them. */
const maxLength = 4300
const leadingDigits = /^-?[1-9]\d*/

const isSpace = /\p{White_Space}/u

/** Strips white space as Unicode defines it, which String.trim() does not; `\s+$` would be quadratic on inner spaces. */
const trim = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isSpace.test(text.charAt(start))) start++
  while (end > start && isSpace.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

type Reading = { readonly value: bigint } | { readonly issue: ParameterIssue }

const refuse = (name: string, input: string, type: string, msg: string, ctx?: ParameterIssue['ctx']): Reading => ({
  issue: { type, loc: ['query', name], msg, input, ...(ctx && { ctx }) },
})

const unparsable = 'Input should be a valid integer, unable to parse string as an integer'
const tooLong = 'Unable to parse input string as an integer, exceeded maximum size'

const integerFrom = (input: string): bigint | 'invalid' | 'too long' => {
  if ((leadingDigits.exec(input)?.[0].length ?? 0) > maxLength) return 'too long'
  const match = integerGrammar.exec(trim(input))
  if (!match) return 'invalid'
  const [, sign = '', afterZeros, digits = afterZeros ?? '0'] = match
  const text = `${sign}${digits.replaceAll('_', '')}`
  return text.length > maxLength ? 'invalid' : BigInt(text)
}

/** Reads an integer parameter within its bounds, or says what is wrong with it. */
export const readInteger = (name: string, input: string, bounds: { least?: number; most?: number } = {}): Reading => {
  const value = integerFrom(input)
  if (value === 'too long') return refuse(name, input, 'int_parsing_size', tooLong)
  if (value === 'invalid') return refuse(name, input, 'int_parsing', unparsable)
  const { least, most } = bounds
  if (least !== undefined && value < least) {
    const msg = `Input should be greater than or equal to ${least}`
    return refuse(name, input, 'greater_than_equal', msg, { ge: least })
  }
  if (most !== undefined && value > most) {
    return refuse(name, input, 'less_than_equal', `Input should be less than or equal to ${most}`, { le: most })
  }
  return { value }
}

/** An `item_id` that is no text at all. */
export const idNotText = (input: string): ParameterIssue => ({
  type: 'string_unicode',
  loc: ['path', 'item_id'],
  msg: 'Input should be a valid string: percent-encoded UTF-8 without a NUL',
  input,
})
