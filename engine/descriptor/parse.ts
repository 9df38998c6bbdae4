/** Parses the default export of a resource file into a descriptor and reports every syntax error. */
import { maxDecimalDigits } from './decimals.js'
import type { Descriptor, Fields } from './define.js'
import { type FieldSpec, type OnDelete, type OptionName, onDeletes, optionNames } from './fields.js'
import { type IdKind, idKinds, isValueOf, type Kind, type KindOptions, kindNames, kindOf } from './kinds/index.js'
import { isForeignName, isName, isTableName } from './names.js'
import { didYouMean, nearest } from './nearest.js'
import { formatValue, type Report, reportAt } from './registryError.js'

interface Check {
  readonly isValid: (value: unknown) => boolean
  /** Completes the sentence "it must be …". */
  readonly expected: string
}

type Values = Readonly<Record<string, unknown>>
type Checks = Readonly<Record<string, Check>>

const check = (expected: string, isValid: Check['isValid']): Check => ({ isValid, expected })

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === 'string')
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isTrue = (value: unknown): boolean => value === true

const isRule = (value: unknown): boolean =>
  isObject(value) &&
  isNames(value['fields']) &&
  isFunction(value['holds']) &&
  isText(value['message']) &&
  Object.keys(value).length === 3

const mandatory: Checks = {
  name: check('a string such as "Book"', isText),
  area: check('a string such as "People"', isText),
  table: check(
    'at most 60 lower-case letters, digits and underscores, such as "books", and must not begin with sqlite_, pg_ or registry_',
    isTableName,
  ),
  fields: check(
    'an object with at least one field besides id, such as { name: text() }',
    (value) => isObject(value) && Object.keys(value).length > 0,
  ),
  required: check('a list of field names, such as ["name"], or [] if every field may be null', isNames),
  create: check('true or false', (value) => typeof value === 'boolean'),
}

const foreignName = check('a name such as "EmployeeId"', isForeignName)

const properties: Checks = {
  ...mandatory,
  existing: check('true or omitted', isTrue),
  id: check("'integer', 'uuid' or 'text'", (value) => idKinds.includes(value as IdKind)),
  idColumn: foreignName,
  plural: check('a string such as "Books"', isText),
  about: check('a sentence', isText),
  rules: check(
    "a list of rules, such as { fields: ['from', 'to'], holds: (row) => row.from <= row.to, message: 'to must not be before from' }",
    (value) => Array.isArray(value) && value.length > 0 && value.every(isRule),
  ),
  update: check(
    'true, false or a list of field names, such as ["status"]',
    (value) => typeof value === 'boolean' || isNames(value),
  ),
  delete: check('true or false', (value) => typeof value === 'boolean'),
  import: check('true or false', (value) => typeof value === 'boolean'),
  summary: check('true or false', (value) => typeof value === 'boolean'),
  access: check(
    "an object with read and, where the resource has them, create, update and delete, such as { read: ['hr', { employee_id: claim('employee_id') }], create: 'hr' }",
    (value) => isObject(value) && value['read'] !== undefined,
  ),
  renamedFromTable: check('the former name of the table, such as "titles"', isName),
  label: check('a list of field names, such as ["first_name", "last_name"]', isNames),
}

const isCount = (value: unknown, most: number) =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most

const optionChecks = (kind: Kind, options: KindOptions): Checks => {
  const { expected } = kindOf(kind)
  const isValid = (value: unknown) => isValueOf({ ...options, kind }, value)
  const isList = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isValid)
  const isLength = (value: unknown) => isCount(value, Number.MAX_SAFE_INTEGER)
  const checks: Record<Exclude<OptionName, 'reserved'>, Check> = {
    about: check('a sentence', isText),
    label: check('a name for people, such as "Department"', isText),
    tones: check("an object with a tone for each value, such as { Approved: 'good' }", isObject),
    example: check(expected, isValid),
    default: check(expected, (value) => isFunction(value) || isValid(value)),
    managed: check('true or a function such as now', (value) => isTrue(value) || isFunction(value)),
    onUpdate: check('a function such as now', isFunction),
    redacted: check('true or omitted', isTrue),
    readBy: check(
      "a list of roles, such as ['hr']",
      (value) => isNames(value) && (value as unknown[]).every(isText) && (value as unknown[]).length > 0,
    ),
    filter: check('true or omitted', isTrue),
    range: check('true or omitted', isTrue),
    sort: check('true or omitted', isTrue),
    unique: check('true or a list of field names', (value) => isTrue(value) || isNames(value)),
    format: check('"date" or "timestamp"', (value) => value === 'date' || value === 'timestamp'),
    column: foreignName,
    renamedFrom: check('the former name of the field, such as "kind"', isName),
    references: check('the path of a resource, such as "authors"', isText),
    onDelete: check("'restrict', 'set null' or 'cascade'", (value) => onDeletes.includes(value as OnDelete)),
    oneOf: check(`a list of values, each ${expected}`, isList),
    next: check(
      "an object with the values that may follow each, such as { Pending: ['Approved'] }",
      (value) => isObject(value) && Object.values(value).every((one) => Array.isArray(one) && one.every(isValid)),
    ),
    min: check(expected, isValid),
    max: check(expected, isValid),
    minLength: check('a number of characters', isLength),
    maxLength: check('a number of characters', isLength),
    digits: check(
      `a number of digits from 1 to ${maxDecimalDigits}`,
      (value) => value !== 0 && isCount(value, maxDecimalDigits),
    ),
    places: check('a number of digits after the point, at most as many as digits', (value) =>
      isCount(value, options.digits ?? maxDecimalDigits),
    ),
    pattern: check("a regular expression as a string, such as '[A-Z]{3}'", isText),
  }
  return Object.fromEntries(optionNames(kind).map((name) => [name, checks[name as keyof typeof checks]]))
}

