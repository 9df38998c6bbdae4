/** The rules for descriptors beyond their syntax: names, references, and options that contradict each other. */
import type { Descriptor } from './define.js'
import { type FieldSpec, type Kind, kinds, type Options } from './fields.js'
import { didYouMean } from './nearest.js'
import { formatValue, type Report, reportAt } from './registryError.js'

/** The query parameters of every list; a filter cannot have the same name. */
const listParameters = ['limit', 'offset', 'q']

const checkName = (name: string, report: Report): void => {
  if (name === 'id') report('every resource has an id without declaring it; remove the field')
  else if (name === 'constructor') report('the name is reserved by JavaScript; choose another')
  else if (listParameters.includes(name)) report('the name is a query parameter of every list; choose another')
  else if (!/^[a-z][a-z0-9_]{0,59}$/.test(name)) {
    report('the name must be lower-case letters, digits and underscores, such as "from_date"')
  }
}

const checkUnique = (name: string, unique: readonly string[], fields: readonly string[], report: Report): void => {
  const unknown = unique.find((other) => !fields.includes(other))
  if (unique.length === 0) report('unique is an empty list; write true if it is unique in the whole table')
  else if (unique.includes(name)) report('unique names the field itself; name other fields, or write true')
  else if (unknown !== undefined) report(`unique names the unknown field "${unknown}"${didYouMean(unknown, fields)}`)
}

const checkFunction = (option: string, compute: () => unknown, kind: Kind, report: Report): void => {
  const { isValid, expected } = kinds[kind]
  try {
    const value = compute()
    if (isValid(value)) return
    report(`the function ${option} returns ${formatValue(value)}, but it must return ${expected}`)
  } catch (error) {
    report(`the function ${option} throws an error: ${(error as Error).message}`)
  }
}

const checkField = (
  name: string,
  { kind, options: given }: FieldSpec,
  descriptor: Descriptor,
  paths: readonly string[],
  report: Report,
): void => {
  const options: Options<string | number> = given
  const { references, unique, managed, redacted, default: preset } = options
  const isRequired = descriptor.required.includes(name)
  checkName(name, report)
  if (references !== undefined && !paths.includes(references)) {
    const hint = didYouMean(references, paths) || `; the resources are ${paths.join(', ')}`
    report(`references the unknown resource "${references}"${hint}`)
  }
  if (Array.isArray(unique)) checkUnique(name, unique, Object.keys(descriptor.fields), report)
  if (managed && preset !== undefined) report('a managed field cannot have a default; remove one of the two')
  if (managed === true && isRequired && descriptor.create) {
    report('a required managed field needs a function that returns its value, such as managed: now')
  }
  if (redacted && isRequired) report('a redacted field is always null for clients, so it cannot be required')
  for (const option of ['filter', 'example', 'unique'] as const) {
    if (redacted && options[option] !== undefined) {
      report(`a redacted field cannot have the option ${option}, which would reveal its values`)
    }
  }
  if (typeof preset === 'function') checkFunction('default', preset, kind, report)
  if (typeof managed === 'function') checkFunction('managed', managed, kind, report)
}

const checkRequired = ({ fields, required }: Descriptor, report: Report): void => {
  const names = Object.keys(fields)
  for (const [index, name] of required.entries()) {
    if (name === 'id') report('required names "id", which every row has; remove it')
    else if (!names.includes(name)) report(`required names the unknown field "${name}"${didYouMean(name, names)}`)
    else if (required.indexOf(name) < index) report(`required names "${name}" twice`)
  }
}

const checkLabel = ({ fields, label }: Descriptor, report: Report): void => {
  const names = Object.keys(fields)
  if (label?.length === 0) report('label is an empty list; name fields, or remove it')
  for (const name of label ?? []) {
    const spec = fields[name]
    if (!spec) report(`label names the unknown field "${name}"${didYouMean(name, names)}`)
    else if (spec.options.redacted) report(`label names "${name}", which is redacted; name another field`)
  }
}

/** Reports every rule that a descriptor breaks; `paths` are the paths of all resources. */
export const checkDescriptor = (descriptor: Descriptor, paths: readonly string[], report: Report): void => {
  checkRequired(descriptor, report)
  checkLabel(descriptor, report)
  for (const [name, spec] of Object.entries(descriptor.fields)) {
    checkField(name, spec, descriptor, paths, reportAt(report, `field "${name}"`))
  }
}
