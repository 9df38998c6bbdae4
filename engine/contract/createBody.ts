/** Validates a create body and turns everything that is wrong with it into issues. */
import type { z } from 'zod'
import { nearest } from '../descriptor/nearest.js'
import {
  type Field,
  newRow,
  type Registry,
  type Resource,
  type RowValues,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { type BodyIssue, mostIssues } from './errors.js'
import { inexactKeys } from './exactNumbers.js'

/** The most bytes a create body may have. */
export const bodyLimit = 1024 * 1024

/** The row that a body makes, without the invalid fields, and the issues. */
export interface ParsedBody {
  readonly row: RowValues
  readonly issues: BodyIssue[]
}

export const bodyIssue = (type: string, msg: string, ...loc: string[]): BodyIssue => ({
  type,
  loc: ['body', ...loc],
  msg,
})

/** The types are named as in pydantic, like those of parameters. */
const kindIssue = {
  integer: { type: 'int_type', noun: 'an integer' },
  number: { type: 'float_type', noun: 'a number' },
  text: { type: 'string_type', noun: 'a string' },
} as const

const nounOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The issue for a declared property that zod refuses. */
const fieldIssue = (field: Field, value: unknown, issue: z.core.$ZodIssue): BodyIssue => {
  const { name, kind } = field
  const { type, noun } = kindIssue[kind]
  if (value === undefined) return bodyIssue('missing', `${name} is required.`, name)
  if (value === null) return bodyIssue(type, `${name} must be ${noun}, not null.`, name)
  if (issue.code === 'custom') {
    const what = issue.message === 'nul' ? 'a NUL (U+0000)' : 'a lone surrogate, which is not valid Unicode'
    return bodyIssue('string_unicode', `${name} contains ${what}; remove it.`, name)
  }
  if (typeof value === 'number' && kind !== 'text') {
    if (!Number.isFinite(value)) return bodyIssue('finite_number', `${name} is too large for a double.`, name)
    if (!Number.isInteger(value))
      return bodyIssue('int_from_float', `${name} must be an integer; ${value} has a fraction.`, name)
    const most = Number.MAX_SAFE_INTEGER
    return bodyIssue('int_range', `${name} must be an integer between -${most} and ${most}.`, name)
  }
  return bodyIssue(type, `${name} must be ${noun}, not ${nounOf(value)}.`, name)
}

const inexactIssue = ({ name }: Field): BodyIssue =>
  bodyIssue('number_precision', `${name} has more digits than a double can store; send it rounded.`, name)

const propertyIssue = (resource: Resource, writable: readonly string[], key: string): BodyIssue => {
  if (resource.fields.some((field) => field.name === key)) {
    return bodyIssue('extra_forbidden', `${key} is set by the service; remove it.`, key)
  }
  const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key
  const suggestion = nearest(key, writable)
  const hint = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`
  return bodyIssue('extra_forbidden', `Unknown property "${shown}".${hint}`, key)
}

/** Makes the function that validates create bodies with their schema, given the parsed JSON and its source. */
export const createBodyReader = (
  resource: Resource,
  schema: z.ZodObject,
): ((body: unknown, source?: string) => ParsedBody) => {
  const fields = new Map(writableFields(resource).map((field) => [field.name, field]))
  const writable = [...fields.keys()]

  return (body, source = '') => {
    const result = schema.safeParse(body)
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return {
        row: {},
        issues: [bodyIssue('object_type', `The body must be a JSON object, not ${nounOf(body)}.`)],
      }
    }
    const values = body as Record<string, Value>
    const invalid = new Map<string, BodyIssue>()
    const unknown: string[] = []
    for (const issue of result.error?.issues ?? []) {
      if (issue.code === 'unrecognized_keys') unknown.push(...issue.keys.slice(0, mostIssues))
      const name = String(issue.path[0])
      const field = fields.get(name)
      // A value can break several rules of its schema; one issue is enough.
      if (field && !invalid.has(name)) invalid.set(name, fieldIssue(field, values[name], issue))
    }
    for (const name of inexactKeys(source)) {
      const field = fields.get(name)
      if (field && typeof values[name] === 'number' && !invalid.has(name)) invalid.set(name, inexactIssue(field))
    }
    const valid = writable.filter((name) => !invalid.has(name) && Object.hasOwn(values, name))
    const row = newRow(resource, Object.fromEntries(valid.map((name) => [name, values[name] ?? null])))
    for (const name of invalid.keys()) delete row[name]
    const issues = [...invalid.values(), ...unknown.map((key) => propertyIssue(resource, writable, key))]
    return { row, issues }
  }
}

/** The issue for a conflict that the database found. */
export const conflictIssue = (
  registry: Registry,
  resource: Resource,
  type: 'reference' | 'unique',
  name: string,
  row: RowValues,
): BodyIssue => {
  const { references, unique } = resource.fields.find((field) => field.name === name) as Field
  if (type === 'reference') {
    const target = registry.find(({ path }) => path === references) as Resource
    const existing = `must reference an existing ${target.name.toLowerCase()}`
    return bodyIssue(type, `${name} ${existing}; there is none with id ${row[name]}.`, name)
  }
  const within = unique?.length ? ` for the same ${unique.join(' and ')}` : ''
  return bodyIssue(type, `${name} must be unique; another row already has this value${within}.`, name)
}
