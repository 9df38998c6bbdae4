/** Takes the engine's objects away from the tables of other programs, which are then as they were before they were adopted. */
import type { Registry } from '../descriptor/registry.js'
import { dropDerived } from './derivedSteps.js'
import { applySteps, type Reports } from './migrate.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { originsTable } from './schema.js'

/** Releases every adopted table of the registry; returns what was done. */
export const release = async (
  database: MigrationDialect,
  registry: Registry,
  reports: Reports,
): Promise<readonly Step[]> => {
  const steps: Step[] = []
  for (const resource of registry) {
    const { table } = resource
    if ((await database.catalogue(table))?.origin !== 'adopted') continue
    const forgotten = database.knex(originsTable).where('name', table).delete().toString()
    steps.push({ table, about: `release the table ${table}`, sql: [...dropDerived(database, resource), forgotten] })
  }
  await database.exclusively(() => applySteps(database, steps, reports))
  return steps
}
