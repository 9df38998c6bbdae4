/** Validates a create body and turns everything that is wrong with it into issues. */
import type { z } from 'zod'
import { kindOf, type Refusal } from '../descriptor/kinds.js'
import { nearest } from '../descriptor/nearest.js'
import {
  type Field,
  newRow,
  type Registry,
  type Resource,
  type RowValues,
  writableFields,
} from '../descriptor/registry.js'
import { type Issue, maxIssues, shorten } from './errors.js'
import { inexactKeys } from './exactNumbers.js'

/** The maximum size of a create body in bytes. */
export const bodyLimit = 1024 * 1024

export const bodyIssue = (type: string, msg: string, ...loc: string[]): Issue => ({ type, loc: ['body', ...loc], msg })

const nounOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The issue for a declared property that its schema refuses; what zod says of it decides. */
const fieldIssue = ({ name, kind }: Field, value: unknown, issue: z.core.$ZodIssue): Issue => {
  const say = (type: string, words: string, ctx?: Issue['ctx']) => ({
    ...bodyIssue(type, `${name} ${words}${/[.?]$/.test(words) ? '' : '.'}`, name),
    ...(ctx && { ctx }),
  })
  if (value === undefined) return say('missing', 'is required')
  const refusal = issue.code === 'custom' ? (issue.params?.['refusal'] as Refusal) : undefined
  if (refusal) return say(refusal.type, refusal.message, refusal.ctx)
  if (typeof value === 'number' && issue.code === 'invalid_type' && !Number.isFinite(value))
    return say('finite_number', 'is too large for a double')
  if (typeof value === 'number' && issue.code === 'invalid_type' && issue.expected === 'int')
    return say('int_from_float', `must be an integer; ${value} has a fraction`)
  if (issue.code === 'too_big' || issue.code === 'too_small')
    return say('int_range', `must be an integer between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`)
  const { wrongType, noun } = kindOf(kind)
  return say(wrongType, `must be ${noun}, not ${nounOf(value)}`)
}

const propertyIssue = (resource: Resource, writable: readonly string[], key: string): Issue => {
  if (resource.fields.some((field) => field.name === key)) {
    return bodyIssue('extra_forbidden', `${key} is set by the service; remove it.`, key)
  }
  const suggestion = nearest(key, writable)
  const hint = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`
  return bodyIssue('extra_forbidden', `Unknown property "${shorten(key)}".${hint}`, key)
}

/**
 * Makes the function that validates create bodies with their schema, given the parsed JSON and its source. It returns the
 * row that the body makes, without the invalid fields, and the issues.
 */
export const createBodyReader = (resource: Resource, schema: z.ZodObject) => {
  const fields = new Map(writableFields(resource).map((field) => [field.name, field]))
  const writable = [...fields.keys()]

  return (body: unknown, source = ''): { row: RowValues; issues: Issue[] } => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return { row: {}, issues: [bodyIssue('object_type', `The body must be a JSON object, not ${nounOf(body)}.`)] }
    }
    const values = body as RowValues
    const invalid = new Map<string, Issue>()
    const unknown: string[] = []
    // The schema gets no unknown property: it would report 70,000 of them, of which the response has a hundred.
    for (const key in values) {
      if (!fields.has(key)) unknown.push(key)
      if (unknown.length === maxIssues) break
    }
    const known = Object.fromEntries(
      writable.flatMap((name) => (Object.hasOwn(values, name) ? [[name, values[name]]] : [])),
    )
    for (const issue of schema.safeParse(known).error?.issues ?? []) {
      const name = String(issue.path[0])
      const field = fields.get(name)
      // A value can break several rules of its schema; one issue is enough.
      if (field && !invalid.has(name)) invalid.set(name, fieldIssue(field, values[name], issue))
    }
    for (const name of inexactKeys(source, fields)) {
      if (typeof values[name] !== 'number' || invalid.has(name)) continue
      const msg = `${name} has more digits than a double can store; send it rounded.`
      invalid.set(name, bodyIssue('number_precision', msg, name))
    }
    const row = newRow(resource, values)
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
): Issue => {
  const { references, unique } = resource.fields.find((field) => field.name === name) as Field
  if (type === 'reference') {
    const target = registry.find(({ path }) => path === references) as Resource
    const existing = `must reference an existing ${target.name.toLowerCase()}`
    return bodyIssue(type, `${name} ${existing}; there is none with id ${row[name]}.`, name)
  }
  const within = unique?.length ? ` for the same ${unique.join(' and ')}` : ''
  return bodyIssue(type, `${name} must be unique; another row already has this value${within}.`, name)
}
