/** What a well-formed descriptor may still get wrong: one small rule each, told with the nearest right name. */
import type { Descriptor } from './define.js'
import { oneOf, shown } from './fault.js'
import type { FieldSpec, Kind, OptionsOf } from './fields.js'
import { didYouMean } from './nearest.js'

/** What a field's rule looks at. */
export interface FieldCase {
  readonly name: string
  readonly kind: Kind
  readonly options: Partial<OptionsOf['integer'] & OptionsOf['text']>
  readonly descriptor: Descriptor
  /** The paths of all resources. */
  readonly paths: readonly string[]
}

/** A rule answers with the problem, or with nothing. */
type FieldRule = (field: FieldCase) => string | undefined

/** The query parameters that every list has: a filter of that name could never be asked for. */
export const listParameters = ['limit', 'offset', 'q'] as const

const isOfKind = (value: unknown, kind: Kind): boolean => {
  if (kind === 'text') return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
  return kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
}

const takes: Record<Kind, string> = {
  text: 'a string without NUL',
  integer: 'a whole number',
  number: 'a finite number',
}

/** What is wrong with a value that a descriptor or a demo row gives a field, if anything. */
export const wrongKind = (value: unknown, kind: Kind): string | undefined =>
  isOfKind(value, kind) ? undefined : `is ${shown(value)}, but a field of kind ${kind} takes ${takes[kind]}`

const givenBy = (source: unknown): unknown => {
  try {
    return typeof source === 'function' ? source() : source
  } catch (error) {
    return `an error: ${(error as Error).message}`
  }
}

const optionOfKind =
  (option: 'default' | 'example' | 'managed'): FieldRule =>
  ({ kind, options }) => {
    const source = options[option]
    if (source === undefined || source === true) return undefined
    const wrong = wrongKind(givenBy(source), kind)
    return wrong && `${option} ${typeof source === 'function' ? 'gives a value that ' : ''}${wrong}`
  }

const named: FieldRule = ({ name }) => {
  if (name === 'id') return 'id is every resource’s own and is not declared; leave it out'
  if (name === 'constructor') return 'the name is one that JavaScript keeps for itself'
  if (listParameters.some((parameter) => parameter === name)) {
    return `the name is a query parameter of every list (${oneOf(listParameters)}); choose another`
  }
  return /^[a-z][a-z0-9_]{0,59}$/.test(name)
    ? undefined
    : 'the name is not lower-case letters, digits and underscores such as "from_date"'
}

const referenceExists: FieldRule = ({ options, paths }) => {
  const target = options.references
  if (target === undefined || paths.includes(target)) return undefined
  return `references "${target}", which is no resource${didYouMean(target, paths) || `; there are ${paths.join(', ')}`}`
}

const uniqueWithinFields: FieldRule = ({ name, options, descriptor }) => {
  if (options.unique === undefined || options.unique === true) return undefined
  if (options.unique.length === 0) return 'unique is an empty list; write true where it is unique over all rows'
  if (options.unique.includes(name)) return 'is unique within itself; name other fields, or write true'
  const others = Object.keys(descriptor.fields)
  const wrong = options.unique.find((other) => !others.includes(other))
  return wrong === undefined ? undefined : `unique within "${wrong}", which is no field${didYouMean(wrong, others)}`
}

const managedAlone: FieldRule = ({ options }) =>
  options.managed !== undefined && options.default !== undefined
    ? 'is managed and has a default; a managed field takes its value from "managed" alone, as in managed: now'
    : undefined

const managedHasSource: FieldRule = ({ name, options, descriptor }) =>
  descriptor.create && options.managed === true && descriptor.required.includes(name)
    ? 'is required and managed without a value, so no row could be created; write a function that gives its value, as in managed: now'
    : undefined

const redactedAlone: FieldRule = ({ name, options, descriptor }) => {
  if (!options.redacted) return undefined
  if (descriptor.required.includes(name)) return 'is redacted, so always null to a reader; it cannot be required too'
  const told = (['filter', 'example', 'unique'] as const).find((option) => options[option] !== undefined)
  return told && `is redacted, and ${told} would tell of its values; leave one of the two out`
}

/** Every rule on a single field. */
export const fieldRules: readonly FieldRule[] = [
  named,
  referenceExists,
  uniqueWithinFields,
  managedAlone,
  managedHasSource,
  redactedAlone,
  optionOfKind('default'),
  optionOfKind('managed'),
  optionOfKind('example'),
]

/** The field's case as the rules read it. */
export const fieldCase = (
  name: string,
  spec: FieldSpec,
  descriptor: Descriptor,
  paths: readonly string[],
): FieldCase => ({
  name,
  kind: spec.kind,
  options: spec.options as FieldCase['options'],
  descriptor,
  paths,
})
