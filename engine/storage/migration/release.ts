/** Releases adopted tables: removes everything that the engine has added to them. */
import type { Registry } from '../../descriptor/registry.js'
import type { ChangeOptions } from '../options.js'
import { forgetOrigin, originsTable } from '../schema.js'
import { dropDerived, withoutDescriptor } from './derivedSteps.js'
import { applySteps } from './migrate.js'
import type { MigrationDialect, Step } from './migrationDialect.js'

/** Releases every adopted table; returns what was done. */
export const release = async (
  database: MigrationDialect,
  registry: Registry,
  options: ChangeOptions,
): Promise<readonly Step[]> => {
  if (!(await database.catalogue(originsTable))) return []
  const query = database.knex(originsTable).select('name').where({ origin: 'adopted' }).orderBy('name').toString()
  const steps: Step[] = []
  for (const { name: table } of await database.execute<{ name: string }>(query)) {
    const resource = registry.find((one) => one.table === table) ?? withoutDescriptor(table)
    const dropped = (await database.catalogue(table)) ? await dropDerived(database, resource) : database.forget(table)
    steps.push({ table, about: `release the table ${table}`, sql: [...dropped, forgetOrigin(database, table)] })
  }
  const released = steps.map(({ table }) => table)
  const isLast = (await database.countedTables()).every((table) => released.includes(table))
  if (steps.length > 0 && isLast) {
    steps.push({ table: originsTable, about: "drop the service's own tables", sql: database.dropOwn() })
  }
  await database.exclusively(() => applySteps(database, steps, options))
  return steps
}
