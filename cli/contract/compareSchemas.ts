/** Compares two JSON schemas by the keywords that our documents use. */
import { allKeys, asList, asObject, isObject, type Json } from './json.js'
import { type At, type Compare, changed, compareKeywords, compareLists, report, toggled, wordings } from './walk.js'

interface Given {
  /** Requests could not leave the value out before, or cannot any more. */
  readonly isMandatory?: boolean
  /** A change of null was reported with the change of `required`. */
  readonly isNullReported?: boolean
}

const resolve = (schema: unknown, schemas: Json): { name: string | undefined; schema: Json } => {
  const ref = asObject(schema)['$ref']
  if (typeof ref !== 'string') return { name: undefined, schema: asObject(schema) }
  const name = ref.slice(ref.lastIndexOf('/') + 1)
  return { name, schema: asObject(schemas[name]) }
}

/** All types of a schema that does not name any. */
const everyType = ['string', 'number', 'boolean', 'object', 'array', 'null']
const schemaTypes = ({ type, anyOf, format }: Json): readonly unknown[] => {
  if (type === undefined) return anyOf === undefined ? everyType : ['anyOf']
  const types = Array.isArray(type) ? type : [type]
  return format === undefined ? types : types.map((name) => (name === 'null' ? name : `${name} (${format})`))
}
/** Whether values of a type are allowed: a date is a string too. */
const allows = (types: readonly unknown[], type: unknown): boolean =>
  types.includes(type) ||
  types.includes(String(type).replace(/ \(.*/, '')) ||
  (type === 'integer' && types.includes('number'))
const isNullable = (schema: unknown): boolean => schemaTypes(asObject(schema)).includes('null')

/** Returns whether the schemas have the same types, some in common, or none. */
const compareTypes = (before: Json, after: Json, at: At): 'same' | 'some' | 'none' => {
  const [old = [], now = []] = [before, after].map((schema) => schemaTypes(schema).filter((type) => type !== 'null'))
  const isWider = now.some((type) => !allows(old, type))
  const isNarrower = old.some((type) => !allows(now, type))
  if (!isWider && !isNarrower) return 'same'
  const singleOrList = (types: readonly unknown[]) => (types.length === 1 ? types[0] : types)
  const rule = !isNarrower ? 'type-widened' : isWider ? 'type-changed' : 'type-narrowed'
  report(at, rule, singleOrList(old), singleOrList(now))
  return rule === 'type-changed' ? 'none' : 'some'
}

/** A limit as a number; that of a date, a time or a decimal is a text. */
const comparableLimit = (value: unknown): number =>
  typeof value === 'string' && !/^-?\d+(?:\.\d+)?$/.test(value) ? Date.parse(value) : Number(value)

/** A limit; the direction is 1 if a greater one allows more values, -1 if it allows fewer, and 0 if nothing can be said. */
const limit =
  (what: string, direction: -1 | 0 | 1): Compare =>
  (before, after, at) => {
    if (before === after) return
    const isLooser =
      after === undefined ||
      (before !== undefined && (comparableLimit(after) - comparableLimit(before)) * direction > 0)
    const isPattern = direction === 0 && before !== undefined && after !== undefined
    if (isPattern) report(at, 'pattern-changed', before, after)
    else
      report(
        { ...at, subject: `${at.subject}: the ${what}` },
        isLooser ? 'bound-loosened' : 'bound-tightened',
        before,
        after,
      )
  }

const limits = {
  minimum: limit('minimum', -1),
  'x-minimum': limit('x-minimum', -1),
  minLength: limit('minLength', -1),
  maximum: limit('maximum', 1),
  'x-maximum': limit('x-maximum', 1),
  maxLength: limit('maxLength', 1),
  pattern: limit('pattern', 0),
  'x-digits': limit('number of digits', 1),
  'x-places': limit('number of digits after the point', 1),
}

/** A list of allowed values; without a list, all are allowed. Null is compared with the types. */
const choices: Compare = (before, after, at) => {
  const [old, now] = [before, after].map((list) =>
    list === undefined ? undefined : asList(list).filter((value) => value !== null),
  )
  if (old === undefined || now === undefined) limit('list of values', 0)(old, now, at)
  else compareLists(old, now, at, ['value-added', 'value-removed'])
}

const unique: Compare = (before, after, at) => {
  // The more fields a value is unique within, the fewer rows it is compared with.
  const covers = (outer: unknown, inner: unknown) =>
    inner === undefined || (outer !== undefined && asList(outer).every((name) => asList(inner).includes(name)))
  if (!covers(before, after)) report(at, 'unique-tightened', before, after)
  if (!covers(after, before)) report(at, 'unique-loosened', before, after)
}

const references: Compare = (before, after, at) => {
  const rule =
    before === undefined ? 'reference-added' : after === undefined ? 'reference-removed' : 'reference-changed'
  changed(rule)(before, after, at)
}

/** The roles that see a field; without the keyword, everybody. */
const readBy: Compare = (before, after, at) => {
  const lost = before === undefined ? after !== undefined : asList(before).some((role) => !asList(after).includes(role))
  changed(lost && after !== undefined ? 'field-hidden' : 'field-shown')(before, after, at)
}

/** The roles that may set a field; without the keyword, everybody who writes rows. */
const writeBy: Compare = (before, after, at) => {
  if (at.side === 'response') return
  const lost = before === undefined ? after !== undefined : asList(before).some((role) => !asList(after).includes(role))
  changed(lost && after !== undefined ? 'field-locked' : 'field-unlocked')(before, after, at)
}

/** Rules between fields, each by its message. */
const rowRules: Compare = (before, after, at) => {
  const messages = (list: unknown) => asList(list).map((rule) => asObject(rule)['message'])
  compareLists(messages(before), messages(after), at, ['rule-added', 'rule-removed'])
}

/** The steps that updates may make; without the keyword, all. */
const steps: Compare = (before, after, at) => {
  if (before === undefined && after === undefined) return
  const stepsOf = (next: unknown) =>
    Object.entries(asObject(next)).flatMap(([from, targets]) => asList(targets).map((to) => `${from} → ${to}`))
  if (before === undefined) report(at, 'steps-limited')
  else if (after === undefined) report(at, 'steps-free')
  else compareLists(stepsOf(before), stepsOf(after), at, ['step-added', 'step-removed'])
}

/** The extensions in which our documents state what JSON Schema cannot. */
const extensions = {
  'x-unique': unique,
  'x-references': references,
  'x-redacted': toggled('redacted', 'revealed'),
  'x-read-by': readBy,
  'x-write-by': writeBy,
  'x-start': changed('start-changed'),
  'x-rules': rowRules,
  'x-next': steps,
}

/** What a request that leaves the value out means. */
const defaults = { default: changed('default-changed'), 'x-default': changed('default-changed') }

const items: Compare = (before, after, at) => {
  if (before !== undefined || after !== undefined) compareSchemas(before, after, { ...at, subject: `${at.subject}[]` })
}

const otherProperties: Compare = (before, after, at) => {
  if ((before === false) !== (after === false)) report(at, after === false ? 'closed' : 'opened')
  else if (isObject(before) || isObject(after)) compareSchemas(before, after, { ...at, subject: `${at.subject}.*` })
}

const others = { enum: choices, anyOf: choices, items, additionalProperties: otherProperties }

const compareProperties = (before: Json, after: Json, at: At): void => {
  const [old, now] = [asObject(before['properties']), asObject(after['properties'])]
  for (const name of allKeys(old, now)) {
    const field = { ...at, subject: `${at.subject}.${name}` }
    const wasRequired = asList(before['required']).includes(name)
    const isRequired = asList(after['required']).includes(name)
    if (now[name] === undefined) report(field, 'field-removed')
    else if (old[name] === undefined)
      report(field, at.side === 'request' && isRequired && !wasRequired ? 'required-field-added' : 'field-added')
    else {
      if (wasRequired !== isRequired) report(field, isRequired ? 'became-required' : 'became-optional')
      compareSchemas(old[name], now[name], field, {
        isMandatory: wasRequired || isRequired,
        isNullReported: wasRequired !== isRequired && isNullable(isRequired ? old[name] : now[name]),
      })
    }
  }
}

/** What is compared apart from the other keywords. */
const structure = ['$ref', 'type', 'format', 'properties', 'required']

/** A schema, and the members that `allOf` adds to it. */
const baseAndMembers = (schema: unknown): [base: unknown, members: Json] => {
  const [base = schema, ...added] = asList(asObject(schema)['allOf'])
  return [base, Object.assign({}, ...added)]
}

/** Reports every difference between two schemas. */
export const compareSchemas = (old: unknown, now: unknown, place: At, given: Given = {}): void => {
  const [[oldBase, oldMembers], [newBase, newMembers]] = [baseAndMembers(old), baseAndMembers(now)]
  compareBases(oldBase, newBase, place, given)
  compareProperties(oldMembers, newMembers, place)
}

const keywords = { ...defaults, ...extensions, ...limits, ...others }

const compareBases = (old: unknown, now: unknown, place: At, given: Given): void => {
  const { name, schema: before } = resolve(old, place.schemas[0])
  const { name: newName, schema: after } = resolve(now, place.schemas[1])
  const at = { ...place, subject: newName ?? name ?? place.subject }
  const renamed = { ...at, subject: name === undefined ? place.subject : `schema ${name}` }
  if (name !== newName) report(renamed, 'schema-renamed', name, newName)
  const pair = `${at.side} ${name} ${newName}`
  if (name !== undefined && newName !== undefined && at.seen.has(pair)) return
  at.seen.add(pair)
  if (!given.isNullReported && isNullable(before) !== isNullable(after))
    report(at, isNullable(after) ? 'null-added' : 'null-removed')
  const common = compareTypes(before, after, at)
  const isCompared = (key: string): boolean => {
    if (structure.includes(key)) return false
    if (key in defaults) return !given.isMandatory
    if (key in extensions || key in wordings) return true
    return common === 'same' || (common === 'some' && !(key in limits))
  }
  const [left = {}, right = {}] = [before, after].map((schema) =>
    Object.fromEntries(Object.entries(schema).filter(([key]) => isCompared(key))),
  )
  compareKeywords(keywords, left, right, at)
  if (common !== 'none') compareProperties(before, after, at)
}
