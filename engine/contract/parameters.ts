/** The grammar, the bounds and the refusals of the parameters that reads take. */
import type { ParameterIssue } from './errors.js'

export const limitBounds = { default: 50, least: 1, most: 200 } as const
export const offsetBounds = { default: 0, least: 0 } as const

/**
 * An integer as pydantic v2 reads one from text: a sign, leading zeros, single underscores between digits and a
 * fraction of zeros are allowed, and white space around it is not looked at.
 */
const integerGrammar = /^(?:\+|(-))?(?:0[0_]*(?=[1-9])([1-9]\d*(?:_\d+)*)|([1-9]\d*(?:_\d+)*)|0(?:[0_]*0)?)(?:\.0+)?$/
const surroundingSpace = /^\p{White_Space}+|\p{White_Space}+$/gu
const plainDigits = /^-?(?:0|[1-9]\d*)$/
const mostDigits = 4300

type Reading = { readonly value: bigint } | { readonly issue: ParameterIssue }

const refuse = (name: string, input: string, type: string, msg: string, ctx?: ParameterIssue['ctx']): Reading => ({
  issue: { type, loc: ['query', name], msg, input, ...(ctx && { ctx }) },
})

const unparsable = 'Input should be a valid integer, unable to parse string as an integer'
const tooLong = 'Unable to parse input string as an integer, exceeded maximum size'

/** Almost every integer is plain digits, which need no grammar. */
const fromPlain = (input: string): bigint | 'too long' => (input.length > mostDigits ? 'too long' : BigInt(input))

const fromGrammar = (input: string): bigint | undefined => {
  const match = integerGrammar.exec(input.replace(surroundingSpace, ''))
  const digits = match && (match[2] ?? match[3] ?? '0').replaceAll('_', '')
  return digits && digits.length <= mostDigits ? BigInt(`${match[1] ?? ''}${digits}`) : undefined
}

/** Reads an integer parameter within its bounds, or says what is wrong with it. */
export const readInteger = (name: string, input: string, bounds: { least?: number; most?: number } = {}): Reading => {
  const value = plainDigits.test(input) ? fromPlain(input) : fromGrammar(input)
  if (value === 'too long') return refuse(name, input, 'int_parsing_size', tooLong)
  if (value === undefined) return refuse(name, input, 'int_parsing', unparsable)
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
