/** Describes tables of another program as resources, and reports what a descriptor cannot express. */

import { checkFieldName } from '../../engine/descriptor/checks.js'
import { isTableName } from '../../engine/descriptor/identifiers.js'
import { kindOf } from '../../engine/descriptor/kinds.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import type { CatalogueColumn, CatalogueTable } from '../../engine/storage/migration/catalogue.js'
import type { NewField, NewResource } from '../new/plan.js'
import { distinctNames, pathsOf } from './distinct.js'

interface Description {
  /** Undefined if the table cannot be served. */
  readonly resource?: NewResource
  readonly notes: readonly string[]
}

/** Why a table cannot be served; undefined if it can. */
const whyNoTable = ({ name, otherwise, rowId }: CatalogueTable): string | undefined => {
  if (!isTableName(name)) return 'its name is not lower-case letters, digits and underscores'
  if (otherwise !== undefined) return `it is ${otherwise}`
  return rowId === 'id' ? undefined : 'it has no integer primary key "id"'
}

/** Why a column cannot be a field; undefined if it can. */
const whyNoField = ({ name, type, kind, whyReadOnly }: CatalogueColumn): string | undefined => {
  const faults: string[] = []
  checkFieldName(name, (fault) => void faults.push(fault.replace(/; .*/, '')))
  if (faults.length > 0) return `no field can have the name "${name}": ${faults.join(', and ')}`
  if (whyReadOnly != null) return `a create cannot set "${name}", because ${whyReadOnly}`
  return kind === undefined ? `"${name}" is of type ${type || 'none'}, which no field can store` : undefined
}

/** The checks of the values of one column, as SQLite and as PostgreSQL write them. */
const valueChecks = [
  /^check \((\w+) in \((.*)\)\)$/is,
  /^CHECK \(+"?(\w+)"?\)?(?:::[\w ]+)? = ANY \(+ARRAY\[(.*)\]\)?(?:::[\w ]+\[\])?\)+$/s,
]

/** The column and the values of a constraint that allows only these; undefined for any other. */
const allowedValues = (sql: string): { column: string; oneOf: (string | number)[] } | undefined => {
  const [, column, list] = valueChecks.map((pattern) => pattern.exec(sql)).find((match) => match !== null) ?? []
  if (column === undefined || list === undefined) return undefined
  const texts = [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text.replaceAll("''", "'"))
  const numbers = list.split(',').map(Number)
  if (texts.length === 0 && !numbers.every(Number.isSafeInteger)) return undefined
  return { column, oneOf: texts.length > 0 ? texts : numbers }
}

/** The longest text of a column such as varchar(20). */
const maxLengthOf = (type: string): number | undefined => {
  const [, length] = /char[^(]*\((\d+)\)/.exec(type) ?? []
  return length === undefined ? undefined : Number(length)
}

/** The rules that a column's type and checks have for its values. */
const rulesOf = ({ name, type, kind }: CatalogueColumn, constraints: readonly string[]) => {
  const allowed = constraints.map(allowedValues).find((check) => check?.column === name)?.oneOf
  const fits = allowed?.every((value) => typeof value === (kind === 'text' ? 'string' : 'number'))
  const maxLength = kind === 'text' ? maxLengthOf(type) : undefined
  return {
    ...(allowed && fits && { oneOf: allowed }),
    ...(maxLength !== undefined && !fits && { maxLength }),
  }
}

/** The resource of a table without its names; `paths` has the path of each table that is or gets a resource. */
const describeTable = (table: CatalogueTable, paths: ReadonlyMap<string, string>) => {
  const notes: string[] = []
  const note = (what: string) => void notes.push(`${table.name}: ${what}.`)
  const columns = table.columns.filter(({ name }) => name !== 'id')
  const fields = columns.flatMap((column): NewField[] => {
    const { name, kind, isNotNull, default: value } = column
    const why = whyNoField(column)
    if (why !== undefined || kind === undefined) {
      note(`${why}; it is left out`)
      return []
    }
    if (isNotNull && value !== null)
      note(`"${name}" has a default in the database that creates do not use; add a default to the field`)
    const target = table.foreignKeys.find((key) => key.column === name)?.target
    const references = kind === 'integer' ? paths.get(target ?? '') : undefined
    if (target !== undefined && references === undefined)
      note(`the reference of "${name}" to "${target}" is left out, because that table has no descriptor`)
    return [
      {
        name,
        kind,
        isRequired: isNotNull,
        ...(references !== undefined && { references }),
        ...(references === undefined && rulesOf(column, table.otherConstraints)),
        isFilter: references !== undefined,
        isUnique:
          kindOf(kind).options.some((option) => option === 'unique') &&
          table.unique.some((names) => names.length === 1 && names[0] === name),
        isRedacted: false,
      },
    ]
  })
  for (const names of table.unique) {
    if (names.length > 1) note(`(${names.join(', ')}) is unique; add unique: ['…'] to one of these fields`)
  }
  const stated = new Set(fields.flatMap(({ name, oneOf }) => (oneOf ? [name] : [])))
  const others = table.otherConstraints.filter((sql) => !stated.has(allowedValues(sql)?.column ?? ''))
  for (const sql of others) note(`no descriptor can express ${sql}; a create that violates it gets 500`)
  const left = columns.filter(
    ({ isNotNull, default: value, name }) =>
      isNotNull && value === null && !fields.some((field) => field.name === name),
  )
  if (left.length > 0) note('create is false, because a column that is left out needs a value')
  return { fields, create: left.length === 0, notes }
}

/** The resources of tables; those in the registry have one already. */
export const describeTables = (tables: readonly CatalogueTable[], registry: Registry, area: string): Description[] => {
  const described = tables.filter(
    (table) => whyNoTable(table) === undefined && !registry.some((one) => one.table === table.name),
  )
  const paths = pathsOf(
    described.map(({ name }) => name),
    registry,
  )
  const nameOf = distinctNames(registry)
  return tables
    .filter(({ name }) => !registry.some((one) => one.table === name))
    .map((table): Description => {
      const path = paths.get(table.name)
      const { fields, create, notes } = describeTable(table, paths)
      const refused = whyNoTable(table) ?? (fields.length === 0 ? 'no column can be a field' : undefined)
      if (path === undefined || refused !== undefined)
        return { notes: [`${table.name}: left out, because ${refused}.`] }
      return { resource: { path, ...nameOf(path), area, about: undefined, table: table.name, fields, create }, notes }
    })
}
