/** The rules that a descriptor may give for the values of a field: what each allows, and how the documents state it. */
import type { z } from 'zod'
import { canonicalOf, type KindSpec, kindOf } from './kinds/index.js'
import { compilePattern, maxPatternLength } from './pattern.js'
import type { GivenValue } from './registry.js'
import { countCodePoints, Violation, withCheck } from './violations.js'

export interface RuleOptions<V> {
  /** The only values that are allowed. */
  oneOf?: readonly V[]
  /** The least and the greatest value. */
  min?: V
  max?: V
  /** The least and the greatest number of characters, counted as code points. */
  minLength?: number
  maxLength?: number
  /** Values that are not allowed, because they mean something else in a URL; of an `id`, not an option of fields. */
  reserved?: readonly string[]
  /** A regular expression that the whole value must match; needs a `maxLength` of at most 1,000. */
  pattern?: string
}

export type RuleName = keyof RuleOptions<never>

interface ValueRule {
  /** The type of a violation, and the key of the rule in its `ctx`. */
  readonly violation: readonly [type: string, key: string]
  readonly allows: (given: never, spec: KindSpec) => (value: never) => boolean
  /** In JSON Schema; by default the rule has the same name there. */
  readonly keywords?: (given: never) => Readonly<Record<string, unknown>>
}

const toComparable = (spec: KindSpec, value: GivenValue) =>
  kindOf(spec.kind).comparable?.(value as never, spec) ?? canonicalOf(spec, value)

/** JSON Schema has bounds of numbers only. */
const boundKeywords = (keyword: string) => (given: GivenValue) => ({
  [typeof given === 'string' ? `x-${keyword}` : keyword]: given,
})

export const valueRules = {
  oneOf: {
    violation: ['enum', 'expected'],
    allows: (values: readonly GivenValue[]) => {
      const allowed = new Set(values)
      return (value: GivenValue) => allowed.has(value)
    },
    keywords: (values: readonly GivenValue[]) => ({ enum: values }),
  },
  min: {
    violation: ['greater_than_equal', 'ge'],
    allows: (min: GivenValue, spec) => (value: GivenValue) => toComparable(spec, value) >= toComparable(spec, min),
    keywords: boundKeywords('minimum'),
  },
  max: {
    violation: ['less_than_equal', 'le'],
    allows: (max: GivenValue, spec) => (value: GivenValue) => toComparable(spec, value) <= toComparable(spec, max),
    keywords: boundKeywords('maximum'),
  },
  // The number of UTF-16 units decides for most texts.
  minLength: {
    violation: ['string_too_short', 'min_length'],
    allows: (min: number) => (text: string) => text.length >= 2 * min || countCodePoints(text) >= min,
  },
  maxLength: {
    violation: ['string_too_long', 'max_length'],
    allows: (max: number) => (text: string) =>
      text.length <= max || (text.length <= 2 * max && countCodePoints(text) <= max),
  },
  reserved: {
    violation: ['reserved', 'reserved'],
    allows: (values: readonly string[]) => (value: string) => !values.includes(value),
    // The description of the id has them.
    keywords: () => ({}),
  },
  pattern: {
    violation: ['string_pattern_mismatch', 'pattern'],
    allows: (pattern: string) => {
      const matches = compilePattern(pattern)
      // A text of a megabyte takes seconds; it is too long anyway.
      return (text: string) => text.length > 2 * maxPatternLength || matches(text)
    },
    keywords: (pattern: string) => ({ pattern: `^(?:${pattern})$` }),
  },
} as const satisfies Record<RuleName, ValueRule>

export const ruleNames = Object.keys(valueRules) as RuleName[]

export type FieldRules = KindSpec & { readonly redacted?: boolean | undefined } & {
  readonly [Name in RuleName]?: unknown
}

const givenRules = (field: FieldRules) =>
  ruleNames.flatMap((name) => {
    const given = field[name]
    return given === undefined ? [] : [{ ...(valueRules[name] as ValueRule), name, given: given as never }]
  })

/** Makes the function that finds the rules which a value breaks. */
export const violationFinder = (field: FieldRules): ((value: GivenValue) => Violation[]) => {
  const rules = givenRules(field).map(({ violation: [type, key], allows, given }) => {
    const isAllowed = allows(given, field)
    return (value: GivenValue) => (isAllowed(value as never) ? [] : [new Violation(type, value, { [key]: given })])
  })
  return (value) => rules.flatMap((find) => find(value))
}

export const ruleKeywords = (field: FieldRules): Record<string, unknown> =>
  Object.assign({}, ...givenRules(field).map(({ name, keywords, given }) => keywords?.(given) ?? { [name]: given }))

export const valueSchema = (field: FieldRules): z.ZodType => {
  const schema = kindOf(field.kind).body(field)
  return givenRules(field).length === 0 ? schema : withCheck(schema, violationFinder(field) as never)
}

/** Making a schema takes longer than the check of a value, and a start checks every demo row. */
const schemas = new WeakMap<FieldRules, z.ZodType>()

/** Why a value cannot be one of a field; undefined if it can. */
export const findViolation = (field: FieldRules, value: unknown): Violation | undefined => {
  const schema = schemas.get(field) ?? valueSchema(field)
  schemas.set(field, schema)
  const issue = schema.safeParse(value).error?.issues[0]
  if (!issue) return undefined
  if (issue.code === 'custom') return issue.params?.['violation'] as Violation
  return new Violation('kind', value, { expected: kindOf(field.kind).expected })
}
