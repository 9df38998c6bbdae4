/** Reads a create body against its schema and tells every fault in the interface's own words. */
import type { z } from 'zod'
import { didYouMean } from '../descriptor/nearest.js'
import {
  type Field,
  newRow,
  type Resource,
  type RowValues,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { type BodyIssue, mostIssues } from './errors.js'
import { inexactKeys } from './exactNumbers.js'
import { createSchema } from './schemas.js'

/** A body that was read: the row it would make, without the fields at fault, and the faults. */
export interface ParsedBody {
  readonly row: RowValues
  readonly issues: BodyIssue[]
}

export const bodyIssue = (type: string, msg: string, ...loc: string[]): BodyIssue => ({
  type,
  loc: ['body', ...loc],
  msg,
})

/** The type names are pydantic's, as they are for parameters. */
const kindIssue = {
  integer: { type: 'int_type', noun: 'an integer' },
  number: { type: 'float_type', noun: 'a number' },
  text: { type: 'string_type', noun: 'a string' },
} as const

const nounOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return `${value}`
  return { string: 'a string', boolean: 'a boolean', object: 'an object' }[typeof value as string] ?? ''
}

/** Zod's refusal of a declared property, in our words. */
const fieldIssue = (field: Field, value: unknown, issue: z.core.$ZodIssue): BodyIssue => {
  const { name, kind } = field
  const { type, noun } = kindIssue[kind]
  if (value === undefined) return bodyIssue('missing', `${name} is required, but it is missing.`, name)
  if (value === null) return bodyIssue(type, `${name} is required and takes ${noun}, not null.`, name)
  if (issue.code === 'custom') {
    const what = issue.message === 'nul' ? 'a NUL character (U+0000)' : 'a lone surrogate, which is no Unicode text'
    return bodyIssue('string_unicode', `${name} contains ${what}; send the text without it.`, name)
  }
  if (typeof value === 'number' && kind !== 'text') {
    if (!Number.isFinite(value))
      return bodyIssue('finite_number', `${name} takes ${noun} that a double can hold.`, name)
    if (!Number.isInteger(value))
      return bodyIssue('int_from_float', `${name} takes ${noun}, but ${value} has a fraction.`, name)
    const most = Number.MAX_SAFE_INTEGER
    return bodyIssue(
      'int_range',
      `${name} takes an integer between -${most} and ${most}, so that none is rounded.`,
      name,
    )
  }
  return bodyIssue(type, `${name} takes ${noun}, but ${nounOf(value)} was sent.`, name)
}

const inexactIssue = ({ name }: Field): BodyIssue =>
  bodyIssue('number_precision', `${name} takes a number that a double holds exactly; this one would be rounded.`, name)

const propertyIssue = (resource: Resource, writable: readonly string[], key: string): BodyIssue => {
  if (resource.fields.some((field) => field.name === key)) {
    return bodyIssue('extra_forbidden', `${key} is set by the service and cannot be sent.`, key)
  }
  const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key
  return bodyIssue('extra_forbidden', `"${shown}" is no property of this body${didYouMean(key, writable) || '.'}`, key)
}

/** Makes the reader of a resource's create body, given parsed and as it was sent; the schema is built here, once. */
export const createBodyReader = (resource: Resource): ((body: unknown, source?: string) => ParsedBody) => {
  const schema = createSchema(resource)
  const fields = new Map(writableFields(resource).map((field) => [field.name, field]))
  const writable = [...fields.keys()]

  return (body, source = '') => {
    const result = schema.safeParse(body)
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return {
        row: {},
        issues: [bodyIssue('object_type', `The body takes a JSON object, but ${nounOf(body)} was sent.`)],
      }
    }
    const values = body as Record<string, Value>
    const faulty = new Map<string, BodyIssue>()
    const unknown: string[] = []
    for (const issue of result.error?.issues ?? []) {
      if (issue.code === 'unrecognized_keys') unknown.push(...issue.keys.slice(0, mostIssues))
      const name = String(issue.path[0])
      const field = fields.get(name)
      // A value can break several rules of its schema; one sentence on it is enough.
      if (field && !faulty.has(name)) faulty.set(name, fieldIssue(field, values[name], issue))
    }
    for (const name of inexactKeys(source)) {
      const field = fields.get(name)
      if (field && typeof values[name] === 'number' && !faulty.has(name)) faulty.set(name, inexactIssue(field))
    }
    const sound = writable.filter((name) => !faulty.has(name) && Object.hasOwn(values, name))
    const row = newRow(resource, Object.fromEntries(sound.map((name) => [name, values[name] ?? null])))
    for (const name of faulty.keys()) delete row[name]
    const issues = [...faulty.values(), ...unknown.map((key) => propertyIssue(resource, writable, key))]
    return { row, issues }
  }
}

/** What the database found against a row, in our words; the value is the client's own. */
export const conflictIssue = (
  resource: Resource,
  type: 'reference' | 'unique',
  name: string,
  row: RowValues,
): BodyIssue => {
  const { references, unique } = resource.fields.find((field) => field.name === name) as Field
  const value = JSON.stringify(row[name])
  if (type === 'reference')
    return bodyIssue(type, `${name} takes the id of one of ${references}, and none has the id ${value}.`, name)
  const within = unique?.length ? ` with the same ${unique.join(' and ')}` : ''
  return bodyIssue(
    type,
    `${name} ${value.length > 80 ? 'sent' : value} is taken by another row${within}; it takes one of its own.`,
    name,
  )
}
