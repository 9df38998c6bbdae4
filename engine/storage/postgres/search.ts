/** Searches on PostgreSQL: the trigram index finds candidates, and a containment test decides. */
import { fold } from '../caseFold.js'
import type { SearchIndex } from './setUp.js'

/** How the rows of a search are found. */
export interface SearchPlan {
  /** Whether the index finds candidates. */
  readonly isIndexed: boolean
  /** What decides about a candidate: nothing more, or the test for short or for long texts. */
  readonly test: 'none' | 'short' | 'long'
}

export interface Search {
  readonly plan: SearchPlan
  /** The parameters of its statement. */
  readonly values: Readonly<Record<string, string>>
}

/** The index finds texts by three letters or digits in a row. */
const threeLetters = { any: /[\p{L}\p{N}]{3}/u, ascii: /[a-z0-9]{3}/ }

/** LIKE and strpos() compare the whole pattern at each position, so longer ones are left to the test for long texts. */
const shortLength = 32

/** A text as a pattern that matches it anywhere. */
const anywhere = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** A short part of a text that begins at an index. */
const partAt = (text: string, at: number): string =>
  Array.from(text.slice(at, at + 2 * shortLength))
    .slice(0, shortLength)
    .join('')

/** A short part of a text that begins with its rarest letter. */
const rarePart = (text: string): string => {
  const counts = new Map<string, number>()
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  const [rarest = ['']] = [...counts].sort(([, a], [, b]) => a - b)
  return partAt(text, text.indexOf(rarest[0]))
}

/** The plan for a search text, which must not be empty. */
export const planSearch = (index: SearchIndex, q: string): Search => {
  const searchText = fold(q)
  const isShort = searchText.length <= shortLength
  const test = isShort ? 'short' : 'long'
  const letters = index.isAscii ? threeLetters.ascii : threeLetters.any
  const at = index.isThere ? searchText.search(letters) : -1
  const values = { searchText, searchRare: rarePart(searchText) }
  if (at === -1) return { plan: { isIndexed: false, test }, values }
  if (isShort) return { plan: { isIndexed: true, test: 'none' }, values: { searchPattern: anywhere(searchText) } }
  return { plan: { isIndexed: true, test }, values: { ...values, searchPattern: anywhere(partAt(searchText, at)) } }
}

/**
 * The condition that a text contains the parameter `searchText`. PostgreSQL has no linear test for long ones: strpos() takes 15 s
 * for 15,000 letters in 1 MB of repeated ones, and comparing bytes half a second. Most texts fail the test for a rare part first.
 */
export const containsSql = (column: string, test: 'short' | 'long'): string =>
  test === 'short'
    ? `strpos(${column}, :searchText) > 0`
    : `case when strpos(${column}, :searchRare) = 0 then false
        else position(convert_to(:searchText::text, 'UTF8') in convert_to(${column}, 'UTF8')) > 0 end`
