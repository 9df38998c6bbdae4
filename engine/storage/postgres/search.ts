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

/** The plan for a search text, which must not be empty. */
export const planSearch = (index: SearchIndex, q: string): Search => {
  const searchText = fold(q)
  const isShort = searchText.length <= shortLength
  const test = isShort ? 'short' : 'long'
  const letters = index.isAscii ? threeLetters.ascii : threeLetters.any
  const at = index.isThere ? searchText.search(letters) : -1
  if (at === -1) return { plan: { isIndexed: false, test }, values: { searchText } }
  if (isShort) return { plan: { isIndexed: true, test: 'none' }, values: { searchPattern: anywhere(searchText) } }
  const part = Array.from(searchText.slice(at, at + 2 * shortLength))
    .slice(0, shortLength)
    .join('')
  return { plan: { isIndexed: true, test }, values: { searchText, searchPattern: anywhere(part) } }
}

/**
 * The condition that a text contains the parameter `searchText`. For long ones strpos() takes 15 s for 15,000 letters in 1 MB
 * of repeated ones; comparing bytes takes half a second.
 */
export const containsSql = (column: string, test: 'short' | 'long'): string =>
  test === 'short'
    ? `strpos(${column}, :searchText) > 0`
    : `position(convert_to(:searchText::text, 'UTF8') in convert_to(${column}, 'UTF8')) > 0`
