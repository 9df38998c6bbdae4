/** The rules for a field beyond its syntax: names, references, and options that contradict each other. */
import type { Descriptor } from './define.js'
import type { FieldSpec, Kind, OptionsOf } from './fields.js'
import { didYouMean } from './nearest.js'
import { formatValue } from './registryError.js'

interface FieldContext {
  readonly name: string
  readonly kind: Kind
  readonly options: Partial<OptionsOf['integer'] & OptionsOf['text']>
  readonly descriptor: Descriptor
  /** The paths of all resources. */
  readonly paths: readonly string[]
}

/** Returns a message if the field breaks the rule. */
type FieldRule = (field: FieldContext) => string | undefined

/** The query parameters of every list; a filter cannot have the same name. */
const listParameters = ['limit', 'offset', 'q']

const isOfKind = (value: unknown, kind: Kind): boolean => {
  if (kind === 'text') return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
  return kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
}

const expected: Record<Kind, string> = {
  text: 'a string without NUL and lone surrogates',
  integer: 'an integer between -9007199254740991 and 9007199254740991',
  number: 'a finite number',
}

/** Returns a message if a value in a descriptor or a demo row does not fit the field. */
export const kindMismatch = (value: unknown, kind: Kind): string | undefined =>
  isOfKind(value, kind) ? undefined : `is ${formatValue(value)}, but it must be ${expected[kind]}`

const optionMatchesKind =
  (option: 'default' | 'example' | 'managed'): FieldRule =>
  ({ kind, options }) => {
    const source = options[option]
    if (source === undefined || source === true) return undefined
    if (typeof source !== 'function') {
      const mismatch = kindMismatch(source, kind)
      return mismatch && `${option} ${mismatch}`
    }
    try {
      const value = source()
      if (isOfKind(value, kind)) return undefined
      return `the function ${option} returns ${formatValue(value)}, but it must return ${expected[kind]}`
    } catch (error) {
      return `the function ${option} throws an error: ${(error as Error).message}`
    }
  }

const nameIsValid: FieldRule = ({ name }) => {
  if (name === 'id') return 'every resource has an id without declaring it; remove the field'
  if (name === 'constructor') return 'the name is reserved by JavaScript; choose another'
  if (listParameters.includes(name)) return 'the name is a query parameter of every list; choose another'
  return /^[a-z][a-z0-9_]{0,59}$/.test(name)
    ? undefined
    : 'the name must be lower-case letters, digits and underscores, such as "from_date"'
}

const referenceExists: FieldRule = ({ options, paths }) => {
  const target = options.references
  if (target === undefined || paths.includes(target)) return undefined
  const hint = didYouMean(target, paths) || `; the resources are ${paths.join(', ')}`
  return `references the unknown resource "${target}"${hint}`
}

const uniqueNamesFields: FieldRule = ({ name, options, descriptor }) => {
  if (options.unique === undefined || options.unique === true) return undefined
  if (options.unique.length === 0) return 'unique is an empty list; write true if it is unique in the whole table'
  if (options.unique.includes(name)) return 'unique names the field itself; name other fields, or write true'
  const fields = Object.keys(descriptor.fields)
  const unknown = options.unique.find((other) => !fields.includes(other))
  return unknown === undefined ? undefined : `unique names the unknown field "${unknown}"${didYouMean(unknown, fields)}`
}

const managedHasNoDefault: FieldRule = ({ options }) =>
  options.managed !== undefined && options.default !== undefined
    ? 'a managed field cannot have a default; remove one of the two'
    : undefined

const requiredManagedHasValue: FieldRule = ({ name, options, descriptor }) =>
  descriptor.create && options.managed === true && descriptor.required.includes(name)
    ? 'a required managed field needs a function that returns its value, such as managed: now'
    : undefined

const redactedIsHidden: FieldRule = ({ name, options, descriptor }) => {
  if (!options.redacted) return undefined
  if (descriptor.required.includes(name)) return 'a redacted field is always null for clients, so it cannot be required'
  const revealing = (['filter', 'example', 'unique'] as const).find((option) => options[option] !== undefined)
  return revealing && `a redacted field cannot have the option ${revealing}, which would reveal its values`
}

const rules: readonly FieldRule[] = [
  nameIsValid,
  referenceExists,
  uniqueNamesFields,
  managedHasNoDefault,
  requiredManagedHasValue,
  redactedIsHidden,
  optionMatchesKind('default'),
  optionMatchesKind('managed'),
  optionMatchesKind('example'),
]

/** A message for each rule that a field breaks. */
export const checkField = (
  name: string,
  spec: FieldSpec,
  descriptor: Descriptor,
  paths: readonly string[],
): string[] => {
  const options = spec.options as FieldContext['options']
  return rules.flatMap((rule) => rule({ name, kind: spec.kind, options, descriptor, paths }) ?? [])
}
