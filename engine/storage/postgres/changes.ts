/** Reads the change log of a table, for its version, its row count and the start of a page, and compacts it. */
import type { Registry, Resource } from '../../descriptor/registry.js'
import { askForUpkeep } from './changeLog.js'
import type { Connections } from './connections.js'
import { knex, named, type Prepared, prepared, type Query } from './prepared.js'

/** Compact after this many writes, in case there are no reads. */
const writesPerCompaction = 100

/** The version of the table (tag), its row count (total), and whether its log has become long. */
export const selectState = ({ table }: Resource) =>
  knex.raw(`select to_hex(state) as tag, total, is_long from registry_state('${table}')`)

/** The row count, given the table's state; if that is not valid, the rows are counted. */
export const countTotal = ({ table }: Resource) => knex.raw('coalesce(total, (select count(*) from ??))', [table])

export const countAll = (registry: Registry): Prepared => {
  const counts = registry.map((resource) =>
    knex.select(knex.raw(`'${resource.table}'`), countTotal(resource)).fromRaw(`registry_state('${resource.table}')`),
  )
  return prepared(knex.unionAll(counts as never))
}

/**
 * Where the page of all rows after `skipRows` begins, as the columns first and skip, given the table's state. If no id is missing,
 * `skipRows` is a key. Otherwise the page begins in the last block that has at most `skipRows` rows before it; without a valid state at the first row.
 */
export const pageStart = ({ table }: Resource): Query => {
  const skip = named('skipRows', 'bigint')
  return knex.raw(
    `with bounds as materialized (select min(id) as first,
      max(id)::numeric - min(id) + 1 = (select total from _state) and ? < (select total from _state) as is_key from ??),
    places as materialized (select first, ? - (sum(rows) over (order by first) - rows) as skip from registry_block_rows('${table}')
      where (select total is not null from _state) and not (select coalesce(is_key, false) from bounds)),
    place as materialized (select first, skip::bigint from places where skip >= 0 order by first desc limit 1)
    select case when is_key then first + ? else coalesce((select first from place), first) end as first,
      case when is_key then 0 else coalesce((select skip from place), ?) end as skip from bounds`,
    [skip, table, skip, skip, skip],
  )
}

/** Compacts the log of a table. */
export const compactor = (connections: Connections, { table }: Resource) => {
  let written = 0
  let isCompacting = false
  const compact = (): void => {
    if (isCompacting) return
    isCompacting = true
    const done = () => {
      isCompacting = false
    }
    // If it fails, the next read tries again.
    connections.maintain(askForUpkeep(table)).then(done, done)
  }
  return {
    compact,
    onWrite(): void {
      if (++written % writesPerCompaction === 0) compact()
    },
  }
}
