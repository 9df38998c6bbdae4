/** Rules between the fields of a row, and the steps of a status: which of them a create or an update would break. */
import type { Rule } from './define.js'
import { JsonText } from './jsonText.js'
import { canonicalOf, type KindSpec, kindOf } from './kinds/index.js'
import type { Field, GivenValue, Resource, RowValues, Value } from './registry.js'
import { Violation } from './violations.js'

/** Whether an update of a row depends on the row as it is. */
export const isRuled = ({ rules, fields }: Resource): boolean => rules !== undefined || fields.some(({ next }) => next)

/** A value as a rule gets it. */
export const ruleValue = (spec: KindSpec, value: GivenValue): unknown => {
  const stored = kindOf(spec.kind).comparable?.(value as never, spec) ?? canonicalOf(spec, value)
  return stored instanceof JsonText ? stored.toJSON() : stored
}

/** The rules that a row breaks, of those that concern changed fields; throws if one throws, or returns no boolean. */
export const brokenRules = (
  { name: resource, rules = [], fields }: Resource,
  row: RowValues,
  isChanged: (field: string) => boolean,
): Rule[] =>
  rules.filter(({ fields: names, holds, message }) => {
    const ruleFields = fields.filter(({ name }) => names.includes(name))
    if (!names.some(isChanged) || ruleFields.some(({ name }) => (row[name] ?? null) === null)) return false
    const values = ruleFields.map((field) => [field.name, ruleValue(field, row[field.name] as GivenValue)])
    const held: unknown = holds(Object.fromEntries(values))
    if (typeof held !== 'boolean') throw new TypeError(`the rule "${message}" of ${resource} returned ${typeof held}`)
    return !held
  })

const newFields = new WeakMap<Field, Field>()

/** A field as a create may send it: with the values of `start` alone. The same object for the same field, whose schema is kept. */
export const newField = (field: Field): Field => {
  const { start } = field
  if (!start) return field
  const known = newFields.get(field) ?? { ...field, oneOf: start }
  newFields.set(field, known)
  return known
}

/** A resource whose creates may send every value, as those of whoever operates the service may. */
export const withoutStart = (resource: Resource): Resource => ({
  ...resource,
  fields: resource.fields.map(({ start: _, ...field }) => field),
})

/** The values that a create sends although they only follow others; null begins anywhere. */
export const wrongStarts = (
  fields: readonly Field[],
  sent: Readonly<Record<string, Value | undefined>>,
): [Field, Violation][] =>
  fields.flatMap((field): [Field, Violation][] => {
    const { start, name } = field
    const value = sent[name] ?? null
    if (!start || value === null || start.includes(value)) return []
    return [[field, new Violation('transition', value, { from: null, expected: start })]]
  })

/** The fields whose values an update would change by a step that `next` does not allow; from null, and from a value that `oneOf` lacks, all are allowed. */
export const wrongSteps = ({ fields }: Resource, before: RowValues, values: RowValues): [Field, Violation][] =>
  fields.flatMap((field): [Field, Violation][] => {
    const { name, next, oneOf = [] } = field
    const [from = null, to] = [before[name], values[name]]
    if (!next || to === undefined || to === from || from === null || !oneOf.includes(from)) return []
    const expected = next[String(from)] ?? []
    return to !== null && expected.includes(to) ? [] : [[field, new Violation('transition', to, { from, expected })]]
  })
