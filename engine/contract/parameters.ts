/** The parameters of reads: what the documents say of them, how integers are parsed, and the errors of the 422. */
import { z } from 'zod'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { ParameterIssue } from './errors.js'

export const limitBounds = { default: 50, least: 1, most: 200 } as const
export const offsetBounds = { default: 0, least: 0 } as const

/** The query of a list. */
export const listQuerySchema = (resource: Resource): z.ZodObject => {
  const filters = filterFields(resource).map(({ name, kind }) => {
    const schema = kind === 'integer' ? z.int() : z.string()
    return [name, schema.optional().meta({ description: `Only rows with exactly this \`${name}\`.` })]
  })
  const limit = z.int().min(limitBounds.least).max(limitBounds.most).default(limitBounds.default)
  const offset = z.int().min(offsetBounds.least).default(offsetBounds.default)
  return z.object({
    limit: limit.meta({ description: 'Page size.' }),
    offset: offset.meta({ description: 'Number of rows to skip.' }),
    q: z.string().optional().meta({ description: 'Text to search for, ignoring case.' }),
    ...Object.fromEntries(filters),
  })
}

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

type ParsedInteger = { readonly value: bigint } | { readonly issue: ParameterIssue }

const invalid = (
  name: string,
  input: string,
  type: string,
  msg: string,
  ctx?: ParameterIssue['ctx'],
): ParsedInteger => ({
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
export const readInteger = (
  name: string,
  input: string,
  bounds: { least?: number; most?: number } = {},
): ParsedInteger => {
  const value = integerFrom(input)
  if (value === 'too long') return invalid(name, input, 'int_parsing_size', tooLong)
  if (value === 'invalid') return invalid(name, input, 'int_parsing', unparsable)
  const { least, most } = bounds
  if (least !== undefined && value < least) {
    const msg = `Input should be greater than or equal to ${least}`
    return invalid(name, input, 'greater_than_equal', msg, { ge: least })
  }
  if (most !== undefined && value > most) {
    return invalid(name, input, 'less_than_equal', `Input should be less than or equal to ${most}`, { le: most })
  }
  return { value }
}

/** An `item_id` that is not valid percent-encoded UTF-8, or contains a NUL. */
export const idNotText = (input: string): ParameterIssue => ({
  type: 'string_unicode',
  loc: ['path', 'item_id'],
  msg: 'Input should be a valid string: percent-encoded UTF-8 without a NUL',
  input,
})
