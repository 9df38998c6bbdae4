/** How a text is looked for on PostgreSQL: by the index of trigrams, by the rare ones of its own, or by going through the table. */
import { fold } from '../fold.js'
import { type Rarity, rarityIn } from '../rareText.js'
import type { SearchIndex } from './setUp.js'

/** By the index alone; by the index and then held against the whole text; or without it. */
export type Searching = 'indexed' | 'held' | 'scanned'

export interface Search {
  readonly by: Searching | undefined
  /** What the statement is asked with. */
  readonly values: Readonly<Record<string, string>>
}

/** What the index is asked for where it is not the whole text: each of some trigrams. */
export const rareSlots = ['rareFirst', 'rareSecond', 'rareThird'] as const

/** The index finds texts by three letters or digits in a row. */
const threeLetters = { any: /[\p{L}\p{N}]{3}/u, ascii: /[a-z0-9]{3}/ }

/** From this many rows on it matters which part of a text the index is asked for. */
const manyRows = 20_000

/** A text as a pattern that has it anywhere, nothing in it being special. */
const anywhere = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** Makes what decides, for one table, by what it is told of the index and of a sample of the table's texts. */
export const searcher = (index: SearchIndex, sample: () => Promise<readonly string[]>) => {
  const letters = index.isAscii ? threeLetters.ascii : threeLetters.any
  const isLetters = (text: string) => letters.test(text)
  /** What is rare in a large table, looked at again when it has doubled. */
  let rarity: { readonly rows: number; readonly of?: Rarity } = { rows: manyRows / 2 }

  return async (q: string, rows: number): Promise<Search> => {
    const searchText = fold(q)
    if (searchText === '') return { by: undefined, values: {} }
    if (!index.isThere || !isLetters(searchText)) return { by: 'scanned', values: { searchText } }
    if (rows >= rarity.rows * 2) rarity = { rows, of: rarityIn(await sample()) }
    // Without a common trigram, or with nothing else, the whole leads to the fewest rows.
    if (!rarity.of || rarity.of.partOf(searchText) === searchText)
      return { by: 'indexed', values: { searchPattern: anywhere(searchText) } }
    const rare = rarity.of.trigramsOf(searchText, isLetters)
    const patterns = rareSlots.map((slot, n) => [slot, anywhere(rare[n % rare.length]?.trigram ?? '')])
    return { by: 'held', values: { searchText, ...Object.fromEntries(patterns) } }
  }
}
