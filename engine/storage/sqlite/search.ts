/** Searches on SQLite: a few trigrams of the text find candidates in the index, and a containment test decides. */
import { fold, shortPattern } from '../caseFold.js'
import { parameter, type Sql, sql } from '../sql.js'

/**
 * Letters that SQLite's trigram index does not fold because its Unicode tables are older (such as Georgian, Cherokee and Osage), and
 * characters that SQLite does not distinguish.
 */
const unindexed =
  /[\u019b\u025c-\u029e\u037f\u03f3\u0528-\u052f\u10d0-\u10ff\u13a0-\u13fd\u1c80-\u1cbf\u1d8e\u2c2f\u2c5f\ua698-\ua69b\ua794-\ua7ff\uab53\uab70-\uabbf\ufffd-\uffff\u{104b0}-\u{104fb}\u{10570}-\u{105bc}\u{10c80}-\u{10cf2}\u{10d50}-\u{10d85}\u{118a0}-\u{118df}\u{16e40}-\u{16ed3}\u{1e900}-\u{1e943}]/u

/** The most trigrams of a text to choose from. */
const maxTrigrams = 16

/** How many trigrams to query: few rows have all of them but not the text, and each additional one takes time. */
const enoughTrigrams = 4

/** The trigrams of a folded text that the index knows. */
function* indexedTrigrams(folded: string): Generator<string> {
  const letters = Array.from(folded)
  for (let n = 2; n < letters.length; n++) {
    const trigram = letters.slice(n - 2, n + 1).join('')
    if (!unindexed.test(trigram)) yield trigram
  }
}

export const isIndexed = (folded: string): boolean => !indexedTrigrams(folded).next().done

/** Distinct trigrams from all over a folded text. */
export const pickTrigrams = (folded: string): string[] => {
  const usable = [...new Set(indexedTrigrams(folded))]
  if (usable.length <= maxTrigrams) return usable
  return Array.from({ length: maxTrigrams }, (_, n) => usable[Math.floor((n * usable.length) / maxTrigrams)] as string)
}

const quote = (trigram: string): string => `"${trigram.replaceAll('"', '""')}"`

/** The SQL that estimates how common a trigram is: the id of its sixteenth match. The greater it is, the rarer the trigram. */
export const probeSql = (index: string): string =>
  `select rowid from ${index} where ${index} match ? order by rowid limit 1 offset 15`

/**
 * The query of the index for rows that have the rarest of some trigrams. Without that choice, an e-mail address takes 60 ms at a
 * million rows that share its domain; with it 1 ms.
 */
export const matchExpression = (trigrams: readonly string[], probe: (match: string) => number | undefined): string => {
  const matches = trigrams.map(quote)
  if (matches.length <= enoughTrigrams) return matches.join(' AND ')
  const probed = matches.map((match) => ({ match, id: probe(match) ?? Number.MAX_VALUE }))
  const rarest = probed.sort((a, b) => b.id - a.id).slice(0, enoughTrigrams)
  return rarest.map(({ match }) => match).join(' AND ')
}

/** A table with a row of more text than this, in bytes, is read by a worker. */
export const longText = 16_384

/** Longer texts are tested in JavaScript, where a deadline can end the search between any two rows. */
const nativeTestLength = 1_024

/**
 * The SQL that tests whether a column contains the searched text. SQLite's own functions decide for most rows; the others take
 * four times as long. Parameters: whether the pattern is long, the folded pattern, and whether lower() folds all of its letters.
 */
export const containsSql = (text: string): Sql => sql`case
  when ${parameter('isLong')} or octet_length(${text}) > ${String(nativeTestLength)} then registry_contains(${text})
  when instr(lower(${text}), ${parameter('folded')}) then 1
  when ${parameter('isAscii')} or octet_length(${text}) = length(${text}) then 0
  else registry_contains(${text}) end`

/** ASCII letters except k and s, which are also the lower case of K (Kelvin) and ſ, and letters without case. */
const asciiCase = /^[\0-jl-rt-\x7f\P{Changes_When_Casemapped}]*$/u

/** The parameters of the test. */
export const searchParameters = (q: string) => {
  const folded = fold(q)
  // instr() compares the whole pattern at each position, so a long one is left to the linear test.
  const isLong = folded.length > shortPattern
  return { isLong: Number(isLong), folded, isAscii: Number(asciiCase.test(folded)) }
}

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
}
