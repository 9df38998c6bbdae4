/**
 * The change log on PostgreSQL: its tables, the trigger that records changes, and the functions that sum them up. Every change is
 * a row, because writers that update one row would wait for each other.
 *
 * Compaction sums up all changes that it sees in a state, and deletes them. The state says which transactions it includes. A read
 * takes the newest state and adds the changes of the other transactions, by index. So it never steps over deleted rows, which
 * stay in the table and its index for as long as any session's snapshot is older.
 */
import { pinned, type SqlFunction, upkeepFunction } from './sqlFunction.js'

/** A row for each change: its transaction, and by how much the number of rows has changed. */
export const changesTable = 'registry_changes'
/** The sums of older changes: a table's row count and its version. */
export const logStatesTable = 'registry_states'

/** The tables, by name. If they are published for logical replication, only rows with an identity can be deleted. */
export const changeLogTables: Readonly<Record<string, string[]>> = {
  [changesTable]: [
    `create table ${changesTable} (name text not null, xid xid8 not null default pg_current_xact_id(),
      rows bigint not null, state bigint not null)`,
    `create index ${changesTable}_xid on ${changesTable} (name, xid)`,
    `alter table ${changesTable} replica identity full`,
  ],
  // A state includes the transactions before its bound, except those that were running. The newest has the highest bound.
  [logStatesTable]: [
    `create table ${logStatesTable} (name text not null, xid xid8 not null default pg_current_xact_id(),
      bound xid8 not null, running xid8[] not null,
      rows bigint not null, state bigint not null)`,
    `create index ${logStatesTable}_bound on ${logStatesTable} (name, bound desc)`,
    `alter table ${logStatesTable} replica identity full`,
  ],
}

const maxXid = '18446744073709551615'
/** A version is random, so that a restored backup never gives an old one to new rows. */
const randomState = '(random() * 9223372036854775807)::bigint'

/**
 * Other programs' ids from here on do not move the sequence: the ids after 2^53 cannot be represented exactly as numbers in
 * JavaScript, and the distance leaves room for as many creates as there will ever be.
 */
const reservedIds = 2 ** 52

/** Moves the sequence past the last id, for rows that were inserted with explicit ids while triggers were disabled. */
const advanceSql = `create or replace function registry_advance_sequence(regclass) returns void
language plpgsql as $$
declare
  sequence regclass := pg_get_serial_sequence($1::text, 'id');
  last bigint;
begin
  -- Ids that are no integers have none.
  if sequence is null then return; end if;
  execute format('select max(id) from %s where id < ${reservedIds}', $1) into last;
  if last > coalesce(pg_sequence_last_value(sequence), 0) then perform setval(sequence, last); end if;
end $$`

/**
 * Records a change to the table that fires the trigger. TRUNCATE removes even rows that its snapshot does not see, so it adds a
 * state that is not valid: the next compaction counts the rows. Runs with its owner's rights, so that other writers of the table
 * need none here, and never for a temporary table or one of another schema, which may have the name of ours.
 */
const changedSql = `create or replace function registry_changed() returns trigger
language plpgsql security definer as $$
declare
  last bigint;
  sequence text;
  updated text := 'registry.updated_' || tg_relid;
begin
  if tg_table_schema <> current_schema() then
    raise insufficient_privilege using message = format('%s is not a table of the schema %I', tg_relid::regclass, current_schema());
  end if;
  if tg_op = 'INSERT' then
    insert into ${changesTable} (name, rows, state)
      select tg_table_name, count(*), ${randomState} from added having count(*) > 0;
    -- A row was inserted with its own id: the sequence continues after it.
    sequence := pg_get_serial_sequence(tg_relid::regclass::text, 'id');
    if sequence is not null then
      select max(id) into last from added where id < ${reservedIds};
      if last > coalesce(pg_sequence_last_value(sequence::regclass), 0) then perform setval(sequence, last); end if;
    end if;
  elsif tg_op = 'DELETE' then
    insert into ${changesTable} (name, rows, state)
      select tg_table_name, -count(*), ${randomState} from removed having count(*) > 0;
  elsif tg_op = 'UPDATE' then
    -- Once in a transaction: a foreign key that sets null updates its table for each deleted row, also where it finds none.
    if current_setting(updated, true) is distinct from pg_current_xact_id()::text then
      insert into ${changesTable} (name, rows, state) values (tg_table_name, 0, ${randomState});
      perform set_config(updated, pg_current_xact_id()::text, true);
    end if;
  else
    insert into ${logStatesTable} values (tg_table_name, '0', '${maxXid}', '{}', 0, 0);
  end if;
  return null;
end $$`

/** Other plans scan all row versions. They suit a small log, but a connection keeps its plans while the log grows. */
const byIndex = 'set enable_seqscan = off set enable_bitmapscan = off'

/** Whether the row was written by the transaction that it names. One from a dump was not: its transaction ids are of another server. */
const isValid = 'xmin = xid::xid'

