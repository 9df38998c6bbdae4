/** Converts the two tables of the previous version to the change log, while processes of that version keep reading and creating. */
import { changedFunction, changesTable, statesTable } from './changeLog.js'
import { sumFunctions } from './changeSums.js'

/** Finds the tables of the previous version. */
export const oldTables = `select 1 from pg_class where oid = to_regclass('registry_tables') and relkind = 'r'`
/** Finds what they have about a table, if anything. */
export const oldState = 'select 1 from registry_tables where name = $1 limit 1'

/** The sums over the old tables, as states that include no transaction of the new log. */
const convert = `with by_block as (
    select name, block, sum(rows)::bigint as rows from registry_blocks group by name, block having sum(rows) <> 0
  )
  insert into ${statesTable} (name, bound, running, rows, state, blocks, counts)
    select name, '3', '{}', sum(rows), bit_xor(state),
      array(select block from by_block where by_block.name = old.name order by block),
      array(select rows from by_block where by_block.name = old.name order by block)
    from registry_tables as old group by name`

/**
 * One transaction. Creates that wait for it still run the old trigger function. It finds views, which add what it inserts to the new
 * log. The tables are locked in the order in which that function uses them.
 */
export const upgradeChangeLog: readonly string[] = [
  'lock table registry_blocks, registry_tables in access exclusive mode',
  ...[changedFunction, ...sumFunctions].map(({ sql }) => sql),
  convert,
  'drop table registry_tables, registry_blocks',
  `create view registry_tables as select name, total as rows, state.state
    from (select distinct name from ${statesTable}) as counted, registry_state(name) as state`,
  `create view registry_blocks as select name, block, rows
    from (select distinct name from ${statesTable}) as counted, registry_block_rows(name)`,
  `create rule registry_insert as on insert to registry_tables do instead
    insert into ${changesTable} (name, rows, state) values (new.name, 0, new.state)`,
  `create rule registry_insert as on insert to registry_blocks do instead
    insert into ${changesTable} (name, block, rows, state) values (new.name, new.block, new.rows, 0)`,
]
