/** Tables that the service serves as they are: existing ones, and all where it creates nothing but tables, keys and indexes. */
import { type Column, type ColumnSql, isJson, isText } from '../descriptor/kinds/index.js'
import {
  type Field,
  idField,
  isInteger,
  type Resource,
  type RowId,
  searchedFields,
  textFields,
} from '../descriptor/registry.js'
import type { Source } from './dialect.js'
import type { CatalogueTable } from './migration/catalogue.js'
import { quoted } from './schema.js'

/** The text fields of a row that have a value, joined by a space. */
export const joinedText = (resource: Resource): string => {
  const names = searchedFields(resource).map(({ name }) => quoted(name))
  return `concat_ws(' ', ${names.join(', ') || "''"})`
}

/** About how many bytes of a row are no text: the names of its fields, with their quotes and separators, and short values. */
export const frameSize = ({ fields }: Resource): string =>
  String(fields.reduce((sum, { name }) => sum + name.length + shortValue, 0))
const shortValue = 10

/** About how many bytes a row has: those of its texts, whose lengths a database knows without reading them, and of its JSON. */
export const textSize = (resource: Resource): string =>
  [
    frameSize(resource),
    ...searchedFields(resource).map(textBytes),
    ...hiddenSizes(resource),
    ...jsonSizes(resource),
  ].join(' + ')

const textBytes = ({ name }: Field): string => `coalesce(octet_length(${quoted(name)}), 0)`

/** The sizes of texts that are not searched, because not everybody may read them. */
export const hiddenSizes = (resource: Resource): string[] =>
  textFields(resource)
    .filter(({ readBy }) => readBy)
    .map(textBytes)

export const jsonSizes = ({ fields }: Resource): string[] =>
  fields
    .filter((field) => isJson(field) && !field.redacted)
    .map(({ name }) => `coalesce(octet_length(cast(${quoted(name)} as text)), 0)`)

/** Whether a database stores integers in columns of a type; an interval is none. */
export const isIntegerType = (type: string): boolean =>
  /^(?:tiny|small|medium|big|unsigned big )?int(?:eger|2|8)?\b/i.test(type)

/** The type of the column with the ids. */
export const idTypeIn = (resource: Resource, table: CatalogueTable | undefined): string =>
  table?.columns.find(({ name }) => name === idField(resource).column)?.type ?? ''

/** How a field is read and written in a column of a type that the database has for it. */
export const columnSql = (column: Column, field: Field, type: string): ColumnSql => {
  const name = quoted(field.column)
  return { read: name, ...column.existing?.(name, type, field.name === 'id') }
}

/**
 * The table as a query whose columns are the fields; a redacted column is never read. `hasId` is the condition that a row has an id, `integerBits` the bits of integer types that have not 64.
 */
export const unmanagedColumns = (
  resource: Resource,
  table: CatalogueTable | undefined,
  columnOf: (field: Field) => Column,
  hasId: (column: string) => string,
  integerBits: Readonly<Record<string, number>> = {},
): Pick<Source, 'resource' | 'from' | 'size' | 'writtenAs' | 'typeOf' | 'uniqueKey' | 'bindId'> => {
  const types = new Map(table?.columns.map(({ name, type }) => [name, type]))
  const columns = new Map(
    resource.fields.map((field) => [field.name, columnSql(columnOf(field), field, types.get(field.column) ?? '')]),
  )
  const selected = resource.fields
    .filter(({ redacted }) => !redacted)
    .map(({ name }) => `${columns.get(name)?.read} as ${quoted(name)}`)
  const id = idField(resource)
  const idType = idTypeIn(resource, table)
  const isRow = hasId(quoted(id.column))
  return {
    resource,
    from: `(select ${selected.join(', ')} from ${quoted(resource.table)} where ${isRow})`,
    size: textSize(resource),
    writtenAs: (field) => columns.get(field)?.write,
    typeOf: (name) => types.get(resource.fields.find((field) => field.name === name)?.column ?? name),
    uniqueKey: (_, value) => value,
    // Integers that are served as texts.
    ...(isText(id) &&
      isIntegerType(idType) && { bindId: (text: RowId) => (isInteger(text, integerBits[idType]) ? text : null) }),
  }
}
