/** A table of another program under the names of its fields. */
import { type Field, type Registry, type Resource, searchedFields } from '../../descriptor/registry.js'
import { ownSources, quoted, type Sources } from '../schema.js'
import type { ColumnSql, PlainSql } from './dialect.js'

/** The columns of an existing table, by field. */
export type ExistingColumns = ReadonlyMap<string, ColumnSql>

/** The types of the columns of a table, by name. */
export type ColumnTypes = ReadonlyMap<string, string>

export const columnsFrom = (sql: PlainSql, { fields }: Resource, types: ColumnTypes): ExistingColumns =>
  new Map(fields.map((field) => [field.name, sql.columnSql(field, types.get(field.column) ?? '')]))

/** A quoted name for knex, to which a question mark is a parameter. */
export const escapedName = (name: string): string => quoted(name).replaceAll('?', '\\?')

/** The table as a query whose columns are the fields; a redacted column is never read. */
const querySource = (sql: PlainSql, { table, fields }: Resource, columns: ExistingColumns): string => {
  const shown = fields.filter(({ redacted }) => !redacted)
  const selected = shown.map(({ name }) => `${columns.get(name)?.read} as ${quoted(name)}`)
  const id = escapedName((fields[0] as Field).column)
  return `(select ${selected.join(', ')} from ${escapedName(table)} where ${sql.hasId(id)})`
}

/** The sources of all resources: the engine's own tables, and those of other programs with these columns. */
export const sourcesOf = (
  sql: PlainSql,
  registry: Registry,
  columns: ReadonlyMap<Resource, ExistingColumns>,
): Sources => {
  const queries = new Map(
    registry.map((resource) => {
      const own = columns.get(resource)
      return [resource, own ? querySource(sql, resource, own) : ownSources(resource)]
    }),
  )
  return (resource) => queries.get(resource) ?? ownSources(resource)
}

/** The text fields of a row that have a value, joined by a space. */
export const joinedText = (resource: Resource): string =>
  `concat_ws(' ', ${
    searchedFields(resource)
      .map(({ name }) => quoted(name))
      .join(', ') || "''"
  })`
