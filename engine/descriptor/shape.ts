/** Whether what a file exports is a descriptor at all: its parts, their types, and its fields' options. */
import type { Descriptor, Fields } from './define.js'
import { shown } from './fault.js'
import { type FieldSpec, type Kind, optionNames } from './fields.js'
import { didYouMean } from './nearest.js'

type Say = (problem: string, field?: string) => void
type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string' && value.trim() !== ''
const isNames: Check = (value) => Array.isArray(value) && value.every((name) => typeof name === 'string')
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Part {
  readonly valid: Check
  readonly takes: string
  readonly optional?: true
}

const parts: Record<keyof Descriptor, Part> = {
  name: { valid: isText, takes: 'a text such as "Leave request"' },
  plural: { valid: isText, takes: 'a text such as "Leave requests"', optional: true },
  area: { valid: isText, takes: 'a text such as "People"' },
  about: { valid: isText, takes: 'a sentence', optional: true },
  table: {
    valid: (value) => typeof value === 'string' && /^(?!sqlite_|registry_)[a-z][a-z0-9_]{0,59}$/.test(value),
    takes:
      'lower-case letters, digits and underscores such as "leave_requests", and does not begin with sqlite_ or registry_',
  },
  fields: { valid: isObject, takes: 'an object with one line a field, such as { name: text() }' },
  required: { valid: isNames, takes: 'a list of field names, such as ["name"]; [] where every field may be null' },
  create: { valid: (value) => typeof value === 'boolean', takes: 'true or false' },
}

const isTrue: Check = (value) => value === true
const optionChecks: Record<string, { valid: Check; takes: string }> = {
  about: { valid: isText, takes: 'a sentence' },
  managed: { valid: (value) => value === true || typeof value === 'function', takes: 'true or a function such as now' },
  redacted: { valid: isTrue, takes: 'true, or is left out' },
  filter: { valid: isTrue, takes: 'true, or is left out' },
  unique: { valid: (value) => value === true || isNames(value), takes: 'true or a list of field names' },
  format: { valid: (value) => value === 'date' || value === 'timestamp', takes: '"date" or "timestamp"' },
  references: { valid: isText, takes: 'the path of a resource such as "employees"' },
}

/** The options that are in order; the rest are told. */
const soundOptions = (
  name: string,
  kind: Kind,
  options: Record<string, unknown>,
  say: Say,
): Record<string, unknown> => {
  const sound: Record<string, unknown> = {}
  for (const [option, value] of Object.entries(options)) {
    const check = optionChecks[option]
    if (!optionNames[kind].includes(option)) {
      const known = optionNames[kind].join(', ')
      say(
        `"${option}" is no option of ${kind}()${didYouMean(option, optionNames[kind]) || `; it takes ${known}`}`,
        name,
      )
    } else if (check && value !== undefined && !check.valid(value)) {
      say(`${option} is ${shown(value)}, but it takes ${check.takes}`, name)
    } else sound[option] = value
  }
  return sound
}

const isSpec = (spec: unknown): spec is { kind: Kind; options: Record<string, unknown> } =>
  isObject(spec) && typeof spec['kind'] === 'string' && spec['kind'] in optionNames && isObject(spec['options'])

const soundFields = (fields: Record<string, unknown>, say: Say): Fields => {
  if (Object.keys(fields).length === 0) say('fields is empty; a resource has at least one field besides id')
  const sound = Object.entries(fields).map(([name, spec]): [string, FieldSpec] => {
    if (isSpec(spec)) return [name, { kind: spec.kind, options: soundOptions(name, spec.kind, spec.options, say) }]
    say(`is ${shown(spec)}, but a field is written as integer(), number() or text()`, name)
    return [name, { kind: 'text', options: {} }]
  })
  return Object.fromEntries(sound)
}

/** Stands in for the parts that are missing or wrong, so that the rest can be looked at in the same go. */
const neutral: Descriptor = { name: '', area: '', table: '', fields: {}, required: [], create: false }

/** What is in order of a file's export, as a descriptor; every fault of form is told through `say`. */
export const soundParts = (exported: unknown, say: Say): Descriptor | undefined => {
  if (!isObject(exported)) {
    say('has no descriptor as its default export; write "export default defineResource({ … })"')
    return undefined
  }
  for (const key of Object.keys(exported)) {
    if (!(key in parts)) say(`"${key}" is no part of a descriptor${didYouMean(key, Object.keys(parts))}`)
  }
  const sound: Record<string, unknown> = { ...neutral }
  for (const [key, part] of Object.entries(parts)) {
    const value = exported[key]
    if (value === undefined) {
      if (!part.optional) say(`${key} is missing; it takes ${part.takes}`)
    } else if (!part.valid(value)) say(`${key} is ${shown(value)}, but it takes ${part.takes}`)
    else sound[key] = key === 'fields' ? soundFields(value as Record<string, unknown>, say) : value
  }
  // Without fields, every name that is required would be told as a second fault.
  if (Object.keys(sound['fields'] as object).length === 0) sound['required'] = []
  return sound as unknown as Descriptor
}
