/** The tables of a registry, as SQL that knex builds. */
import type { Knex } from 'knex'
import type { Field, Registry, Resource } from '../descriptor/registry.js'

const columnTypes = { integer: 'integer', number: 'numeric', text: 'text' } as const

/** Quotes a name, because it may be a reserved word; it has only letters, digits and underscores. */
export const quoted = (name: string): string => `"${name}"`

/** The table of the resource at a path. */
export const tableNameOf = (registry: Registry, path: string): string => {
  const target = registry.find((resource) => resource.path === path)
  if (!target) throw new TypeError(`no resource at ${path}`)
  return target.table
}

const addColumn = (registry: Registry, table: Knex.CreateTableBuilder, field: Field): void => {
  const column = table.specificType(field.name, columnTypes[field.kind])
  if (field.required) column.notNullable()
  if (field.references) column.references('id').inTable(tableNameOf(registry, field.references))
}

/** The statements that make a resource's table. */
export const createTable = (knex: Knex, registry: Registry, resource: Resource): string[] =>
  knex.schema
    .createTable(resource.table, (table) => {
      table.increments('id')
      for (const field of resource.fields) if (field.name !== 'id') addColumn(registry, table, field)
    })
    .toSQL()
    .map(({ sql }) => sql)

/** The statements that give an existing table the columns its descriptor has gained. */
export const addColumns = (knex: Knex, registry: Registry, resource: Resource, fields: readonly Field[]): string[] =>
  knex.schema
    .alterTable(resource.table, (table) => {
      for (const field of fields) addColumn(registry, table, field)
    })
    .toSQL()
    .map(({ sql }) => sql)
