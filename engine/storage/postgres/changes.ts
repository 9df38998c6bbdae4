/**
 * The change log of a table: every change is a row, because writers that update one row would wait for each other. Sums over
 * the log are the table's version, its row count, and the number of rows in each block of ids.
 */
import type { Resource } from '../../descriptor/registry.js'
import { statesTable } from '../schema.js'
import type { Connections } from './connections.js'
import { blockBits, blocksTable } from './functions.js'
import { knex, named, prepared } from './prepared.js'

/** Compact the change log beyond this size: every read goes through all of it. */
const manyChanges = 50
/** And after this many creates, in case nobody reads meanwhile. */
const manyCreates = 1_000

/** The version of the table (tag), its row count (total), and the size of its log (changes). */
export const stateOf = ({ table }: Resource) =>
  knex.raw(`select to_hex(bit_xor(state)) as tag, coalesce(sum(rows), 0) as total, count(*) as changes
    from ${statesTable} where name = '${table}'`)

/**
 * Where the page of all rows after `skipRows` begins, as the columns first and skip, given the table's state. If no id is missing,
 * `skipRows` is a key. Otherwise the page begins in the last block with at most so many rows before it.
 */
export const pageStart = ({ table }: Resource) => {
  const skip = named('skipRows', 'bigint')
  return knex.raw(
    `with bounds as materialized (select min(id) as first,
      max(id)::numeric - min(id) + 1 = (select total from _state) and ? < (select total from _state) as is_key from ??),
    blocks as materialized (select block, sum(rows) as rows from ${blocksTable} where name = '${table}' group by block),
    places as materialized (select block << ${blockBits} as first, ? - (sum(rows) over (order by block) - rows) as skip from blocks),
    place as materialized (select first, skip::bigint from places where skip >= 0 order by first desc limit 1)
    select case when is_key then first + ? else (select first from place) end as first,
      case when is_key then 0 else (select skip from place) end as skip from bounds`,
    [skip, table, skip, skip],
  )
}

/** Merges the rows of the log; version, row count and blocks stay the same. */
const compactionsOf = ({ table }: Resource) => {
  const own = `name = '${table}'`
  /** Deletes rows that no other process has locked; their sum replaces them. */
  const deleted = (from: string, where: string) =>
    `deleted as (delete from ${from}
      where ctid = any(array(select ctid from ${from} where ${where} for update skip locked)) returning *)`
  return [
    `with ${deleted(statesTable, own)}
      insert into ${statesTable} select '${table}', sum(rows), bit_xor(state) from deleted having count(*) > 0`,
    `with many as (select block from ${blocksTable} where ${own} group by block having count(*) > 1),
      ${deleted(blocksTable, `${own} and block in (select block from many)`)}
      insert into ${blocksTable} select '${table}', block, sum(rows) from deleted group by block having sum(rows) <> 0`,
  ].map((sql) => prepared(knex.raw(sql)))
}

/** Compacts the log now and then. */
export const compactor = (connections: Connections, resource: Resource) => {
  const compactions = compactionsOf(resource)
  let created = 0
  let isCompacting = false
  const compact = async () => {
    if (isCompacting) return
    isCompacting = true
    // If it fails, the next read tries again.
    await Promise.allSettled(compactions.map((statement) => connections.write(statement)))
    isCompacting = false
  }
  return {
    /** A read has seen this many rows of the log. */
    onRead(changes: number): void {
      if (changes > manyChanges) void compact()
    },
    onCreate(): void {
      if (++created % manyCreates === 0) void compact()
    },
  }
}
