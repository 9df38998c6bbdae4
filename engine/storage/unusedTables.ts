/** Finds the tables that a new resource may have been renamed from. */
import type { Registry, Resource } from '../descriptor/registry.js'
import { type CatalogueTable, columnOf } from './catalogue.js'
import type { MigrationDialect } from './migrationDialect.js'

/** The tables that the engine counts and that no resource uses any more. */
export const unusedTables = async (database: MigrationDialect, registry: Registry): Promise<CatalogueTable[]> => {
  const names = (await database.countedTables()).filter((name) => !registry.some(({ table }) => table === name))
  const tables: CatalogueTable[] = []
  for (const name of names) {
    const table = await database.catalogue(name)
    if (table) tables.push(table)
  }
  return tables
}

/** Whether a table has most of the columns of a resource. */
export const isSimilar = ({ fields }: Resource, table: CatalogueTable): boolean =>
  fields.filter(({ name }) => columnOf(table, name)).length > fields.length / 2
