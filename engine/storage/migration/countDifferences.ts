/** Compares the stored counts with the rows. They differ after changes that did not fire the triggers. */
import type { Registry, Resource } from '../../descriptor/registry.js'
import type { MigrateOptions } from '../options.js'
import { quoted } from '../schema.js'
import { recountSteps } from './derivedSteps.js'
import { applySteps } from './migrate.js'
import type { MigrationDialect } from './migrationDialect.js'

/** How much to compare: some blocks, which takes milliseconds at any size, or every row. */
type Thoroughness = 'sample' | 'all'

/** How many blocks are compared at random, beside the first and the last. */
const sampledBlocks = 8

/** A query that returns a row if the stored counts differ from the rows. It is one statement, so that it sees one state. */
const differenceQuery = (database: MigrationDialect, resource: Resource, thoroughness: Thoroughness): string => {
  const table = quoted(resource.table)
  const { total, blocks, isTextWrong } = database.storedCounts(resource)
  // No table of a resource can begin with registry_, so none is hidden by these.
  const ranges = 'select first, lead(first) over (order by first) as next, rows from registry_blocks'
  const some = `select * from (select * from registry_ranges order by random() limit ${sampledBlocks}) as sample`
  const end = (order: string) =>
    `select * from (select * from registry_ranges order by first ${order} limit 1) as ${order}_block`
  const compared =
    thoroughness === 'all' ? 'select * from registry_ranges' : [some, end('asc'), end('desc')].join(' union ')
  const inBlock = 'id >= compared.first and (compared.next is null or id < compared.next)'
  const isWrong = [
    '(select rows from registry_total) <> (select coalesce(sum(rows), 0) from registry_blocks)',
    `exists (select 1 from registry_compared as compared where (select count(*) from ${table} as counted where ${inBlock}) <> rows)`,
    `exists (select 1 from ${table} where id < (select min(first) from registry_blocks))`,
    ...(thoroughness === 'all' ? [isTextWrong] : []),
  ]
  return `with registry_total as (select coalesce((${total}), 0) as rows), registry_blocks as (${blocks}), registry_ranges as (${ranges}),
    registry_compared as (${compared}) select 1 where ${isWrong.join(' or ')}`
}

/** The resources whose stored counts differ from their rows. */
const miscountedResources = async (
  database: MigrationDialect,
  registry: Registry,
  thoroughness: Thoroughness,
): Promise<Resource[]> => {
  const miscounted: Resource[] = []
  for (const resource of registry) {
    if ((await database.execute(differenceQuery(database, resource, thoroughness))).length > 0)
      miscounted.push(resource)
  }
  return miscounted
}

/** Warns of tables whose stored counts differ from a sample of their rows. */
export const reportCountDifferences = async (
  database: MigrationDialect,
  registry: Registry,
  warn: (message: string) => void,
): Promise<void> => {
  for (const { table } of await miscountedResources(database, registry, 'sample')) {
    warn(`The stored counts of the table "${table}" differ from its rows: run npm run migrate -- --recount.`)
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
