/** The functions that the service creates on PostgreSQL: case folding, index keys, the change log, and helpers of creates. */
import { fold } from '../caseFold.js'
import { keyQueries, keysTable } from '../keys.js'
import { changeLogFunctions } from './changeLog.js'
import { type SqlFunction, upkeepFunction } from './sqlFunction.js'

/** The longest text that an index stores in full, in bytes; an index entry holds some 2,700 for all columns. */
export const maxKeyBytes = 600

/** The server's clock in milliseconds, the same for every process. */
export const clock = '(extract(epoch from now()) * 1000)::bigint'

/** The index key of a text: the text itself, or the beginning and the hash of one that is too long. */
const keyFunction = `create or replace function registry_key(text) returns text
language sql immutable parallel safe as $$
  select case when octet_length($1) <= ${maxKeyBytes} then $1 else left($1, 100) || md5($1) end
$$`

const knownLetters: string[] = []

/** Every non-ASCII letter that the engine folds; the server's own folding depends on its locale. */
const foldedLetters = (): readonly string[] => {
  if (knownLetters.length > 0) return knownLetters
  const letters = Array.from({ length: 0x1_ff80 }, (_, n) => String.fromCodePoint(0x80 + n)).join('')
  for (const [letter] of letters.matchAll(/\p{Changes_When_Casemapped}/gu))
    if (fold(letter) !== letter) knownLetters.push(letter)
  return knownLetters
}

/** The letters beyond ASCII that fold to a letter of a folded text, and what they fold to, for translate(). */
export const lettersFoldedTo = (text: string): { foldedFrom: string; foldedTo: string } => {
  const foldedFrom = foldedLetters().filter((letter) => text.includes(fold(letter)))
  return { foldedFrom: foldedFrom.join(''), foldedTo: foldedFrom.map(fold).join('') }
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

/** Deletes the keys that have expired, except those that another process deletes now. */
export const deleteExpired = ({ expired }: ReturnType<typeof keyQueries>): string =>
  `delete ${expired} and key = any(array(select "key" ${expired} for update skip locked))`

/** Before a key is stored, deletes those that have expired, except those that another process deletes now: it may be among them. */
const expireFunction = (): SqlFunction => {
  const body = `begin ${deleteExpired(keyQueries(clock))}; return null; end`
  return upkeepFunction('registry_expire_keys', keysTable, 'for each statement', body)
}

/** Functions that compute columns and indexes: when one changes, these are rebuilt. */
export const valueFunctions = (): SqlFunction[] => [
  { name: 'registry_key(text)', sql: keyFunction },
  { name: 'registry_searched(text[])', sql: searchedFunction() },
]

export const sqlFunctions = (): SqlFunction[] => [...valueFunctions(), ...changeLogFunctions, expireFunction()]
