/** Compares the stored counts with the rows. They differ after changes that did not fire the triggers. */
import { managedResources, type Registry, type Resource } from '../../descriptor/registry.js'
import type { MigrateOptions } from '../options.js'
import { quoted } from '../schema.js'
import { compareRecord } from './descriptorRecord.js'
import { applySteps } from './migrate.js'
import type { MigrationDialect } from './migrationDialect.js'
import { recountSteps } from './migrationPlan.js'

/** How much to compare: some blocks, which takes milliseconds at any size, or every row. */
type Thoroughness = 'sample' | 'all'

/** How many blocks are compared at random, beside the first and the last. */
const sampledBlocks = 8

/** A query that returns a row if the stored counts differ from the rows. It is one statement, so that it sees one state. */
const differenceQuery = (database: MigrationDialect, resource: Resource, thoroughness: Thoroughness): string => {
  const table = quoted(resource.table)
  const { total, blocks, isTextWrong } = database.storedCounts(resource)
  const ranges = 'select first, lead(first) over (order by first) as next, rows from _blocks'
  const some = `select * from (select * from _ranges order by random() limit ${sampledBlocks}) as sample`
  const end = (order: string) =>
    `select * from (select * from _ranges order by first ${order} limit 1) as ${order}_block`
  const compared = thoroughness === 'all' ? 'select * from _ranges' : [some, end('asc'), end('desc')].join(' union ')
  const inBlock = 'id >= _compared.first and (_compared.next is null or id < _compared.next)'
  const isWrong = [
    '(select rows from _total) <> (select coalesce(sum(rows), 0) from _blocks)',
    `exists (select 1 from _compared where (select count(*) from ${table} where ${inBlock}) <> _compared.rows)`,
    `exists (select 1 from ${table} where id < (select min(first) from _blocks))`,
    ...(thoroughness === 'all' ? [isTextWrong] : []),
  ]
  return `with _total as (select coalesce((${total}), 0) as rows), _blocks as (${blocks}), _ranges as (${ranges}),
    _compared as (${compared}) select 1 where ${isWrong.join(' or ')}`
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
