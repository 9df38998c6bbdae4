/** What can be wrong with a value, and the words for it: in a body and a descriptor, and in a query parameter. */
import type { z } from 'zod'
import { didYouMean } from './nearest.js'

export const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

const quote = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(shorten(value)) : String(value))

export const jsonNoun = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** A character outside the first plane takes two units. Not by a match, which takes 60 ms for a megabyte of them. */
export const countCodePoints = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) !== 0xd800) count++
  return count
}

/** What follows the name of the field: the requirement, and the value that breaks it. A message about a redacted field has only the first. */
type ViolationWords = string | readonly [requirement: string, actual: string]

const aDate = 'a date such as "2026-03-01"'
const aUuid = 'a UUID such as "0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d"'
const aDecimal = 'a decimal as a string, such as "12.50"'
const aTime = 'a time such as "2026-03-01T09:30:00Z"'

/** A bound of a date or a time; that of a decimal is a string of digits. */
const isMoment = (bound: unknown): boolean => typeof bound === 'string' && /^\d{4}-/.test(bound)

const wrongType = (noun: string) => (value: unknown) => `must be ${noun}, not ${jsonNoun(value)}`

const bodyWords: Readonly<Record<string, (value: never, ctx: never, isRedacted: boolean) => ViolationWords>> = {
  missing: () => 'is required',
  redacted: () => 'is never returned, so null does not mean that it is empty; leave it out, or send a value',
  /** Of a descriptor or a demo row. */
  kind: (_, { expected }: { expected: string }) => `must be ${expected}`,
  string_type: wrongType('a string'),
  int_type: wrongType('an integer'),
  float_type: wrongType('a number'),
  bool_type: wrongType('true or false'),
  date_type: wrongType(aDate),
  datetime_type: wrongType(aTime),
  string_unicode: (text: string) =>
    text.includes('\0')
      ? 'contains a NUL (U+0000); remove it'
      : 'contains a lone surrogate, which is not valid Unicode; remove it',
  date_parsing: (text: string) => [`must be ${aDate}`, `${quote(text)} is not`],
  datetime_parsing: (text: string) => [
    `must be ${aTime}, with an offset and at most three digits after the second`,
    `${quote(text)} is not`,
  ],
  uuid_type: wrongType(aUuid),
  uuid_parsing: (text: string) => [`must be ${aUuid}`, `${quote(text)} is not`],
  decimal_type: wrongType(aDecimal),
  decimal_parsing: (text: string) => [`must be ${aDecimal}: a sign, digits and a point`, `${quote(text)} is not`],
  decimal_max_places: (text: string, { decimal_places: most }: { decimal_places: number }) => [
    `must have at most ${most} digits after the point`,
    `${quote(text)} has more`,
  ],
  decimal_max_digits: (text: string, { max_digits: most }: { max_digits: number }) => [
    `must have at most ${most} digits, those after the point included`,
    `${quote(text)} has more`,
  ],
  json_parsing: (text: string) => ['must be JSON', `${quote(text)} is not`],
  json_too_large: (bytes: number, { max_bytes: most }: { max_bytes: number }) =>
    `must have at most ${most} bytes as JSON; it has ${bytes}`,
  json_too_deep: (_, { max_levels: most }: { max_levels: number }) =>
    `must have at most ${most} levels of arrays and objects`,
  json_repeated_member: (name: string, _, isRedacted) =>
    `has an object with two members of the same name${isRedacted ? '' : `, ${quote(name)}`}; remove one of the two`,
  reserved: (text: string, { reserved }: { reserved: readonly string[] }) => [
    `must not be ${reserved
      .map(quote)
      .join(', ')
      .replace(/, ([^,]*)$/, ' or $1')}`,
    `${quote(text)} is reserved for URLs of the API`,
  ],
  finite_number: () => 'is too large for a double',
  number_precision: () => 'has more digits than a double can store; send it rounded',
  int_from_float: (value: number, _, isRedacted) =>
    `must be an integer${isRedacted ? ', without a fraction' : `; ${value} has a fraction`}`,
  int_range: () => `must be an integer between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`,
  enum: (value: unknown, { expected }: { expected: readonly unknown[] }) => {
    const hint = typeof value === 'string' ? didYouMean(value, expected.map(String)) : ''
    return [`must be one of ${expected.map(quote).join(', ')}`, `${quote(value)} is not${hint}`]
  },
  greater_than_equal: (value: unknown, { ge }: { ge: unknown }) =>
    isMoment(ge) ? [`must be ${ge} or later`, `${value} is earlier`] : [`must be at least ${ge}`, `${value} is less`],
  less_than_equal: (value: unknown, { le }: { le: unknown }) =>
    isMoment(le) ? [`must be ${le} or earlier`, `${value} is later`] : [`must be at most ${le}`, `${value} is more`],
  transition: (to: unknown, { from, expected }: { from: unknown; expected: readonly unknown[] }) => {
    const steps = expected.map(quote).join(' or ')
    if (from === null) return [`must begin as ${steps}`, `${quote(to)} is not for new rows`]
    const step = `cannot change from ${quote(from)} to ${to === null ? 'null' : quote(to)}`
    return `${step}; ${steps === '' ? 'it is final' : `it may become ${steps}`}`
  },
  string_too_short: (text: string, { min_length: least }: { min_length: number }) =>
    `must have at least ${least} ${least === 1 ? 'character' : 'characters'}; it has ${countCodePoints(text)}`,
  string_too_long: (text: string, { max_length: most }: { max_length: number }) =>
    `must have at most ${most} ${most === 1 ? 'character' : 'characters'}; it has ${countCodePoints(text)}`,
  string_pattern_mismatch: (text: string, { pattern }: { pattern: string }) => [
    `must match ${pattern}`,
    `${quote(text)} does not`,
  ],
}

