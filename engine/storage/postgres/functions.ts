/** The functions that PostgreSQL keeps rows by: how a value is written, how case is folded, and what a change leaves behind. */
import { fold } from '../caseFold.js'

/** A function, and the SQL that makes it. */
export interface KeptFunction {
  /** With the types of what it takes, as the server names it. */
  readonly name: string
  readonly sql: string
}

/** Counts and states of all tables. */
export const statesTable = 'registry_tables'

/** How many rows of each table lie in each block of ids: adding them up tells where a page begins in a table with gaps. */
export const blocksTable = 'registry_blocks'
export const blockBits = 11

/** A number as JSON, in the shortest form that reads back as the same number, whatever the session's own setting is. */
const numberFunction = `create or replace function registry_number(x double precision) returns text
language plpgsql immutable strict parallel safe set extra_float_digits = 1 as $$
begin
  -- JSON has neither of these, and a zero needs no sign.
  if x = 'NaN' or abs(x) = 'Infinity' then return null; end if;
  return case x when 0 then '0' else x::text end;
end $$`

/** A text as JSON; the server's own function is right, but not declared to give the same for ever. */
const quotedFunction = `create or replace function registry_quoted(text) returns text
language plpgsql immutable strict parallel safe as $$ begin return to_json($1); end $$`

/** The longest text that an index holds as it is, in bytes: the server takes no more than some 2,700 for all columns. */
export const longestKey = 600

/** What stands in an index for a text: the text, or where that is too long for one, its beginning and its hash. */
const keyFunction = `create or replace function registry_key(text) returns text
language sql immutable parallel safe as $$
  select case when octet_length($1) <= ${longestKey} then $1 else left($1, 100) || md5($1) end
$$`

/** Every letter beyond ASCII whose case is folded, by the engine's own rule: the server's depends on its locale. */
const foldedLetters = (): string[] => {
  const all = Array.from({ length: 0x1_ff80 }, (_, n) => String.fromCodePoint(0x80 + n)).join('')
  return [...all.matchAll(/\p{Changes_When_Casemapped}/gu)].map(([letter]) => letter).filter((one) => fold(one) !== one)
}

/**
 * The text that is searched: the given ones, joined by a space, those without a value left out, their case folded. Letters
 * beyond ASCII are looked for, and replaced one by one: few texts have many, and to hold each letter of a text against all
 * that fold would take far longer.
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
 * Takes note of a change to a table: how many rows more, and a random state. Each change adds a row of its own, and count and
 * state are what all of them come to: one row to be updated would make writers wait for one another's commit, or for ever.
 * It runs with the rights of its owner, for whoever may write the table need not know of this one.
 */
const changedFunction = `create or replace function registry_changed() returns trigger
language plpgsql security definer set search_path from current as $$
declare
  change bigint := 0;
  last bigint;
begin
  if tg_level = 'ROW' then
    insert into ${blocksTable} values (tg_argv[0], old.id >> ${blockBits}, -1), (tg_argv[0], new.id >> ${blockBits}, 1);
    return null;
  end if;
  if tg_op = 'INSERT' then
    select count(*), max(id) into change, last from added;
    insert into ${blocksTable} select tg_argv[0], id >> ${blockBits}, count(*) from added group by 2;
    -- A row that came with an id of its own: the next one without follows it.
    if last > coalesce(pg_sequence_last_value(tg_argv[1]::regclass), 0) then perform setval(tg_argv[1], last); end if;
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

/** Those by which columns and indexes are computed: where one of them changes, they are computed anew. */
export const valueFunctions = (): KeptFunction[] => [
  { name: 'registry_number(double precision)', sql: numberFunction },
  { name: 'registry_quoted(text)', sql: quotedFunction },
  { name: 'registry_key(text)', sql: keyFunction },
  { name: 'registry_searched(text[])', sql: searchedFunction() },
]

/** Those that triggers run. */
export const triggerFunctions: readonly KeptFunction[] = [{ name: 'registry_changed()', sql: changedFunction }]
