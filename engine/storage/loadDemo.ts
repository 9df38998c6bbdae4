/** Loads the demo rows into a database without rows. */
import { managedResources, type Registry } from '../descriptor/registry.js'
import { errorLine } from '../descriptor/registryError.js'
import { StorageError } from './failures.js'
import type { MigrationDialect } from './migration/migrationDialect.js'

/** Queries the tables: stored counts may be wrong after a restore. */
const isEmpty = async ({ execute, knex }: MigrationDialect, registry: Registry): Promise<boolean> => {
  for (const { table } of registry) {
    const rows = await execute(knex(table).select(1).limit(1).toString())
    if (rows.length > 0) return false
  }
  return true
}

export const loadDemo = async (database: MigrationDialect, fullRegistry: Registry): Promise<boolean> => {
  const registry = managedResources(fullRegistry)
  let isLoaded = false
  if (registry.length === 0 || !(await isEmpty(database, registry))) return isLoaded
  const errors = registry.flatMap(({ demoErrors = [] }) => demoErrors)
  if (errors.length > 0) {
    const reason = 'its tables are empty, and the demo rows for them have errors; correct them, or set DEMO_DATA=false'
    throw new StorageError([`${reason}:`, ...errors.map(errorLine)].join('\n  '))
  }
  await database.transaction(async () => {
    // Another process may have loaded them in the meantime.
    if (!(await isEmpty(database, registry))) return
    for (const resource of registry) await database.insertRows(resource, resource.demo)
    isLoaded = registry.some(({ demo }) => demo.length > 0)
  })
  return isLoaded
}
