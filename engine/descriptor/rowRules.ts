/** Rules between the fields of a row, and the steps of a status: which of them a create or an update would break. */
import { toUnits } from './decimals.js'
import { JsonText } from './jsonText.js'
import { canonicalOf, type KindSpec } from './kinds.js'
import type { Field, GivenValue, Resource, RowValues, Value } from './registry.js'

/** A value as a rule gets it. */
export const ruleValue = (spec: KindSpec, value: GivenValue): unknown => {
  const stored = canonicalOf(spec, value)
  if (spec.kind === 'decimal') return toUnits(String(stored))
  return stored instanceof JsonText ? stored.toJSON() : stored
}

export interface BrokenRule {
  /** The last of its fields. */
  readonly field: string
  readonly message: string
}

/** The rules that a row breaks, of those that concern changed fields; throws if one throws, or returns no boolean. */
export const brokenRules = (
  { name: resource, rules = [], fields }: Resource,
  row: RowValues,
  isChanged: (field: string) => boolean,
): BrokenRule[] =>
  rules.flatMap(({ fields: names, holds, message }) => {
    if (!names.some(isChanged)) return []
    const values = names.map((name) => [name, row[name] ?? null] as const)
    if (values.some(([, value]) => value === null)) return []
    const given = values.map(([name, value]) => {
      const field = fields.find((one) => one.name === name) as Field
      return [name, ruleValue(field, value as GivenValue)]
    })
    const held: unknown = holds(Object.fromEntries(given))
    if (typeof held !== 'boolean') throw new TypeError(`the rule "${message}" of ${resource} returned ${typeof held}`)
    return held ? [] : [{ field: names.at(-1) as string, message }]
  })

export interface WrongStep {
  readonly field: Field
  readonly from: Value
  readonly to: Value
  /** The values that may follow. */
  readonly expected: readonly GivenValue[]
}

/** The steps of an update that `next` does not allow. A row whose value is null, or no longer one of `oneOf`, may take any. */
export const wrongSteps = ({ fields }: Resource, before: RowValues, values: RowValues): WrongStep[] =>
  fields.flatMap((field) => {
    const { name, next, oneOf = [] } = field
    const [from = null, to] = [before[name], values[name]]
    if (!next || to === undefined || to === from || from === null || !oneOf.includes(from)) return []
    const expected = next[String(from)] ?? []
    return to !== null && expected.includes(to) ? [] : [{ field, from, to, expected }]
  })
