/** Validates the body of a create or an update, and turns everything that is wrong with it into issues. */
import type { z } from 'zod'
import { kindOf, type Refusal } from '../descriptor/kinds.js'
import { nearest } from '../descriptor/nearest.js'
import {
  canonicalValue,
  type Field,
  newRow,
  type Registry,
  type Resource,
  type RowValues,
  updatableFields,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { type Issue, maxIssues, shorten } from './errors.js'
import { inexactKeys } from './exactNumbers.js'

export const bodyLimit = 1024 * 1024

export const bodyIssue = (type: string, msg: string, ...loc: string[]): Issue => ({ type, loc: ['body', ...loc], msg })

const jsonNoun = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The issue for a declared property that its schema refuses; what zod says of it decides. */
const fieldIssue = (field: Field, value: unknown, issue: z.core.$ZodIssue, isUpdate: boolean): Issue => {
  const { name, kind, redacted } = field
  const say = (type: string, words: string, ctx?: Issue['ctx']) => ({
    ...bodyIssue(type, `${name} ${words}${/[.?]$/.test(words) ? '' : '.'}`, name),
    ...(ctx && { ctx }),
  })
  if (value === null && redacted && isUpdate)
    return say('redacted', 'is never returned, so null does not mean that it is empty; leave it out, or send a value')
  if (value === undefined || value === null) return say('missing', 'is required')
  const refusal = issue.code === 'custom' ? (issue.params?.['refusal'] as Refusal) : undefined
  if (refusal) return say(refusal.type, refusal.describe(field), refusal.ctx)
  if (typeof value === 'number' && issue.code === 'invalid_type' && !Number.isFinite(value))
    return say('finite_number', 'is too large for a double')
  if (typeof value === 'number' && issue.code === 'invalid_type' && issue.expected === 'int')
    return say('int_from_float', `must be an integer${redacted ? ', without a fraction' : `; ${value} has a fraction`}`)
  if (issue.code === 'too_big' || issue.code === 'too_small')
    return say('int_range', `must be an integer between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`)
  const { wrongType, noun } = kindOf(kind)
  return say(wrongType, `must be ${noun}, not ${jsonNoun(value)}`)
}

const propertyIssue = (resource: Resource, writable: readonly string[], key: string): Issue => {
  const field = resource.fields.find(({ name }) => name === key)
  if (field) {
    const why = field.managed ? 'is set by the service' : 'cannot be changed'
    return bodyIssue('extra_forbidden', `${key} ${why}; remove it.`, key)
  }
  const suggestion = nearest(key, writable)
  const hint = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`
  return bodyIssue('extra_forbidden', `Unknown property "${shorten(key)}".${hint}`, key)
}

/** Reads the body of a request, with its source; the values are those that may be stored. */
export type BodyReader = (body: unknown, source?: string) => { values: RowValues; issues: Issue[] }

const bodyReader = (resource: Resource, allowed: readonly Field[], schema: z.ZodObject, isUpdate: boolean) => {
  const fields = new Map(allowed.map((field) => [field.name, field]))
  const names = [...fields.keys()]

  return (body: unknown, source = ''): { values: Readonly<Record<string, Value | undefined>>; issues: Issue[] } => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return {
        values: {},
        issues: [bodyIssue('object_type', `The body must be a JSON object, not ${jsonNoun(body)}.`)],
      }
    }
    const sent = body as RowValues
    /** By field and type: two checks of zod have one issue, such as those of an integer that is too large. */
    const invalid = new Map<string, Issue>()
    const unknown: string[] = []
    // The schema gets no unknown property: it would report 70,000 of them, of which the response has a hundred.
    for (const key in sent) {
      if (!fields.has(key)) unknown.push(key)
      if (unknown.length === maxIssues) break
    }
    const known: RowValues = Object.fromEntries(
      names.flatMap((name) => (Object.hasOwn(sent, name) ? [[name, sent[name] as Value]] : [])),
    )
    for (const issue of schema.safeParse(known).error?.issues ?? []) {
      const name = String(issue.path[0])
      const found = fieldIssue(fields.get(name) as Field, sent[name], issue, isUpdate)
      invalid.set(`${name} ${found.type}`, found)
    }
    for (const { loc } of invalid.values()) delete known[String(loc[1])]
    for (const name of inexactKeys(source, fields)) {
      if (typeof known[name] !== 'number') continue
      const msg = `${name} has more digits than a double can store; send it rounded.`
      invalid.set(name, bodyIssue('number_precision', msg, name))
      delete known[name]
    }
    return {
      values: known,
      issues: [...invalid.values(), ...unknown.map((key) => propertyIssue(resource, names, key))],
    }
  }
}

export const createBodyReader = (resource: Resource, schema: z.ZodObject): BodyReader => {
  const read = bodyReader(resource, writableFields(resource), schema, false)
  return (body, source) => {
    const { values, issues } = read(body, source)
    const row = newRow(resource, values)
    for (const { loc } of issues) delete row[String(loc[1])]
    return { values: row, issues }
  }
}

export const updateBodyReader = (resource: Resource, schema: z.ZodObject): BodyReader => {
  const fields = updatableFields(resource)
  const read = bodyReader(resource, fields, schema, true)
  return (body, source) => {
    const { values, issues } = read(body, source)
    const stored = fields.flatMap((field) => {
      const value = values[field.name]
      return value === undefined ? [] : [[field.name, canonicalValue(field, value)]]
    })
    return { values: Object.fromEntries(stored), issues }
  }
}

/** The issue for a value that the database refuses although the descriptor allows it. */
export const refusedIssue = (
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
  return {
    type: 'constraint',
    loc: name === undefined ? ['body'] : ['body', name],
    msg,
    ...(constraint !== undefined && { ctx: { constraint } }),
  }
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
    const existing = `must reference an existing ${target.name.toLowerCase()}`
    return bodyIssue(type, `${name} ${existing}${redacted ? '' : `; there is none with id ${row[name]}`}.`, name)
  }
  const within = unique?.length ? ` for the same ${unique.join(' and ')}` : ''
  return bodyIssue(type, `${name} must be unique; another row already has this value${within}.`, name)
}
