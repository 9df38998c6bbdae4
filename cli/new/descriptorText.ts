/** The text of a descriptor file, formatted as `npm run lint` expects it. */
import { isWhole } from '../../engine/descriptor/kinds/index.js'
import type { NewField, NewResource } from './plan.js'

/** The longest line. */
const lineWidth = 120

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const textWidth = (line: string): number => [...line].reduce((sum, sign) => sum + (wide.test(sign) ? 2 : 1), 0)
const fits = (line: string): boolean => textWidth(line) <= lineWidth

/** A string in the quotes that need fewer escapes, single ones if it does not matter. */
const quoted = (text: string): string => {
  const count = (sign: string) => text.split(sign).length - 1
  const quote = count("'") > count('"') ? '"' : "'"
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`)
  return `${quote}${escaped}${quote}`
}

const memberName = (name: string): string => (/^[a-z_$][\w$]*$/i.test(name) ? name : quoted(name))

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'function') return value.name
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${memberName(name)}: ${literal(member)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  return typeof value === 'string' ? quoted(value) : String(value).replace('e+', 'e')
}

/** `key: value,`, with the value on the next line if it is too long. */
const property = (indent: string, key: string, value: string): string => {
  const line = `${indent}${key}: ${value},`
  return fits(line) ? line : `${indent}${key}:\n${indent}  ${value},`
}

/** The options that a new field may have, in the order in which they are written. */
const written = [
  ...(['column', 'digits', 'places', 'references', 'default', 'managed', 'oneOf', 'min', 'max', 'maxLength'] as const),
  ...(['filter', 'sort', 'range', 'unique', 'redacted'] as const),
]

const fieldText = (field: NewField): string => {
  const options = written.flatMap((name) => (field[name] === undefined ? [] : [[name, literal(field[name])] as const]))
  if (options.length === 0) return `    ${field.name}: ${field.kind}(),`
  const inside = options.map(([key, value]) => `${key}: ${value}`).join(', ')
  const line = `    ${field.name}: ${field.kind}({ ${inside} }),`
  if (fits(line)) return line
  const lines = options.map(([key, value]) => property('      ', key, value))
  return [`    ${field.name}: ${field.kind}({`, ...lines, '    }),'].join('\n')
}

const requiredText = (fields: readonly NewField[]): string => {
  const names = fields.filter(({ isRequired }) => isRequired).map(({ name }) => quoted(name))
  const line = `  required: [${names.join(', ')}],`
  return fits(line) ? line : ['  required: [', ...names.map((name) => `    ${name},`), '  ],'].join('\n')
}

const importLine = (fields: readonly NewField[]): string => {
  const values = fields.flatMap((field) => [field.default, field.managed])
  const clocks = values.flatMap((value) => (typeof value === 'function' ? [literal(value)] : []))
  const names = [...new Set(['defineResource', ...fields.map(({ kind }) => kind), ...clocks])].sort()
  const from = `from 'resource-registry-engine'`
  const line = `import { ${names.join(', ')} } ${from}`
  return fits(line) ? line : ['import {', ...names.map((name) => `  ${name},`), `} ${from}`].join('\n')
}

export const descriptorText = ({ name, plural, area, about, table, existing, fields, ...verbs }: NewResource): string =>
  [
    importLine(fields),
    '',
    'export default defineResource({',
    property('  ', 'name', quoted(name)),
    ...(plural === undefined ? [] : [property('  ', 'plural', quoted(plural))]),
    property('  ', 'area', quoted(area)),
    ...(about === undefined ? [] : [property('  ', 'about', quoted(about))]),
    property('  ', 'table', quoted(table)),
    ...(existing ? ['  existing: true,'] : []),
    ...(existing && existing.idColumn !== 'id' ? [property('  ', 'idColumn', quoted(existing.idColumn))] : []),
    ...(existing && !isWhole({ kind: existing.id }) ? [`  id: ${quoted(existing.id)},`] : []),
    '  fields: {',
    ...fields.map(fieldText),
    '  },',
    requiredText(fields),
    `  create: ${verbs.create},`,
    ...(verbs.update ? ['  update: true,'] : []),
    ...(verbs.delete ? ['  delete: true,'] : []),
    '})',
    '',
  ].join('\n')
