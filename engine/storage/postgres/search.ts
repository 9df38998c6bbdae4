/** Searches on PostgreSQL: the trigram index finds candidates, and a containment test decides. */
import { fold } from '../caseFold.js'
import { parameter, type Sql, sql } from '../sql.js'
import type { SearchIndex } from './trigrams.js'

/** The index finds texts by three consecutive letters or digits; on some servers only ASCII ones. */
const threeLetters = { any: /[\p{L}\p{N}]{3}/u, ascii: /[a-z0-9]{3}/ }
const betweenWords = {
  any: /(?<=[\p{L}\p{N}]{3})[^\p{L}\p{N}]+(?=[\p{L}\p{N}]{3})/u,
  ascii: /(?<=[a-z0-9]{3})[^a-z0-9]+(?=[a-z0-9]{3})/,
}

/** The position of the first part of a folded text that the index can find; -1 if there is none. */
export const indexedFrom = (index: SearchIndex, text: string): number =>
  index.isAvailable ? text.search(index.isAscii ? threeLetters.ascii : threeLetters.any) : -1

/** LIKE and strpos() compare the whole pattern at each position, so longer ones are left to the test for long texts. */
const shortLength = 32

export const isLongSearch = (q: string): boolean => fold(q).length > shortLength

const partAt = (text: string, at: number): string =>
  Array.from(text.slice(at, at + 2 * shortLength))
    .slice(0, shortLength)
    .join('')

const rarePart = (text: string): string => {
  const counts = new Map<string, number>()
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  const [rarest = ['']] = [...counts].sort(([, a], [, b]) => a - b)
  return partAt(text, text.indexOf(rarest[0]))
}

/**
 * The words of a text, without what is between them and without the shortest: the index takes longest for what most rows have,
 * such as `emp-` in a code (16 ms of 17 among 1,000,000 rows).
 */
const rareWords = (index: SearchIndex, text: string): string[] => {
  const words = text.split(index.isAscii ? betweenWords.ascii : betweenWords.any)
  const long = words.filter((word) => word.length > 3)
  return long.length > 1 ? long : words
}

const anywhere = (words: readonly string[]): string =>
  `%${words.map((word) => word.replaceAll(/[\\%_]/g, String.raw`\$&`)).join('%')}%`

/** The most words of a pattern, and their letters: a LIKE compares the whole pattern at each position. */
const [mostWords, mostLetters] = [4, 16]

/** A pattern of the ASCII words of a text, which finds it among texts whose other letters are not folded; undefined if there is none. */
export const asciiPattern = (q: string): string | undefined => {
  const words = fold(q).match(/[a-z0-9]{3,}/g)
  return words ? anywhere(words.slice(0, mostWords).map((word) => word.slice(0, mostLetters))) : undefined
}

export const searchValues = (index: SearchIndex, q: string) => {
  const text = fold(q)
  const indexed = isLongSearch(q) ? partAt(text, Math.max(0, indexedFrom(index, text))) : text
  return { searchText: text, searchRare: rarePart(text), searchPattern: anywhere(rareWords(index, indexed)) }
}

/**
 * The condition that a column contains the searched text. PostgreSQL has no linear test for long ones: strpos() takes 15 s for
 * 15,000 letters in 1 MB of repeated ones, and comparing bytes half a second. Most texts fail the test for a rare part first.
 */
export const contains = (column: string, isLong: boolean): Sql =>
  isLong
    ? sql`case when strpos(${column}, ${parameter('searchRare')}) = 0 then false
        else position(convert_to(${parameter('searchText', 'text')}, 'UTF8') in convert_to(${column}, 'UTF8')) > 0 end`
    : sql`strpos(${column}, ${parameter('searchText')}) > 0`
