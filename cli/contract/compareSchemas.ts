/** Compares two JSON schemas with the keywords that our documents use; a change of any other keyword counts as breaking. */
import type { Emit } from './differences.js'
import { asList, asObject, isObject, isSame, type Json, keysOf } from './json.js'
import type { RuleName, Side } from './rules.js'

interface Context {
  readonly side: Side
  readonly emit: Emit
  /** The schemas of both documents, by name. */
  readonly before: Json
  readonly after: Json
  /** The pairs of named schemas that were compared already. */
  readonly seen: Set<string>
}

interface Given {
  /** Requests could not leave the value out before, or cannot any more. */
  readonly isMandatory?: boolean
  /** A change of null was reported with the change of `required`. */
  readonly isNullReported?: boolean
}

interface Named {
  readonly name: string | undefined
  readonly schema: Json
}

const resolve = (schema: unknown, schemas: Json): Named => {
  const ref = asObject(schema)['$ref']
  if (typeof ref !== 'string') return { name: undefined, schema: asObject(schema) }
  const name = ref.slice(ref.lastIndexOf('/') + 1)
  return { name, schema: asObject(schemas[name]) }
}

/** The keywords that limit a value: 1 if a greater limit allows more values, -1 if it allows fewer. */
const bounds = { minimum: -1, 'x-minimum': -1, minLength: -1, maximum: 1, 'x-maximum': 1, maxLength: 1 } as const

/** A limit as a number; that of a date or a time is a text. */
const limitOf = (value: number | string): number => (typeof value === 'string' ? Date.parse(value) : value)

/** The keywords that are compared below, or do not matter. */
const known = new Set([
  ...Object.keys(bounds),
  ...['$ref', 'type', 'format', 'properties', 'required', 'items', 'additionalProperties', 'anyOf', 'enum', 'pattern'],
  ...['default', 'description', 'example', 'examples'],
  ...['x-default', 'x-unique', 'x-references', 'x-redacted', 'x-extensible-enum'],
])