/** Reads the newest state into the variable `last`. Transactions that still run have no visible changes. */
const readLast = (columns: string) => `select ${columns}, bound, array(
      select one from unnest(running) as one where pg_visible_in_snapshot(one, pg_current_snapshot())
    ) as ended, ${isValid} as is_valid
    into last from ${logStatesTable} where name = of_table order by bound desc limit 1`

/** The changes that the state in `last` does not include. OFFSET makes the server look them up range by range. */
const since = (columns: string) => `(
      select since.* from (
        select last.bound, '${maxXid}'::xid8 union all select one, one from unnest(last.ended) as one
      ) as xids (first, last), lateral (
        select ${columns} from ${changesTable} where name = of_table and xid >= xids.first and xid <= xids.last offset 0
      ) as since
    ) as since`

/** A longer log is not summed up: counting the rows takes less time. */
const maxChanges = 20_000

/**
 * The version of a table, its row count, and whether its log has become long and this role can have it compacted. Without a valid
 * state, or with too long a log, the version is random and the count is null. The state of a large table takes longer to write, so
 * its log may become longer.
 */
const stateFunction = `create or replace function registry_state(of_table text,
  out state bigint, out total bigint, out is_long boolean)
language plpgsql stable parallel restricted ${byIndex} as $$
#variable_conflict use_column
declare
  last record;
  changes bigint;
begin
  ${readLast('rows, state')};
  if last.is_valid then
    select last.state # coalesce(bit_xor(state), 0), last.rows + coalesce(sum(rows), 0), count(*) > 100 + (last.rows >> 17), count(*)
      into registry_state.state, total, is_long, changes from (select * from ${since('rows, state')} limit ${maxChanges + 1}) as since;
  end if;
  if last.is_valid is not true or changes > ${maxChanges} then
    total := null;
    registry_state.state := ${randomState};
    is_long := true;
  end if;
  is_long := is_long and has_any_column_privilege('${logStatesTable}', 'insert') and not current_setting('transaction_read_only')::boolean;
end $$`

/** Counts the rows that the statement around it sees. */
const countFunction = `create or replace function registry_count(of_table text) returns bigint
language plpgsql stable set enable_seqscan = on as $$
declare
  rows bigint;
begin
  execute format('select count(*) from %I', of_table) into rows;
  return rows;
end $$`

const compactionLock = '723811691, hashtext(of_table)'

/**
 * Replaces the newest state and the changes since by a new state; version and counts stay the same. The parts of the statement
 * have one snapshot, so the new state includes exactly what they see. Without a valid state, this counts the rows.
 */
const compactFunction = `create or replace function registry_compact(of_table text) returns void
language plpgsql ${byIndex} as $$
#variable_conflict use_column
declare
  last record;
begin
  if not pg_try_advisory_xact_lock(${compactionLock}) then return; end if;
  ${readLast('rows')};
  if last.is_valid is not true then last.bound := '0'; end if;
  with compacted as (
    delete from ${changesTable} where ctid = any(array(select ctid from ${since('ctid')}))
  ), replaced as (
    delete from ${logStatesTable} where name = of_table and bound >= last.bound
  ), now as (
    select pg_snapshot_xmax(pg_current_snapshot()) as bound
  )
  insert into ${logStatesTable} (name, bound, running, rows, state)
    select of_table, bound, array(
        select one from (select pg_snapshot_xip(pg_current_snapshot()) union all select pg_current_xact_id()) as ids (one)
        where one < bound
      ), coalesce(total, registry_count(of_table)), state
    from now, registry_state(of_table);
end $$`

/**
 * Compacts the log of a table and moves its sequence past the last id, when the name of the table alone is inserted as a state. So
 * a role that only reads and inserts can have it done. It does nothing for a table without our trigger.
 */
const upkeep = upkeepFunction(
  'registry_upkeep',
  logStatesTable,
  'for each row when (new.bound is null)',
  `declare
  of_table regclass := to_regclass(format('%I.%I', current_schema(), new.name));
begin
  if exists (select 1 from pg_trigger where tgrelid = of_table and tgfoid = 'registry_changed()'::regprocedure) then
    perform registry_advance_sequence(of_table);
    perform registry_compact(new.name);
  end if;
  return null;
end`,
)

export const askForUpkeep = (table: string): string => `insert into ${logStatesTable} (name) values ('${table}')`

/** Earlier versions counted the rows of each block of ids. */
const withoutBlocks = `drop function if exists registry_block_rows(text);
alter table ${changesTable} drop column if exists block;
alter table ${logStatesTable} drop column if exists bits, drop column if exists blocks, drop column if exists counts;
`

const recountFunction = `create or replace function registry_recount(of_table text) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(${compactionLock});
  delete from ${logStatesTable} where name = of_table;
  perform registry_compact(of_table);
end $$`

export const changeLogFunctions: readonly SqlFunction[] = [
  pinned('registry_changed()', changedSql, 'owner'),
  pinned('registry_state(text)', stateFunction),
  pinned('registry_count(text)', countFunction),
  pinned('registry_compact(text)', withoutBlocks + compactFunction, 'owner'),
  pinned('registry_recount(text)', recountFunction, 'owner'),
  upkeep,
  pinned('registry_advance_sequence(regclass)', advanceSql, 'owner'),
]
