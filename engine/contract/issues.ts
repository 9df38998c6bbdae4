/** The issues of a 422: what zod finds wrong with a body, what the database refuses, and what is wrong with a parameter. */
import type { z } from 'zod'
import { kindOf } from '../descriptor/kinds/index.js'
import { didYouMean } from '../descriptor/nearest.js'
import type { Field, Registry, Resource, RowValues, Value } from '../descriptor/registry.js'
import { brokenRules, wrongSteps } from '../descriptor/rowRules.js'
import { jsonNoun, shorten, Violation, zodViolation } from '../descriptor/violations.js'
import type { Issue } from './errors.js'

export const bodyIssue = (type: string, msg: string, ...loc: string[]): Issue => ({ type, loc: ['body', ...loc], msg })

export const bodyTypeIssue = (body: unknown): Issue =>
  bodyIssue('object_type', `The body must be a JSON object, not ${jsonNoun(body)}.`)

export const violationIssue = (field: Field, violation: Violation): Issue => {
  const { type, ctx } = violation
  const msg = `${field.name} ${violation.describe(field)}`
  return { ...bodyIssue(type, /[.?]$/.test(msg) ? msg : `${msg}.`, field.name), ...(ctx && { ctx }) }
}

export const fieldIssue = (field: Field, value: unknown, issue: z.core.$ZodIssue, isUpdate: boolean): Issue => {
  if (value !== undefined && value !== null)
    return violationIssue(field, zodViolation(issue, value, kindOf(field.kind).wrongType))
  return violationIssue(
    field,
    new Violation(value === null && field.redacted && isUpdate ? 'redacted' : 'missing', value),
  )
}

export const unknownIssue = (key: string, names: readonly string[]): Issue =>
  bodyIssue('extra_forbidden', `Unknown property "${shorten(key)}"${didYouMean(key, names) || '.'}`, key)

export const propertyIssue = (resource: Resource, writable: readonly string[], key: string): Issue => {
  const field = resource.fields.find(({ name }) => name === key)
  if (field) {
    const why = field.managed ? 'is set by the service' : 'cannot be changed'
    return bodyIssue('extra_forbidden', `${key} ${why}; remove it.`, key)
  }
  return unknownIssue(key, writable)
}

/** The issues for rules between fields that a row breaks. */
export const ruleIssues = (resource: Resource, row: RowValues, isChanged: (field: string) => boolean): Issue[] =>
  brokenRules(resource, row, isChanged).map(({ fields, message }) =>
    bodyIssue('rule', message, fields.at(-1) as string),
  )

/** The issues for an update that only the row as it is can show: steps that are not allowed, and rules that the changed row breaks. */
export const changeIssues = (
  resource: Resource,
  before: RowValues,
  values: RowValues,
  timestamps: RowValues = {},
): Issue[] => {
  const isOther = (name: string) => JSON.stringify(values[name]) !== JSON.stringify(before[name] ?? null)
  const changed = Object.keys(values).filter(isOther)
  // What an update sets by itself changes with everything else.
  const changedNames = changed.length > 0 ? [...changed, ...Object.keys(timestamps)] : []
  return [
    ...wrongSteps(resource, before, values).map(([field, violation]) => violationIssue(field, violation)),
    ...ruleIssues(resource, { ...before, ...values, ...timestamps }, (name) => changedNames.includes(name)),
  ]
}

/** The issue for a value that the database refuses although the descriptor allows it. */
export const constraintIssue = (
  { fields }: Resource,
  { constraint, column, reason }: { constraint?: string | undefined; column?: string | undefined; reason: string },
  row: RowValues,
): Issue => {
  const name = fields.find((field) => field.column === column)?.name ?? column
  const secrets = fields.filter(({ redacted }) => redacted).map((field) => `"${row[field.name]}"`)
  // A reason of the server may repeat a value: invalid input value for enum mood: "calm".
  const msg = secrets.reduce(
    (text, secret) => text.replaceAll(secret, 'a value'),
    `The database refuses the row: ${reason}.`,
  )
  const issue = bodyIssue('constraint', msg, ...(name === undefined ? [] : [name]))
  return constraint === undefined ? issue : { ...issue, ctx: { constraint } }
}

export const conflictIssue = (
  registry: Registry,
  resource: Resource,
  type: 'reference' | 'unique',
  name: string,
  row: RowValues,
): Issue => {
  const { references, unique, redacted } = resource.fields.find((field) => field.name === name) as Field
  if (type === 'reference') {
    const target = registry.find(({ path }) => path === references) as Resource
    const requirement = `must reference an existing ${target.name.toLowerCase()}`
    return bodyIssue(
      type,
      `${name} ${requirement}${redacted ? '' : `; there is none with id ${typeof row[name] === 'string' ? JSON.stringify(shorten(row[name])) : row[name]}`}.`,
      name,
    )
  }
  const within = unique?.length ? ` for the same ${unique.join(' and ')}` : ''
  return bodyIssue(type, `${name} must be unique; another row already has this value${within}.`, name)
}

/** The issue for a row of an import that is to be changed, but is not there. */
export const missingRowIssue = ({ name }: Resource, id: Value): Issue =>
  bodyIssue('reference', `There is no ${name.toLowerCase()} with id ${JSON.stringify(id)}, and ids are assigned.`, 'id')

export const queryIssue = (type: string, name: string, msg: string, input: string, place = 'query'): Issue => ({
  type,
  loc: [place, name],
  msg,
  input,
})

export const parameterIssue = (name: string, input: string, violation: Violation): Issue => {
  const { type, ctx } = violation
  return { ...queryIssue(type, name, violation.describeParameter(), input), ...(ctx && { ctx }) }
}

/** The issue for an operator that the field does not have; `parameters` are those of the list. */
export const operatorIssue = (name: string, input: string, field: string, parameters: readonly string[]): Issue => {
  const alternatives = parameters.filter((parameter) => parameter === field || parameter.startsWith(`${field}.`))
  const use = alternatives.length === 0 ? `${field} is neither a filter nor a range` : `use ${alternatives.join(', ')}`
  const hint = didYouMean(name, alternatives) || `; ${use}`
  return queryIssue('extra_forbidden', name, `Unknown operator "${name.slice(field.length)}" of ${field}${hint}`, input)
}

/** The issue for rows within rows, which a table of cells cannot have. */
export const expandedCellsIssue = (expand: readonly string[]): Issue =>
  queryIssue('extra_forbidden', 'expand', 'CSV has no expanded rows; ask for JSON or NDJSON', expand.join(','))

/** The issue for groups whose values are texts of many megabytes. */
export const largeGroupsIssue = (names: readonly string[]): Issue =>
  queryIssue(
    'too_long',
    'by',
    'The values are too long to group by; ask for fewer groups, or for other fields',
    names.join(','),
  )

const cursorErrors = {
  invalid: 'Input should be a cursor from the Link header of this list',
  otherList: 'The cursor belongs to another list; keep the other parameters as they were',
  withOffset: 'Send either after or offset, not both',
  notOfChanges: 'Input should be the cursor that a page of these changes has as meta.next',
}

export const cursorIssue = (input: string, error: keyof typeof cursorErrors): Issue =>
  queryIssue('value_error', 'after', cursorErrors[error], input)

const notText = 'Input should be a valid string: percent-encoded UTF-8 without a NUL'

export const itemIdIssue = (input: string): Issue => queryIssue('string_unicode', 'item_id', notText, input, 'path')
