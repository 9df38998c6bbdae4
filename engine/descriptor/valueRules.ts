/** The rules that a descriptor may give for the values of a field: what each refuses, and how the documents state it. */

import type { z } from 'zod'
import { type Kind, kindOf, quote, Refusal, refuseIf } from './kinds.js'
import { didYouMean } from './nearest.js'
import { compilePattern, maxPatternLength } from './pattern.js'

export interface RuleOptions<V> {
  /** The only values that are allowed. */
  oneOf?: readonly V[]
  /** The least and the greatest value. */
  min?: V
  max?: V
  /** The least and the greatest number of characters, counted as code points. */
  minLength?: number
  maxLength?: number
  /** A regular expression that the whole value must match; needs a `maxLength` of at most 1,000. */
  pattern?: string
}

export type RuleName = keyof RuleOptions<never>

/** A value with a rule: null never has one. */
type Ruled = string | number | boolean
type Refuse = (value: never) => Refusal | undefined

interface ValueRule {
  readonly refuse: (given: never, kind: Kind) => Refuse
  readonly keywords: (given: never, kind: Kind) => Readonly<Record<string, unknown>>
}

const shown = (value: Ruled): string => (typeof value === 'string' ? quote(value) : String(value))

const isMoment = (kind: Kind): boolean => ['date', 'datetime-local'].includes(kindOf(kind).input)

/** A character outside the first plane takes two units. Not by a match, which takes 60 ms for a megabyte of them. */
const countCodePoints = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) !== 0xd800) count++
  return count
}

const toCanonical = (kind: Kind, value: Ruled): Ruled => kindOf(kind).canonical?.(value as never) ?? value

const bound = (
  [type, key, keyword]: readonly [type: string, key: 'ge' | 'le', keyword: string],
  isWithin: (value: Ruled, bound: Ruled) => boolean,
  [atLeast, less]: readonly [string, string],
  [later, earlier]: readonly [string, string],
) => ({
  refuse: (given: Ruled, kind: Kind) => (sent: Ruled) => {
    if (isWithin(toCanonical(kind, sent), toCanonical(kind, given))) return undefined
    const [requirement, wrong] = isMoment(kind) ? [`${given} or ${later}`, earlier] : [`${atLeast} ${given}`, less]
    return new Refusal(type, `must be ${requirement}`, { [key]: given }, `${sent} is ${wrong}`)
  },
  keywords: (given: Ruled, kind: Kind) => ({ [isMoment(kind) ? `x-${keyword}` : keyword]: given }),
})

const lengthBound = (
  [type, key, keyword]: readonly [type: string, key: string, keyword: string],
  isWithin: (text: string, length: number) => boolean,
  words: string,
) => ({
  refuse: (given: number) => (text: string) => {
    if (isWithin(text, given)) return undefined
    const message = `must have ${words} ${given} characters; it has ${countCodePoints(text)}`
    return new Refusal(type, message, { [key]: given })
  },
  keywords: (given: number) => ({ [keyword]: given }),
})

export const valueRules = {
  oneOf: {
    refuse: (values: readonly Ruled[]) => {
      const allowed = new Set(values)
      return (value: Ruled) => {
        if (allowed.has(value)) return undefined
        const hint = typeof value === 'string' ? didYouMean(value, values.map(String)) : ''
        const requirement = `must be one of ${values.map(shown).join(', ')}`
        return new Refusal('enum', requirement, { expected: values }, `${shown(value)} is not${hint}`)
      }
    },
    keywords: (values: readonly Ruled[]) => ({ enum: values }),
  },
  min: bound(
    ['greater_than_equal', 'ge', 'minimum'],
    (value, min) => value >= min,
    ['at least', 'less'],
    ['later', 'earlier'],
  ),
  max: bound(
    ['less_than_equal', 'le', 'maximum'],
    (value, max) => value <= max,
    ['at most', 'more'],
    ['earlier', 'later'],
  ),
  // The number of UTF-16 units decides for most texts.
  minLength: lengthBound(
    ['string_too_short', 'min_length', 'minLength'],
    (text, min) => text.length >= 2 * min || countCodePoints(text) >= min,
    'at least',
  ),
  maxLength: lengthBound(
    ['string_too_long', 'max_length', 'maxLength'],
    (text, max) => text.length <= max || (text.length <= 2 * max && countCodePoints(text) <= max),
    'at most',
  ),
  pattern: {
    refuse: (pattern: string) => {
      const matches = compilePattern(pattern)
      // A text of a megabyte takes seconds; it is too long anyway.
      return (text: string) =>
        text.length > 2 * maxPatternLength || matches(text)
          ? undefined
          : new Refusal('string_pattern_mismatch', `must match ${pattern}`, { pattern }, `${quote(text)} does not`)
    },
    keywords: (pattern: string) => ({ pattern: `^(?:${pattern})$` }),
  },
} as const satisfies Record<RuleName, ValueRule>

export const ruleNames = Object.keys(valueRules) as RuleName[]

export type Ruling = { readonly kind: Kind; readonly redacted?: boolean | undefined } & {
  readonly [Name in RuleName]?: unknown
}

const givenRules = (field: Ruling) =>
  ruleNames.flatMap((name) => {
    const given = field[name]
    return given === undefined ? [] : [{ rule: valueRules[name] as ValueRule, given: given as never }]
  })

/** Makes the function that finds the rules which a value breaks. */
export const valueRuling = (field: Ruling): ((value: Ruled) => Refusal[]) => {
  const checks = givenRules(field).map(({ rule, given }) => rule.refuse(given, field.kind))
  return (value) => checks.flatMap((refuse) => refuse(value as never) ?? [])
}

export const ruleKeywords = (field: Ruling): Record<string, unknown> =>
  Object.assign({}, ...givenRules(field).map(({ rule, given }) => rule.keywords(given, field.kind)))

/** The schema of a value of a field in a body: what its kind and its rules allow. */
export const valueSchema = (field: Ruling): z.ZodType => {
  const schema = kindOf(field.kind).body()
  return givenRules(field).length === 0 ? schema : refuseIf(schema, valueRuling(field) as never)
}

/** Making a schema takes longer than the check of a value, and a start checks every demo row. */
const schemas = new WeakMap<Ruling, z.ZodType>()

/** Why a value cannot be one of a field; undefined if it can. */
export const refuseValue = (field: Ruling, value: unknown): Refusal | undefined => {
  const schema = schemas.get(field) ?? valueSchema(field)
  schemas.set(field, schema)
  const { error } = schema.safeParse(value)
  const issue = error?.issues[0]
  if (!issue) return undefined
  const refusal = issue.code === 'custom' ? (issue.params?.['refusal'] as Refusal | undefined) : undefined
  return refusal ?? new Refusal(kindOf(field.kind).wrongType, `must be ${kindOf(field.kind).expected}`)
}
