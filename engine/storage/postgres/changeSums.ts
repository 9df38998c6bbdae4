/**
 * The sums over the change log: the functions that read the state of a table, and the one that compacts its log.
 *
 * Compaction sums up all changes that it sees in a state, and deletes them. The state says which transactions it includes. A read
 * takes the newest state and adds the changes of the other transactions, by index. So it never steps over deleted rows, which
 * stay in the table and its index for as long as any session's snapshot is older.
 */
import { blockBits, changesTable, maxXid, randomState, statesTable } from './changeLog.js'
import { pinned, type SqlFunction } from './sqlFunction.js'

/** Other plans scan all row versions. They suit a small log, but a connection keeps its plans while the log grows. */
const byIndex = 'set enable_seqscan = off set enable_bitmapscan = off'

/** Whether the row was written by the transaction that it names. One from a dump was not: its transaction ids are of another server. */
const isValid = 'xmin = xid::xid'

/** Reads the newest state into the variable `last`. Transactions that still run have no visible changes. */
const readLast = (columns: string) => `select ${columns}, bound, array(
      select one from unnest(running) as one where pg_visible_in_snapshot(one, pg_current_snapshot())
    ) as ended, ${isValid} as is_valid
    into last from ${statesTable} where name = of_table order by bound desc limit 1`

/** The changes that the state in `last` does not include. OFFSET makes the server look them up range by range. */
const since = (columns: string) => `(
      select since.* from (
        select last.bound, '${maxXid}'::xid8 union all select one, one from unnest(last.ended) as one
      ) as xids (first, last), lateral (
        select ${columns} from ${changesTable} where name = of_table and xid >= xids.first and xid <= xids.last offset 0
      ) as since
    ) as since`

/**
 * The version of a table, its row count, and whether its log has become long. Without a valid state, the version is random and
 * the count is null. The state of a large table takes longer to write, so its log may become longer.
 */
const stateFunction = `create or replace function registry_state(of_table text,
  out state bigint, out total bigint, out is_long boolean)
language plpgsql stable parallel restricted ${byIndex} as $$
#variable_conflict use_column
declare
  last record;
begin
  ${readLast('rows, state')};
  if last.is_valid then
    select last.state # coalesce(bit_xor(state), 0), last.rows + coalesce(sum(rows), 0), count(*) > 100 + (last.rows >> 17)
      into registry_state.state, total, is_long from ${since('rows, state')};
  else
    registry_state.state := ${randomState};
    is_long := true;
  end if;
end $$`

/** How many rows each block of ids has; without a valid state, they are counted. */
const blocksFunction = `create or replace function registry_block_rows(of_table text)
returns table (block bigint, rows bigint) language plpgsql stable parallel restricted ${byIndex} as $$
#variable_conflict use_column
declare
  last record;
begin
  ${readLast('blocks, counts')};
  if last.is_valid then
    return query select block, sum(rows)::bigint from (
        select * from unnest(last.blocks, last.counts) as included (block, rows)
        union all select block, rows from ${since('block, rows')} where block is not null
      ) as all_changes group by block having sum(rows) <> 0;
  else
    perform set_config('enable_seqscan', 'on', true);
    return query execute format('select id::bigint >> ${blockBits}, count(*) from %I group by 1', of_table);
  end if;
end $$`

const compactionLock = '723811691, hashtext(of_table)'

/**
 * Replaces the newest state and the changes since by a new state; version and counts stay the same. The parts of the statement
 * have one snapshot, so the new state includes exactly what they see. Without a valid state, this counts the rows. Runs with its
 * owner's rights, so that a role that only reads and inserts rows can compact; where nothing can be written, it does nothing.
 */
const compactFunction = `create or replace function registry_compact(of_table text) returns void
language plpgsql security definer ${byIndex} as $$
#variable_conflict use_column
declare
  last record;
begin
  if current_setting('transaction_read_only')::boolean then return; end if;
  if not pg_try_advisory_xact_lock(${compactionLock}) then return; end if;
  ${readLast('xid')};
  if last.is_valid is not true then
    last.bound := '0';
  end if;
  with compacted as (
    delete from ${changesTable} where ctid = any(array(select ctid from ${since('ctid')}))
  ), replaced as (
    delete from ${statesTable} where name = of_table and bound >= last.bound
  ), now as (
    select pg_snapshot_xmax(pg_current_snapshot()) as bound
  )
  insert into ${statesTable} (name, bound, running, rows, state, blocks, counts)
    select of_table, bound, array(
        select one from (select pg_snapshot_xip(pg_current_snapshot()) union all select pg_current_xact_id()) as ids (one)
        where one < bound
      ), coalesce(total, counted), state, blocks, counts
    from now, registry_state(of_table), (
      select coalesce(sum(rows), 0) as counted, coalesce(array_agg(block order by block), '{}') as blocks,
        coalesce(array_agg(rows order by block), '{}') as counts from registry_block_rows(of_table)
    ) as by_block;
end $$`

/** Counts the rows of a table again. */
const recountFunction = `create or replace function registry_recount(of_table text) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(${compactionLock});
  delete from ${statesTable} where name = of_table;
  perform registry_compact(of_table);
end $$`

export const sumFunctions: readonly SqlFunction[] = [
  pinned('registry_state(text)', stateFunction),
  pinned('registry_block_rows(text)', blocksFunction),
  pinned('registry_compact(text)', compactFunction),
  pinned('registry_recount(text)', recountFunction),
]

/** Finds a table's valid state, if it has one. */
export const validState = `select 1 from (
    select ${isValid} as is_valid from ${statesTable} where name = $1 order by bound desc limit 1
  ) as newest where is_valid`
