/** Describes a table of another program as a resource, and says what a descriptor cannot express. */
import type { CatalogueColumn, CatalogueTable } from '../../engine/storage/catalogue.js'
import { namesOf } from '../new/names.js'
import type { NewField, NewResource } from '../new/plan.js'

export interface Description {
  /** Undefined if the table cannot be served. */
  readonly resource?: NewResource
  readonly notes: readonly string[]
}

const validName = /^(?!registry_)[a-z][a-z0-9_]{0,59}$/
const reserved = ['id', 'constructor', 'limit', 'offset', 'q']

export const pathOf = (table: string): string => table.replaceAll('_', '-').replaceAll(/-+/g, '-').replace(/-$/, '')

/** Why a column cannot be a field; undefined if it can. */
const whyNot = ({ name, type, kind }: CatalogueColumn): string | undefined => {
  if (!validName.test(name) || reserved.includes(name)) return `no field can have the name "${name}"`
  return kind === undefined ? `"${name}" is of type ${type || 'none'}, which no kind of field stores` : undefined
}

/** The resource of a table; `tables` are all that get one. */
export const describeTable = (table: CatalogueTable, tables: readonly string[], area: string): Description => {
  const refused = (why: string): Description => ({ notes: [`${table.name}: left out, because ${why}.`] })
  if (!validName.test(table.name)) return refused('its name is not lower-case letters, digits and underscores')
  if (!table.hasId) return refused('it has no integer primary key "id"')

  const notes: string[] = []
  const note = (what: string) => void notes.push(`${table.name}: ${what}.`)
  const columns = table.columns.filter(({ name }) => name !== 'id')
  const fields = columns.flatMap((column): NewField[] => {
    const { name, kind, isNotNull, default: value } = column
    const why = whyNot(column)
    if (why !== undefined || kind === undefined) {
      note(`${why}; it is left out`)
      return []
    }
    if (isNotNull && value !== null)
      note(`"${name}" has a default in the database that creates do not use; add a default to the field`)
    const target = table.foreignKeys.find((key) => key.column === name)?.target
    const isReference = target !== undefined && kind === 'integer' && tables.includes(target)
    if (target !== undefined && !isReference) note(`the reference of "${name}" to "${target}" is left out`)
    return [
      {
        name,
        kind,
        isRequired: isNotNull,
        ...(isReference && { references: pathOf(target) }),
        isFilter: isReference,
        isUnique: kind !== 'number' && table.unique.some((names) => names.length === 1 && names[0] === name),
        isRedacted: false,
      },
    ]
  })
  for (const names of table.unique) {
    if (names.length > 1) note(`(${names.join(', ')}) is unique; write it as unique: ['…'] of one of these fields`)
  }
  if (fields.length === 0) return refused('no column can be a field')
  const left = columns.filter(
    ({ isNotNull, default: value, name }) =>
      isNotNull && value === null && !fields.some((field) => field.name === name),
  )
  if (left.length > 0) note('create is false, because a column that is left out needs a value')
  const path = pathOf(table.name)
  const resource = {
    path,
    ...namesOf(path),
    area,
    about: undefined,
    table: table.name,
    fields,
    create: left.length === 0,
  }
  return { resource, notes }
}
