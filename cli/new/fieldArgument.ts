/** Parses a field of the command line: `title:text!`, `author_id:authors`, `status:text,filter=Planned`. */
import { parseJson } from '../../engine/descriptor/jsonText.js'
import { isJson, isText, type Kind, type KindSpec, kindNames, kindOf } from '../../engine/descriptor/kinds/index.js'
import { isName } from '../../engine/descriptor/names.js'
import { didYouMean } from '../../engine/descriptor/nearest.js'
import { type OptionName, takesOption } from '../../engine/descriptor/options.js'
import { foreignKinds } from '../../engine/descriptor/projectFile.js'
import type { GivenValue, Registry } from '../../engine/descriptor/registry.js'
import { findViolation } from '../../engine/descriptor/valueRules.js'
import { UsageError } from '../../support/options.js'
import type { NewField } from './plan.js'

type Typed = Partial<NewField> & Pick<NewField, 'kind'>

/** The types that are not references, and their options in a descriptor. */
const types: Readonly<Record<string, Typed>> = {
  ...Object.fromEntries(kindNames.map((kind) => [kind, { kind }])),
  ...Object.fromEntries(
    kindNames.flatMap((kind) => {
      const { clock } = kindOf(kind)
      return clock ? [[clock.name, { kind, managed: clock }]] : []
    }),
  ),
}

const optionNames = ['filter', 'sort', 'range', 'unique', 'redacted']

/** The value of a default: JSON, or the text itself where values are strings. */
const parseValue = (kind: Kind, text: string): GivenValue => {
  const { input, parse, expected } = kindOf(kind)
  if (isJson({ kind }) && typeof parse(text, {}) !== 'string')
    throw new UsageError(`the default is "${text}", but it must be ${expected}`)
  return input === 'text' ? text : (parseJson(text) as GivenValue)
}

const parseDefault = (spec: KindSpec, text: string): NewField['default'] => {
  const { kind } = spec
  if (text === '') throw new UsageError('the default is empty; leave out the "=" or write a value after it')
  const { clock } = kindOf(kind)
  if (clock && text === clock.name) return clock
  const value = parseValue(kind, text)
  const violation = findViolation(spec, value)
  if (violation === undefined) return value
  if (/_max_/.test(violation.type))
    throw new UsageError(`the default is "${text}", but it ${violation.message.replace(/; .*/, '')}`)
  const expected = `${clock ? `${clock.name} or ` : ''}${kindOf(kind).expected}`
  throw new UsageError(`the default is "${text}", but it must be ${expected}`)
}

/** The type, or the reference to another resource or to the new one itself. */
const parseType = (type: string, registry: Registry, ownPath: string): Typed => {
  for (const kind of kindNames) {
    const options = kindOf(kind).argument?.(type)
    if (options) return { kind, ...options } as Typed
  }
  if (Object.hasOwn(types, type)) return types[type] as Typed
  const paths = [...registry.map(({ path }) => path), ownPath]
  // Every reference is also a filter.
  if (paths.includes(type)) return { kind: 'integer', references: type, filter: true }
  const unknown = `unknown type "${type}"`
  if (/^(?:decimal|numeric)\b/.test(type))
    throw new UsageError(`${unknown}; write decimal12.2 for 12 digits, 2 of them after the point`)
  if (Object.hasOwn(foreignKinds, type)) throw new UsageError(`${unknown}; use ${foreignKinds[type]}`)
  const byTable = registry.find(({ table }) => table === type)
  if (byTable) throw new UsageError(`"${type}" is a table; to reference its rows, write ${byTable.path}`)
  const names = [...Object.keys(types), ...paths]
  throw new UsageError(
    `${unknown}${didYouMean(type, names) || `; it must be ${Object.keys(types).join(', ')} or the path of a resource`}`,
  )
}

const checkOptions = (options: readonly string[], kind: NewField['kind']): void => {
  for (const option of options) {
    if (!optionNames.includes(option)) {
      const hint = didYouMean(option, optionNames) || `; it must be ${optionNames.join(', ')}`
      throw new UsageError(`unknown option "${option}"${hint}`)
    }
    // A text needs a format to have ranges.
    const isAllowed = takesOption(kind, option as OptionName) && !(option === 'range' && isText({ kind }))
    if (!isAllowed) throw new UsageError(`a ${kind} cannot have the option ${option}`)
  }
}

const parse = (argument: string, registry: Registry, ownPath: string): NewField => {
  const equals = argument.indexOf('=')
  const head = equals === -1 ? argument : argument.slice(0, equals)
  const [name = '', described, ...excess] = head.split(':')
  if (!described || excess.length > 0) throw new UsageError('a field is NAME:TYPE, such as title:text')
  if (!isName(name)) {
    const rule = 'must be at most 60 lower-case letters, digits and underscores, such as from_date'
    throw new UsageError(`the name "${name}" ${rule}`)
  }
  const [type = '', ...options] = described.replaceAll('!', '').split(',')
  const parsed = parseType(type, registry, ownPath)
  checkOptions(options, parsed.kind)
  if (parsed.managed && equals !== -1) throw new UsageError('the service sets the value, so it cannot have a default')
  const preset = equals === -1 ? undefined : parseDefault(parsed, argument.slice(equals + 1))
  const { references } = parsed
  const rows = registry.find(({ path }) => path === references)?.demo ?? []
  if (references && preset !== undefined && rows.every(({ id }) => id !== preset))
    throw new UsageError(`the default is ${preset}, but there is no demo row of ${references} with this id`)
  return {
    ...parsed,
    ...Object.fromEntries(options.map((option) => [option, true])),
    name,
    isRequired: described.includes('!') || parsed.managed !== undefined,
    // A text named status is always a filter.
    ...(name === 'status' && isText(parsed) && { filter: true }),
    ...(preset !== undefined && { default: preset }),
  }
}

/** Parses all fields; throws a UsageError with the errors of all of them, each after the field. */
export const parseFields = (texts: readonly string[], registry: Registry, ownPath: string): NewField[] => {
  const errors: string[] = []
  const fields = new Map<string, NewField>()
  for (const argument of texts) {
    try {
      const field = parse(argument, registry, ownPath)
      if (fields.has(field.name)) throw new UsageError(`the field "${field.name}" is given twice`)
      fields.set(field.name, field)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      errors.push(`"${argument}": ${error.message}.`.replace('?.', '?'))
    }
  }
  if (errors.length > 0) throw new UsageError(errors.join('\n'))
  return [...fields.values()]
}

/** The syntax, for the help. */
export const fieldSyntax = `A field is NAME:TYPE, with "!" if it is required, options after "," and a default after "=":
  title:text!                    a required text
  hours:number                   a number; also integer, boolean, date, timestamp, uuid and json
  price:decimal12.2              a decimal of 12 digits, 2 of them after the point; also decimal
  author_id:authors              a reference to a row of that resource, and a filter
  code:text!,unique              options: ${optionNames.join(', ')}
  status:text=Planned            a default; a date may be =today and a timestamp =now
  created:now                    set by the service; also today`
