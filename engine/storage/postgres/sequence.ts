/** The sequence that assigns ids, which continues after the ids of rows that other programs insert. */
import { pinned } from './sqlFunction.js'

/**
 * Other programs' ids from here on do not move the sequence: the ids after 2^53 cannot be represented exactly as numbers in
 * JavaScript, and the distance leaves room for as many creates as there will ever be.
 */
export const reservedIds = 2 ** 52

/** Moves the sequence past the last id, for rows that were inserted with explicit ids while triggers were disabled. */
const advanceSql = `create or replace function registry_advance_sequence(regclass) returns void
language plpgsql as $$
declare
  sequence regclass := pg_get_serial_sequence($1::text, 'id');
  last bigint;
begin
  execute format('select max(id) from %s where id < ${reservedIds}', $1) into last;
  if last > coalesce(pg_sequence_last_value(sequence), 0) then perform setval(sequence, last); end if;
end $$`

export const advanceFunction = pinned('registry_advance_sequence(regclass)', advanceSql, 'owner')