/** Returns the valid values and reports the invalid ones, and those with an unknown name; `required` has an advice of its own. */
const parseValues = (values: Values, checks: Checks, report: Report, what: (name: string) => string, advice = '') => {
  const names = Object.keys(checks)
  const valid: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    // An option that is not given; of a reference, probably a name that was not imported.
    if (check && value === undefined && name !== 'references') continue
    if (!check) {
      const similar = didYouMean(name, names) || `; it must be one of ${names.join(', ')}`
      report(`unknown ${what(name)}${(name === 'required' && advice) || similar}`, name)
    } else if (check.isValid(value)) valid[name] = value
    else {
      const hint = value instanceof Date ? '; for the time of each create, write now or today' : ''
      report(`${name} is ${formatValue(value)}, but it must be ${check.expected}${hint}`, name)
    }
  }
  return valid
}

const isSpec = (spec: unknown): spec is { kind: Kind; options: unknown } =>
  isObject(spec) && kindNames.includes(spec['kind'] as Kind) && Object.hasOwn(spec, 'options')

const parseField = (field: string, spec: unknown, report: Report): FieldSpec => {
  if (!isSpec(spec)) {
    const hint = typeof spec === 'function' ? ', with parentheses' : ''
    report(`is ${formatValue(spec)}, but it must be one of ${kindNames.map((kind) => `${kind}()`).join(', ')}${hint}`)
    return { kind: 'text', options: {} }
  }
  const { kind, options } = spec
  if (!isObject(options)) {
    report(`the options of ${kind}() are ${formatValue(options)}, but they must be an object such as { about: '…' }`)
    return { kind, options: {} }
  }
  const advice = `; add the field to the list of the resource instead: required: ['${field}', …]`
  const what = (name: string) => `option "${name}" of ${kind}()`
  return { kind, options: parseValues(options, optionChecks(kind, options as KindOptions), report, what, advice) }
}

/** Replaces invalid properties, so that the rest of the descriptor can be verified in the same run. */
const placeholder: Descriptor = { name: '', area: '', table: '', fields: {}, required: [], create: false }

export const parseDescriptor = (exported: unknown, report: Report): Descriptor | undefined => {
  if (!isObject(exported)) {
    report(
      'the default export is not a descriptor; write "export default defineResource({ … })", or move shared fields into resources/shared/',
    )
    return undefined
  }
  const known = Object.keys(properties)
  const unknown = Object.keys(exported).filter((name) => !known.includes(name))
  // A misspelt property is reported once, not as missing too.
  const misspelt = unknown.map((name) => nearest(name, known))
  for (const [name, { expected }] of Object.entries(mandatory)) {
    if (exported[name] === undefined && !misspelt.includes(name)) report(`${name} is missing; it must be ${expected}`)
  }
  const checks = exported['existing'] === true ? { ...properties, table: foreignName } : properties
  const valid = parseValues(exported, checks, report, (name) => `property "${name}"`)
  const parsed: Descriptor = { ...placeholder, ...valid }
  const names = Object.keys(parsed.fields)
  const fields: Fields = Object.fromEntries(
    names.map((name) => [
      name,
      parseField(name, parsed.fields[name], reportAt(report, `field "${name}"`, 'fields', name)),
    ]),
  )
  // Without fields, every name in required would be reported as a second error.
  return { ...parsed, fields, required: names.length > 0 ? parsed.required : [] }
}
