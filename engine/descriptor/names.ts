/** The names that fields, tables and paths may have, and those in the API documents that are derived from the name of a resource. */
import type { Report } from './registryError.js'

/** What a resource is called. */
interface Naming {
  readonly name: string
  readonly plural?: string
  readonly history?: unknown
}

export const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z][a-z0-9_]{0,59}$/.test(value)

/** Whether a table may have a name; the databases and the service use names that begin otherwise. */
export const isTableName = (value: unknown): boolean => isName(value) && !/^(?:sqlite|pg|registry)_/.test(value)

/** Whether a text can be the name of a table or column of another program. Names that begin with `registry_` are for the service's own tables. */
export const isForeignName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.includes('\0') && !value.startsWith('registry_')

export const isPath = (path: string): boolean => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(path)

export const isReservedPath = (path: string): boolean =>
  ['health', 'batch', 'sign-in', 'sign-out', 'assets'].includes(path)

/** `Leave request` as a name for schemas and operations: `LeaveRequest`. */
const pascal = (text: string): string =>
  text
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

export const pluralName = ({ name, plural }: Naming): string => {
  if (plural !== undefined) return plural
  if (/[^aeiou]y$/i.test(name)) return `${name.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/i.test(name) ? `${name}es` : `${name}s`
}

export const schemaNames = ({ name }: Pick<Naming, 'name'>) => {
  const row = pascal(name)
  return { row, create: `${row}Create`, update: `${row}Update`, collection: `${row}Collection` }
}

export const operationNames = (named: Naming) => ({
  list: `list${pascal(pluralName(named))}`,
  summary: `summarize${pascal(pluralName(named))}`,
  changes: `follow${pascal(pluralName(named))}`,
  get: `get${pascal(named.name)}`,
  create: `create${pascal(named.name)}`,
  import: `import${pascal(pluralName(named))}`,
  update: `update${pascal(named.name)}`,
  delete: `delete${pascal(named.name)}`,
  history: `get${pascal(named.name)}History`,
  eraseHistory: `erase${pascal(named.name)}History`,
})

/** The names of the operations that a resource may have. */
export const takenOperationNames = (named: Naming): string[] => {
  const { history, eraseHistory, ...names } = operationNames(named)
  return [...Object.values(names), ...(named.history ? [history, eraseHistory] : [])]
}

/** `close-visit` as a name of functions: `closeVisit`. */
export const operationIdOf = (name: string): string =>
  name.replaceAll(/[-_]+(\w)/g, (_, letter: string) => letter.toUpperCase())

const serviceSchemas =
  'ErrorEnvelope Health ImportResult Index PaginationMeta ParameterIssue ValidationError ValidationIssue'.split(' ')

/** OpenAPI allows no other letters and digits in the names of schemas. */
const checkCharacters = (property: 'name' | 'plural', value: string, report: Report): void => {
  const forbidden = [...new Set(pascal(value).match(/[^A-Za-z0-9]/gu))].join('')
  const reason = `${property} is "${value}", but schemas and operations are named after it`
  if (forbidden !== '')
    report(`${reason}, and OpenAPI allows only A–Z, a–z and 0–9 there; replace "${forbidden}"`, property)
  else if (pascal(value) === '') report(`${reason}; it must have a letter or digit (A–Z, a–z, 0–9)`, property)
}

const firstCommon = (names: object, others: object): string | undefined =>
  Object.values(names).find((name) => Object.values(others).includes(name))

/** The property that makes a resource look like another one in the documents, and how. */
const collision = (named: Naming, other: Naming, file: string): ['name' | 'plural', string] | undefined => {
  const schema = firstCommon(schemaNames(named), schemaNames(other))
  if (schema) return ['name', `makes the schema ${schema}, which ${file} makes too`]
  // Otherwise the operation getThings would look like listThings of the other.
  if (pascal(named.name) === pascal(pluralName(other))) return ['name', `is the plural of ${file}`]
  if (pascal(other.name) === pascal(pluralName(named))) return ['plural', `is the name of ${file}`]
  const operation = firstCommon(takenOperationNames(named), takenOperationNames(other))
  return operation ? ['plural', `makes the operation ${operation}, which ${file} makes too`] : undefined
}

export const checkNames = (
  named: Naming,
  earlier: readonly { readonly file: string; readonly descriptor: Naming }[],
  report: Report,
): void => {
  const { name, plural } = named
  if (name === '') return
  checkCharacters('name', name, report)
  if (plural !== undefined) checkCharacters('plural', plural, report)
  const taken = firstCommon(schemaNames(named), serviceSchemas)
  if (taken) report(`name "${name}" makes the schema ${taken}, which every service has; choose another name`, 'name')
  for (const { file, descriptor } of earlier) {
    const [property, why] = (descriptor.name !== '' && collision(named, descriptor, file)) || []
    if (property)
      report(
        `${property} "${property === 'name' ? name : pluralName(named)}" ${why}; choose another ${property}`,
        property,
      )
  }
}
