/**
 * The change log on PostgreSQL: its tables, and the trigger that records changes. Every change is a row, because writers that
 * update one row would wait for each other. The functions in changeSums.ts read the log and compact it.
 */
import { reservedIds } from './sequence.js'
import { pinned } from './sqlFunction.js'

/** A row for each change: its transaction, a block of ids, and by how much the number of rows in the block has changed. */
export const changesTable = 'registry_changes'
/** The sums of older changes: a table's row count, its version, and the number of rows in each block of ids. */
export const statesTable = 'registry_states'

/** The tables, by name. If they are published for logical replication, only rows with an identity can be deleted. */
export const changeLogTables: Readonly<Record<string, string[]>> = {
  [changesTable]: [
    `create table ${changesTable} (name text not null, xid xid8 not null default pg_current_xact_id(),
      block bigint, rows bigint not null, state bigint not null)`,
    `create index ${changesTable}_xid on ${changesTable} (name, xid)`,
    `alter table ${changesTable} replica identity full`,
  ],
  // A state includes the transactions before its bound, except those that were running. The newest has the highest bound.
  [statesTable]: [
    `create table ${statesTable} (name text not null, xid xid8 not null default pg_current_xact_id(),
      bound xid8 not null, running xid8[] not null,
      rows bigint not null, state bigint not null, blocks bigint[] not null, counts bigint[] not null)`,
    `create index ${statesTable}_bound on ${statesTable} (name, bound desc)`,
    `alter table ${statesTable} replica identity full`,
  ],
}

/** Rows are counted by blocks of 2^11 ids. */
export const blockBits = 11

export const maxXid = '18446744073709551615'
/** A version is random, so that a restored backup never gives an old one to new rows. */
export const randomState = '(random() * 9223372036854775807)::bigint'

/**
 * Records a change to a table. TRUNCATE removes even rows that its snapshot does not see, so it adds a state that is not valid:
 * the next compaction counts the rows. Runs with its owner's rights, so that other writers of the table need none here.
 */
const changedSql = `create or replace function registry_changed() returns trigger
language plpgsql security definer as $$
declare
  last bigint;
  sequence text;
begin
  if tg_level = 'ROW' then
    insert into ${changesTable} (name, block, rows, state)
      values (tg_argv[0], old.id >> ${blockBits}, -1, 0), (tg_argv[0], new.id >> ${blockBits}, 1, 0);
  elsif tg_op = 'INSERT' then
    insert into ${changesTable} (name, block, rows, state)
      select tg_argv[0], id >> ${blockBits}, count(*), ${randomState} from added group by 2;
    -- A row was inserted with its own id: the sequence continues after it.
    select max(id) into last from added where id < ${reservedIds};
    sequence := pg_get_serial_sequence(tg_relid::regclass::text, 'id');
    if last > coalesce(pg_sequence_last_value(sequence::regclass), 0) then perform setval(sequence, last); end if;
  elsif tg_op = 'DELETE' then
    insert into ${changesTable} (name, block, rows, state)
      select tg_argv[0], id >> ${blockBits}, -count(*), ${randomState} from removed group by 2;
  elsif tg_op = 'UPDATE' then
    insert into ${changesTable} (name, rows, state) values (tg_argv[0], 0, ${randomState});
  else
    insert into ${statesTable} values (tg_argv[0], '0', '${maxXid}', '{}', 0, 0, '{}', '{}');
  end if;
  return null;
end $$`

export const changedFunction = pinned('registry_changed()', changedSql)