const parameterWords: Readonly<Record<string, (value: never, ctx: never) => string>> = {
  int_parsing: () => 'Input should be a valid integer, unable to parse string as an integer',
  int_parsing_size: () => 'Unable to parse input string as an integer, exceeded maximum size',
  float_parsing: () => 'Input should be a valid number, unable to parse string as a number',
  finite_number: () => 'Input should be a finite number',
  bool_parsing: () => 'Input should be a valid boolean: true or false',
  date_parsing: () => 'Input should be a valid date in the format YYYY-MM-DD',
  datetime_parsing: () => 'Input should be a valid RFC 3339 timestamp with at most milliseconds',
  uuid_parsing: () => 'Input should be a valid UUID of 36 characters',
  decimal_parsing: () => 'Input should be a valid decimal: a sign, digits and a point',
  decimal_max_places: (_, { decimal_places: most }: { decimal_places: number }) =>
    `Decimal input should have no more than ${most} decimal places`,
  decimal_max_digits: (_, { max_digits: most }: { max_digits: number }) =>
    `Decimal input should have no more than ${most} digits in total`,
  string_unicode: () => 'Input should be a valid string without a NUL',
  enum: (_, { expected }: { expected: readonly unknown[] }) =>
    expected.length === 0
      ? 'No value is possible here'
      : `Input should be ${expected
          .map((value) => `'${value}'`)
          .join(', ')
          .replace(/, ([^,]*)$/, ' or $1')}`,
  greater_than_equal: (_, { ge }: { ge: number }) => `Input should be greater than or equal to ${ge}`,
  less_than_equal: (_, { le }: { le: number }) => `Input should be less than or equal to ${le}`,
  too_long: (count: number, { max_length: most }: { max_length: number }) =>
    `Input should have at most ${most} values, not ${count}`,
}

export class Violation {
  /** The `type` of its issue, as pydantic names it. */
  readonly type: string
  readonly ctx: Readonly<Record<string, unknown>> | undefined
  readonly #value: unknown

  constructor(type: string, value: unknown, ctx?: Violation['ctx']) {
    this.type = type
    this.ctx = ctx
    this.#value = value
  }

  /** What follows the name of the field: `must be true or false, not null`. */
  describe({ redacted = false }: { readonly redacted?: boolean | undefined }): string {
    const words = bodyWords[this.type]?.(this.#value as never, this.ctx as never, redacted) ?? ''
    return typeof words === 'string' ? words : words.slice(0, redacted ? 1 : 2).join('; ')
  }

  get message(): string {
    return this.describe({})
  }

  describeParameter(): string {
    return parameterWords[this.type]?.(this.#value as never, this.ctx as never) ?? ''
  }
}

/** Adds a check to a schema. What it finds is in the `params` of zod's issue. */
export const withCheck = <S extends z.ZodType>(
  schema: S,
  find: (value: z.infer<S>) => Violation | readonly Violation[] | undefined,
): S =>
  schema.check(({ value, issues }) => {
    // Of a value that is not of its kind, no rule is evaluated.
    if (issues.length > 0) return
    for (const violation of [find(value as z.infer<S>) ?? []].flat())
      issues.push({ code: 'custom', input: value, params: { violation }, message: violation.type })
  })

/** What zod found wrong with a value; another type of value is a violation of the given type. */
export const zodViolation = (issue: z.core.$ZodIssue, value: unknown, otherType: string): Violation => {
  if (issue.code === 'custom') return issue.params?.['violation'] as Violation
  const isNumber = typeof value === 'number' && issue.code === 'invalid_type'
  if (isNumber && !Number.isFinite(value)) return new Violation('finite_number', value)
  if (isNumber && issue.expected === 'int') return new Violation('int_from_float', value)
  if (issue.code === 'too_big' || issue.code === 'too_small') return new Violation('int_range', value)
  return new Violation(otherType, value)
}
