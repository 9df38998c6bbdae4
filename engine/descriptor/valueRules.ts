/** The rules that a descriptor gives for the values of a field: which of them a value breaks, and how the documents state them. */
import type { z } from 'zod'
import { type GivenValue, type KindSpec, kindOf } from './kinds/index.js'
import { type OptionName, optionRows } from './options.js'
import { Violation, withCheck } from './violations.js'

/** The options that are rules, in the order in which a value is checked. */
export const ruleNames = optionRows.flatMap(([name, { rule }]) => (rule ? [name] : []))

export type FieldRules = KindSpec & { readonly redacted?: boolean | undefined } & {
  readonly [Name in OptionName]?: unknown
}

const givenRules = (field: FieldRules) =>
  optionRows.flatMap(([name, { rule }]) => {
    const optionValue = field[name]
    return !rule || optionValue === undefined ? [] : [{ ...rule, name, given: optionValue as never }]
  })

/** Creates the function that finds the rules which a value breaks. */
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
