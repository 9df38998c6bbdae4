/** Whether what a file exports is a descriptor at all: its parts, their types, and its fields' options. */
import type { Descriptor } from './define.js'
import { shown } from './fault.js'
import { type Kind, optionNames } from './fields.js'
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
    takes: 'lower-case letters, digits and underscores such as "leave_requests"',
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
  references: { valid: isText, takes: 'the path of a resource such as "employees"' },
}

const checkOptions = (name: string, kind: Kind, options: Record<string, unknown>, say: Say): void => {
  for (const [option, value] of Object.entries(options)) {
    if (!optionNames[kind].includes(option)) {
      const known = optionNames[kind].join(', ')
      say(
        `"${option}" is no option of ${kind}()${didYouMean(option, optionNames[kind]) || `; it takes ${known}`}`,
        name,
      )
      continue
    }
    const check = optionChecks[option]
    if (check && value !== undefined && !check.valid(value)) {
      say(`${option} is ${shown(value)}, but it takes ${check.takes}`, name)
    }
  }
}

const checkFields = (fields: Record<string, unknown>, say: Say): void => {
  if (Object.keys(fields).length === 0) say('fields is empty; a resource has at least one field besides id')
  for (const [name, spec] of Object.entries(fields)) {
    const isSpec = isObject(spec) && typeof spec['kind'] === 'string' && spec['kind'] in optionNames
    if (isSpec && isObject(spec['options'])) checkOptions(name, spec['kind'] as Kind, spec['options'], say)
    else say(`is ${shown(spec)}, but a field is written as integer(), number() or text()`, name)
  }
}

/** Tells every fault of form through `say`; without one, what was exported is a descriptor. */
export const checkShape = (exported: unknown, say: Say): exported is Descriptor => {
  let faults = 0
  const tell: Say = (problem, field) => {
    faults++
    say(problem, field)
  }
  if (!isObject(exported)) {
    say('has no descriptor as its default export; write "export default defineResource({ … })"')
    return false
  }
  for (const key of Object.keys(exported)) {
    if (!(key in parts)) tell(`"${key}" is no part of a descriptor${didYouMean(key, Object.keys(parts))}`)
  }
  for (const [key, part] of Object.entries(parts)) {
    const value = exported[key]
    if (value === undefined) {
      if (!part.optional) tell(`${key} is missing; it takes ${part.takes}`)
    } else if (!part.valid(value)) {
      tell(`${key} is ${shown(value)}, but it takes ${part.takes}`)
    } else if (key === 'fields') {
      checkFields(value as Record<string, unknown>, tell)
    }
  }
  return faults === 0
}
