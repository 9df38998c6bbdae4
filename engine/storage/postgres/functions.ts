/** The functions the service creates on PostgreSQL: case folding, index keys, and the trigger that records changes. */
import { fold } from '../caseFold.js'
import { keyLifetime, keysTable } from '../keys.js'
import { statesTable } from '../schema.js'

/** A function, and the SQL that creates it. */
interface SqlFunction {
  /** With its argument types, as the server names it. */
  readonly name: string
  readonly sql: string
}

/** How many rows of each table have ids in each block, from which the start of a page is computed in a table with gaps. */
export const blocksTable = 'registry_blocks'
export const blockBits = 11

/** The server's clock in milliseconds, the same for every process. */
export const now = '(extract(epoch from now()) * 1000)::bigint'

/** The longest text that an index stores in full, in bytes; an index entry holds some 2,700 for all columns. */
export const longestKey = 600

/** The index key of a text: the text itself, or the beginning and the hash of one that is too long. */
const keyFunction = `create or replace function registry_key(text) returns text
language sql immutable parallel safe as $$
  select case when octet_length($1) <= ${longestKey} then $1 else left($1, 100) || md5($1) end
$$`

/** Every non-ASCII letter that folds, by the engine's own rule; the server's depends on its locale. */
const foldedLetters = (): string[] => {
  const all = Array.from({ length: 0x1_ff80 }, (_, n) => String.fromCodePoint(0x80 + n)).join('')
  return [...all.matchAll(/\p{Changes_When_Casemapped}/gu)].map(([letter]) => letter).filter((one) => fold(one) !== one)
}

/**
 * The searched text: the non-null fields joined by a space, with case folded. Letters beyond ASCII are replaced one by one:
 * few texts have many of them, and translate() over all 1,400 would take far longer.
 */
const searchedFunction = (): string => {
  const letters = foldedLetters().join('')
  return `create or replace function registry_searched(text[]) returns text
language plpgsql immutable parallel safe as $$
declare
  folded text := lower(array_to_string($1, ' ') collate "C");
  letter text;
begin
  if octet_length(folded) = length(folded) then return folded; end if;
  loop
    letter := substring(folded from '[${letters}]');
    exit when letter is null;
    folded := replace(folded, letter, translate(letter, '${letters}', '${fold(letters)}'));
  end loop;
  return folded;
end $$`
}

/**
 * Records a change to a table: the change of its row count, and a random version. Each change inserts a row, because updating
 * one row would make writers wait for each other's commits, or deadlock. Runs with its owner's rights, so that other writers
 * of the table need none here.
 */
const changedFunction = `create or replace function registry_changed() returns trigger
language plpgsql security definer set search_path from current as $$
declare
  change bigint := 0;
  last bigint;
  sequence text;
begin
  if tg_level = 'ROW' then
    insert into ${blocksTable} values (tg_argv[0], old.id >> ${blockBits}, -1), (tg_argv[0], new.id >> ${blockBits}, 1);
    return null;
  end if;
  if tg_op = 'INSERT' then
    select count(*), max(id) into change, last from added;
    insert into ${blocksTable} select tg_argv[0], id >> ${blockBits}, count(*) from added group by 2;
    -- A row was inserted with its own id: the sequence continues after it.
    sequence := pg_get_serial_sequence(tg_relid::regclass::text, 'id');
    if last > coalesce(pg_sequence_last_value(sequence::regclass), 0) then perform setval(sequence, last); end if;
  elsif tg_op = 'DELETE' then
    select -count(*) into change from removed;
    insert into ${blocksTable} select tg_argv[0], id >> ${blockBits}, -count(*) from removed group by 2;
  elsif tg_op = 'TRUNCATE' then
    select -coalesce(sum(rows), 0) into change from ${statesTable} where name = tg_argv[0];
    insert into ${blocksTable} select name, block, -sum(rows) from ${blocksTable} where name = tg_argv[0] group by name, block;
  end if;
  insert into ${statesTable} values (tg_argv[0], change, (random() * 9223372036854775807)::bigint);
  return null;
end $$`

/**
 * Moves the sequence of a table past its last id, for rows that were inserted with ids of their own while triggers were
 * disabled. Runs with its owner's rights, because setval() needs more than creates do, and so only on its owner's tables: another
 * one's could run code of their own.
 */
const advanceSequenceFunction = `create or replace function registry_advance_sequence(regclass) returns void
language plpgsql security definer set search_path from current as $$
declare
  sequence regclass := pg_get_serial_sequence($1::text, 'id');
  last bigint;
begin
  if (select relowner from pg_class where oid = $1) <> current_user::regrole then
    raise insufficient_privilege using message = format('%s is not a table of %I', $1, current_user);
  end if;
  execute format('select max(id) from %s', $1) into last;
  if last > coalesce(pg_sequence_last_value(sequence), 0) then perform setval(sequence, last); end if;
end $$`

/** Deletes expired idempotency keys. Runs with its owner's rights, so that creates need none to delete. */
const pruneKeysFunction = `create or replace function registry_prune_keys() returns void
language sql security definer set search_path from current as $$
  delete from ${keysTable} where key = any(array(
    select key from ${keysTable} where at <= ${now} - ${keyLifetime} for update skip locked))
$$`

/** Functions that compute columns and indexes: when one changes, these are rebuilt. */
export const valueFunctions = (): SqlFunction[] => [
  { name: 'registry_key(text)', sql: keyFunction },
  { name: 'registry_searched(text[])', sql: searchedFunction() },
]

/** Every function. */
export const sqlFunctions = (): SqlFunction[] => [
  ...valueFunctions(),
  { name: 'registry_changed()', sql: changedFunction },
  { name: 'registry_advance_sequence(regclass)', sql: advanceSequenceFunction },
  { name: 'registry_prune_keys()', sql: pruneKeysFunction },
]
