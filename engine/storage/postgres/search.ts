/** How a text is looked for on PostgreSQL: by the index of trigrams, by the rare part of it, or by going through the table. */
import { fold } from '../fold.js'
import { type Rarity, rarityIn } from '../rareText.js'
import type { SearchIndex } from './setUp.js'

/** By the index alone; by the index and then held against the whole text; or without it. */
export type Searching = 'indexed' | 'held' | 'scanned'

export interface Search {
  readonly by: Searching | undefined
  /** What the statement is asked with. */
  readonly searchText: string
  readonly searchPattern: string
}

/** The index finds texts by three letters or digits in a row. */
const threeLetters = { any: /[\p{L}\p{N}]{3}/u, ascii: /[a-z0-9]{3}/ }

/** From this many rows on it matters which part of a text the index is asked for. */
const manyRows = 20_000

/** A text as a pattern that has it anywhere, nothing in it being special. */
const anywhere = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** Makes what decides, for one table, by what it is told of the index and of a sample of the table's texts. */
export const searcher = (index: SearchIndex, sample: () => Promise<readonly string[]>) => {
  const letters = index.isAscii ? threeLetters.ascii : threeLetters.any
  /** What is rare in a large table, looked at again when it has doubled. */
  let rarity: { readonly rows: number; readonly of: Rarity } = { rows: manyRows, of: rarityIn([]) }

  return async (q: string, rows: number): Promise<Search> => {
    const searchText = fold(q)
    const by = (how: Searching | undefined, text = searchText) => ({
      by: how,
      searchText,
      searchPattern: anywhere(text),
    })
    if (searchText === '') return by(undefined)
    if (!index.isThere || !letters.test(searchText)) return by('scanned')
    if (rows >= rarity.rows * 2) rarity = { rows, of: rarityIn(await sample()) }
    const part = rarity.of.partOf(searchText)
    return part === searchText || !letters.test(part) ? by('indexed') : by('held', part)
  }
}
