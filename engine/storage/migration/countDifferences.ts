/** Compares the stored counts with the rows. They differ after changes that did not fire the triggers. */
import type { Registry, Resource } from '../../descriptor/registry.js'
import type { MigrateOptions } from '../options.js'
import { blockBits, quoted } from '../schema.js'
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
  const stored = `with stored as (${blocks}), total as (select coalesce((${total}), 0) as rows)`
  const isWrongSum = '(select rows from total) <> (select coalesce(sum(rows), 0) from stored)'
  if (thoroughness === 'all') {
    const counted = `counted as (select id >> ${blockBits} as block, count(*) as rows from ${table} group by 1)`
    const sides = ['select block, rows from counted', 'select block, rows from stored where rows <> 0']
    const differing = [sides, sides.toReversed()].map((two) => `select * from (${two.join(' except ')}) as extra`)
    const isWrongTotal = `(select rows from total) <> (select coalesce(sum(rows), 0) from counted)`
    return `${stored}, ${counted} select 1 where ${isWrongSum} or ${isWrongTotal} or ${isTextWrong}
      or exists (${differing.join(' union all ')})`
  }
  const some = `select block from (select block from stored where rows <> 0 order by random() limit ${sampledBlocks}) as chosen`
  const ends = ['min', 'max'].map(
    (end) => `select id >> ${blockBits} from (select ${end}(id) as id from ${table}) as ${end}_id`,
  )
  const inBlock = `id >= sampled.block << ${blockBits} and id <= (sampled.block << ${blockBits}) + ${2 ** blockBits - 1}`
  return `${stored}, sampled as (${[some, ...ends].join(' union ')})
    select 1 where ${isWrongSum} or exists (select 1 from sampled
      where block is not null and (select count(*) from ${table} where ${inBlock})
        <> coalesce((select rows from stored where stored.block = sampled.block), 0))`
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