/** All types of a schema that does not name any. */
const everyType = ['string', 'number', 'boolean', 'object', 'array', 'null']
const typesOf = ({ type, anyOf, format }: Json): readonly unknown[] => {
  if (type === undefined) return anyOf === undefined ? everyType : ['anyOf']
  const types = Array.isArray(type) ? type : [type]
  return format === undefined ? types : types.map((one) => (one === 'null' ? one : `${one} (${format})`))
}
/** Whether values of a type are allowed: a date is a string too. */
const allows = (types: readonly unknown[], type: unknown): boolean =>
  types.includes(type) ||
  types.includes(String(type).replace(/ \(.*/, '')) ||
  (type === 'integer' && types.includes('number'))
const isNullable = (schema: Json): boolean => typesOf(schema).includes('null')

/** Compares two sets of allowed values; returns the rule for what one of them allows and the other does not. */
const ruleFor = (isWider: boolean, isNarrower: boolean, names: readonly [RuleName, RuleName, RuleName]) => {
  const [changed, widened, narrowed] = names
  if (isWider && isNarrower) return changed
  if (isWider) return widened
  return isNarrower ? narrowed : undefined
}

/** Returns whether the schemas have the same types, some in common, or none. */
const compareTypes = (
  before: Json,
  after: Json,
  subject: string,
  { emit, side }: Context,
): 'same' | 'some' | 'none' => {
  const withoutNull = (schema: Json) => typesOf(schema).filter((type) => type !== 'null')
  const [old, now] = [withoutNull(before), withoutNull(after)]
  const isWider = now.some((type) => !allows(old, type))
  const isNarrower = old.some((type) => !allows(now, type))
  const rule = ruleFor(isWider, isNarrower, ['type-changed', 'type-widened', 'type-narrowed'])
  const shown = (types: readonly unknown[]) => (types.length === 1 ? types[0] : types)
  if (rule) emit(rule, side, { subject, before: shown(old), after: shown(now) })
  if (rule === undefined) return 'same'
  return rule === 'type-changed' ? 'none' : 'some'
}

const compareBounds = (before: Json, after: Json, subject: string, { emit, side }: Context): void => {
  for (const [keyword, direction] of Object.entries(bounds)) {
    const [old, now] = [before[keyword], after[keyword]] as (number | string | undefined)[]
    if (old === now) continue
    const isLooser = now === undefined || (old !== undefined && (limitOf(now) - limitOf(old)) * direction > 0)
    const rule = isLooser ? 'bound-loosened' : 'bound-tightened'
    emit(rule, side, { subject: `${subject}: the ${keyword}`, before: old, after: now })
  }
  const [old, now] = [before['pattern'], after['pattern']]
  if (old === now) return
  const isLooser = now === undefined
  const rule = old === undefined ? 'bound-tightened' : isLooser ? 'bound-loosened' : 'pattern-changed'
  const named = rule === 'pattern-changed' ? subject : `${subject}: the pattern`
  emit(rule, side, { subject: named, before: old, after: now })
}

/** Compares lists of allowed values; without a list, all are allowed. */
const compareChoices = (before: Json, after: Json, subject: string, { emit, side }: Context): void => {
  for (const keyword of ['enum', 'anyOf']) {
    // Null is compared with the types.
    const [old, now] = [before, after].map((schema) =>
      schema[keyword] === undefined ? undefined : asList(schema[keyword]).filter((value) => value !== null),
    )
    if (isSame(old, now)) continue
    if (old === undefined || now === undefined) {
      const rule = old === undefined ? 'bound-tightened' : 'bound-loosened'
      emit(rule, side, { subject: `${subject}: the list of values`, before: old, after: now })
      continue
    }
    const includes = (list: unknown, value: unknown) => asList(list).some((one) => isSame(one, value))
    for (const value of asList(now)) if (!includes(old, value)) emit('value-added', side, { subject, after: value })
    for (const value of asList(old)) if (!includes(now, value)) emit('value-removed', side, { subject, before: value })
  }
}

/** Compares the extensions in which our documents state what JSON Schema cannot. */
const comparePromises = (before: Json, after: Json, subject: string, { emit, side }: Context): void => {
  const [within, wanted] = [before['x-unique'], after['x-unique']]
  if (!isSame(within, wanted)) {
    // The more fields a value is unique within, the fewer rows it is compared with.
    const covers = (outer: unknown, inner: unknown) =>
      inner === undefined || (outer !== undefined && asList(outer).every((name) => asList(inner).includes(name)))
    if (!covers(within, wanted)) emit('unique-tightened', side, { subject, before: within, after: wanted })
    if (!covers(wanted, within)) emit('unique-loosened', side, { subject, before: within, after: wanted })
  }
  const [old, now] = [before['x-references'], after['x-references']]
  if (old !== now) {
    const rule = old === undefined ? 'reference-added' : now === undefined ? 'reference-removed' : 'reference-changed'
    emit(rule, side, { subject, before: old, after: now })
  }
  const isRedacted = after['x-redacted'] === true
  if ((before['x-redacted'] === true) !== isRedacted) emit(isRedacted ? 'redacted' : 'revealed', side, { subject })
}

/** Compares what a request that leaves the value out means. */
const compareDefault = (before: Json, after: Json, subject: string, { emit, side }: Context): void => {
  for (const keyword of ['default', 'x-default']) {
    const [old, now] = [before[keyword], after[keyword]]
    if (!isSame(old, now)) emit('default-changed', side, { subject, before: old, after: now })
  }
}

const compareProperties = (before: Json, after: Json, subject: string, context: Context): void => {
  const { side, emit } = context
  const [old, now] = [asObject(before['properties']), asObject(after['properties'])]
  const isRequired = (schema: Json, name: string) => asList(schema['required']).includes(name)
  for (const name of keysOf(old, now)) {
    const field = `${subject}.${name}`
    const becomesRequired = !isRequired(before, name) && isRequired(after, name)
    if (now[name] === undefined) emit('field-removed', side, { subject: field })
    else if (old[name] === undefined) {
      const isDemanded = side === 'request' && becomesRequired
      emit(isDemanded ? 'required-field-added' : 'field-added', side, { subject: field })
    } else {
      const wasRequired = isRequired(before, name)
      const becomesOptional = wasRequired && !isRequired(after, name)
      const [wasNullable, isNull] = [isNullable(asObject(old[name])), isNullable(asObject(now[name]))]
      if (becomesRequired) emit('became-required', side, { subject: field })
      if (becomesOptional) emit('became-optional', side, { subject: field })
      const isNullReported = (becomesRequired && wasNullable) || (becomesOptional && isNull)
      compareSchemas(old[name], now[name], field, context, {
        isMandatory: wasRequired || becomesRequired,
        isNullReported,
      })
    }
  }
}

const compareDocumentation = (before: Json, after: Json, subject: string, { emit, side }: Context): void => {
  const differs = (keyword: string) => !isSame(before[keyword], after[keyword])
  if (differs('description') || differs('x-extensible-enum')) emit('description-changed', side, { subject })
  if (differs('example') || differs('examples')) emit('example-changed', side, { subject })
}

/** Reports every difference between two schemas. */
export const compareSchemas = (old: unknown, now: unknown, path: string, context: Context, given: Given = {}): void => {
  const { side, emit, seen } = context
  const { name, schema: before } = resolve(old, context.before)
  const { name: newName, schema: after } = resolve(now, context.after)
  const subject = newName ?? name ?? path
  if (name !== newName) {
    const renamed = name === undefined ? path : `schema ${name}`
    emit('schema-renamed', side, { subject: renamed, before: name, after: newName })
  }
  const pair = `${side} ${name} ${newName}`
  if (name !== undefined && newName !== undefined && seen.has(pair)) return
  seen.add(pair)
  if (!given.isNullReported && isNullable(before) !== isNullable(after)) {
    emit(isNullable(after) ? 'null-added' : 'null-removed', side, { subject })
  }
  compareDocumentation(before, after, subject, context)
  if (!given.isMandatory) compareDefault(before, after, subject, context)
  comparePromises(before, after, subject, context)
  const common = compareTypes(before, after, subject, context)
  if (common === 'none') return
  if (common === 'same') compareBounds(before, after, subject, context)
  compareChoices(before, after, subject, context)
  compareProperties(before, after, subject, context)
  if (before['items'] !== undefined || after['items'] !== undefined) {
    compareSchemas(before['items'], after['items'], `${subject}[]`, context)
  }
  const [wasClosed, isClosed] = [before['additionalProperties'] === false, after['additionalProperties'] === false]
  if (wasClosed !== isClosed) emit(isClosed ? 'closed' : 'opened', side, { subject })
  else if (isObject(after['additionalProperties']) || isObject(before['additionalProperties'])) {
    compareSchemas(before['additionalProperties'], after['additionalProperties'], `${subject}.*`, context)
  }
  for (const keyword of keysOf(before, after)) {
    if (known.has(keyword) || isSame(before[keyword], after[keyword])) continue
    const values = { before: before[keyword], after: after[keyword] }
    emit('keyword-changed', side, { subject: `${subject}: ${keyword}`, ...values })
  }
}
