/** Compares the stored counts with the rows. They differ after changes that did not fire the triggers. */

import { managedResources, type Registry, type Resource } from '../../descriptor/registry.js'
import { commandLine } from '../../process/commandLine.js'
import type { MigrateOptions } from '../options.js'
import { quoted } from '../schema.js'
import { compareRecord } from './descriptorRecord.js'
import { applySteps } from './migrate.js'
import type { MigrationDialect } from './migrationDialect.js'
import { recountSteps } from './migrationPlan.js'

/** How much to compare: as many rows as are counted in milliseconds, or all, and their searched texts. */
type Thoroughness = 'start' | 'all'

/** Of a larger table, a start compares only that it has so many. */
const countedAtStart = 100_000

/** A query that returns a row if the stored count differs from the rows. It is one statement, so that it sees one state. */
const differenceQuery = (database: MigrationDialect, resource: Resource, thoroughness: Thoroughness): string => {
  const table = quoted(resource.table)
  const { total, isTextWrong } = database.storedCounts(resource)
  const stored = `(select coalesce((${total}), 0) as rows)`
  if (thoroughness === 'all')
    return `select 1 where (select rows from ${stored} as _stored) <> (select count(*) from ${table}) or ${isTextWrong}`
  return `select 1 from ${stored} as _stored where case when rows > ${countedAtStart} then ${countedAtStart} else rows end
    <> (select count(*) from (select 1 from ${table} limit ${countedAtStart}) as _counted)`
}

const miscountedResources = async (
  database: MigrationDialect,
  registry: Registry,
  thoroughness: Thoroughness,
): Promise<Resource[]> => {
  const miscounted: Resource[] = []
  const { withSearched } = await compareRecord(database, registry)
  for (const resource of managedResources(registry)) {
    const searched = withSearched(resource)
    if ((await database.execute(differenceQuery(database, searched, thoroughness))).length > 0)
      miscounted.push(searched)
  }
  return miscounted
}

export const reportCountDifferences = async (
  database: MigrationDialect,
  registry: Registry,
  warn: (message: string) => void,
): Promise<void> => {
  for (const { table } of await miscountedResources(database, registry, 'start')) {
    warn(`The stored counts of the table "${table}" differ from its rows: run ${commandLine('migrate', '--recount')}.`)
  }
}

/** Compares the stored counts with all rows, and computes those that differ again if that is wanted; returns their resources. */
export const checkCounts = async (
  database: MigrationDialect,
  registry: Registry,
  options: MigrateOptions,
): Promise<Resource[]> => {
  const miscounted = await miscountedResources(database, registry, 'all')
  if (options.isRecounting && miscounted.length > 0) {
    await database.exclusively(async () => {
      for (const resource of miscounted) await applySteps(database, await recountSteps(database, resource), options)
    })
  }
  return miscounted
}
