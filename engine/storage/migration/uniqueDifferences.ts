/** Finds the rows that share values which a descriptor says are unique, before anything is changed. */
import type { Resource } from '../../descriptor/registry.js'
import { constantDefault, fieldOf, indexesOf } from '../schema.js'
import { type CatalogueTable, columnOf } from './catalogue.js'
import type { Difference } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'
import { duplicatesOf } from './rowChecks.js'
import type { ComparedTable } from './tableDifferences.js'

/** The column that has the values of a field now; null if every row will have the same value, undefined if none will have one. */
const presentColumn = (
  resource: Resource,
  name: string,
  current: CatalogueTable,
  { shape, added }: ComparedTable,
): string | null | undefined => {
  const field = fieldOf(resource, name)
  const column =
    shape.columns.find((one) => one.name === name)?.from ?? columnOf(current, field.renamedFrom ?? name)?.name
  if (column !== undefined) return column
  const gained = added.find((one) => one.name === name)
  const isFilled = gained?.required && constantDefault(gained) !== undefined
  return isFilled ? null : undefined
}

/** The unique indexes that cannot be created, because rows share values. */
export const compareUnique = async (
  database: MigrationDialect,
  resource: Resource,
  current: CatalogueTable,
  compared: ComparedTable,
): Promise<Difference[]> => {
  const { isCurrent } = await database.existingObjects(resource)
  const differences: Difference[] = []
  for (const index of indexesOf(database, resource).filter((one) => one.unique && !isCurrent(one))) {
    const { unique = [] } = index
    const columns = unique.map((name) => presentColumn(resource, name, current, compared))
    // Null is not equal to null.
    if (columns.includes(undefined)) continue
    const shared = await duplicatesOf(
      { database, table: current.name },
      columns.filter((column) => column != null),
    )
    const message = `the descriptor says that (${unique.join(', ')}) is unique, but ${shared}.`
    const advice = `Change the rows${database.correctedWith}, or remove unique from the field.`
    if (shared) differences.push({ table: resource.table, message, advice, isBlocking: true })
  }
  return differences
}
