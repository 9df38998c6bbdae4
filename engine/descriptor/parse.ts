/** Parses the default export of a resource file into a descriptor and reports every syntax error. */
import { z } from 'zod'
import type { Descriptor, Fields } from './define.js'
import type { FieldSpec } from './fields.js'
import { idKinds, type Kind, type KindOptions, kindNames } from './kinds/index.js'
import { isName, isTableName } from './names.js'
import { foreignName, optionShapes } from './options.js'
import { formatValue, type Report, reportAt } from './registryError.js'
import {
  aFunction,
  anObject,
  filledText,
  flag,
  isObject,
  mandatory,
  names,
  parseProperties,
  type Shapes,
  sentence,
  shape,
  trueOrFalse,
} from './shapes.js'

const rule = z.strictObject({ fields: names, holds: aFunction(), message: filledText })

const properties: Shapes = {
  name: mandatory(shape('a string such as "Book"', filledText)),
  area: mandatory(shape('a string such as "People"', filledText)),
  table: mandatory(
    shape(
      'at most 60 lower-case letters, digits and underscores, such as "books", and must not begin with sqlite_, pg_ or registry_',
      z.string().refine(isTableName),
    ),
  ),
  fields: mandatory(
    shape(
      'an object with at least one field besides id, such as { name: text() }',
      anObject.refine((fields) => Object.keys(fields).length > 0),
    ),
  ),
  required: mandatory(shape('a list of field names, such as ["name"], or [] if every field may be null', names)),
  create: mandatory(trueOrFalse),
  existing: flag,
  id: shape("'integer', 'uuid' or 'text'", z.enum(idKinds)),
  idColumn: foreignName,
  plural: shape('a string such as "Books"', filledText),
  about: sentence,
  rules: shape(
    "a list of rules, such as { fields: ['from', 'to'], holds: (row) => row.from <= row.to, message: 'to must not be before from' }",
    z.array(rule).nonempty(),
  ),
  update: shape('true, false or a list of field names, such as ["status"]', z.union([z.boolean(), names])),
  delete: trueOrFalse,
  import: trueOrFalse,
  summary: trueOrFalse,
  changes: trueOrFalse,
  history: shape(
    'true, false or an object with a number of days from 1 to 36500, such as { days: 30 }',
    z.union([z.boolean(), z.strictObject({ days: z.int().min(1).max(36_500) })]),
  ),
  access: shape(
    "an object with read and, where the resource has them, create, update and delete, such as { read: ['hr', { employee_id: claim('employee_id') }], create: 'hr' }",
    anObject.refine(({ read }) => read !== undefined),
  ),
  renamedFromTable: shape('the former name of the table, such as "titles"', z.string().refine(isName)),
  label: shape('a list of field names, such as ["first_name", "last_name"]', names),
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
  const shapes = optionShapes({ ...(options as KindOptions), kind })
  const words = { noun: 'option', owner: `${kind}()`, advice: { required: advice } }
  return { kind, options: parseProperties(options, shapes, report, words) }
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
  const shapes =
    exported['existing'] === true ? { ...properties, table: { ...properties['table'], ...foreignName } } : properties
  const parsed: Descriptor = { ...placeholder, ...parseProperties(exported, shapes, report) }
  const fieldNames = Object.keys(parsed.fields)
  const fields: Fields = Object.fromEntries(
    fieldNames.map((name) => [
      name,
      parseField(name, parsed.fields[name], reportAt(report, `field "${name}"`, 'fields', name)),
    ]),
  )
  // Without fields, every name in required would be reported as a second error.
  return { ...parsed, fields, required: fieldNames.length > 0 ? parsed.required : [] }
}
