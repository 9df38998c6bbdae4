/** Which statement answers a question for a page, and where it is asked: here, or in a thread where that may take long. */
import type { Database } from 'better-sqlite3'
import { oncePerTick } from '../../batchPerTick.js'
import { anywhere, fold, isBeyondPattern, isIndexed, phrase } from '../fold.js'
import { mostInteger } from '../listQuery.js'
import { irregular, type Rarity, rarityIn, sampled } from '../rareText.js'
import type { Statement } from '../slots.js'
import type { ListQuery } from '../storage.js'
import { type Prepared, prepare, type Values } from './prepared.js'
import type { Asked } from './readingThread.js'
import type { State, TableState } from './state.js'
import type { Statements } from './statements.js'

/** Where questions are asked. */
export interface Places {
  /** Here. */
  readonly database: Database
  /** In a thread; missing for a database in memory, which no other thread can see. */
  readonly askAside: ((which: 'indexed' | 'scans', asked: Asked) => Promise<readonly unknown[]>) | undefined
}

/** A page, and the state of the table that it shows. */
interface Page {
  readonly state: string
  readonly bytes: Uint8Array
}

interface Plan {
  readonly statement: Prepared
  /** The values it takes besides those that the question gives to every statement. */
  readonly looksFor: Values
  readonly where: 'here' | 'indexed' | 'scans'
}

/** In a table of more rows than this, a question that may look at many of them is asked in a thread. */
const manyRows = 20_000

/** One search of a turn is asked here, which spares a lone client the way to a thread; the thread has the others meanwhile. */
const isFirstOfTurn = oncePerTick()

/** What rows are held against where an index alone does not tell. */
const heldAgainst = (q: string): Values =>
  q === '' ? {} : { anywhere: anywhere(q), ...(isBeyondPattern(q) && { folded: fold(q) }) }

/** Makes the function that asks one table for a page. */
export const pages = (statements: Statements, table: TableState, { database, askAside }: Places) => {
  const prepared = (statement: Statement) => prepare(database, statement)
  const byField = (map: ReadonlyMap<string, Statement>) =>
    [...map].map(([field, statement]) => [field, prepared(statement)] as const)
  const [all, search, scan] = [prepared(statements.all), prepared(statements.search), prepared(statements.scan)]
  const [searchFurther, sample] = [prepared(statements.searchFurther), prepared(statements.sample)]
  const [filtered, filteredAlone] = [byField(statements.filtered), byField(statements.filteredAlone)]
  const fewFiltered = byField(statements.fewFiltered)
  const fewFound = prepared(statements.fewFound)

  const leaderOf = (byFilter: typeof filtered, { filters }: ListQuery): Prepared | undefined =>
    byFilter.find(([field]) => field in filters)?.[1]

  /** What is rare in a large table, looked at again when it has doubled. */
  let rarity: { readonly rows: number; readonly of: Rarity } = { rows: manyRows / 2, of: rarityIn([]) }
  const rarityNow = ({ rows, first, last }: State): Rarity => {
    if (rows >= rarity.rows * 2) {
      const [from, to] = [first ?? 0, last ?? 0]
      const ids = Array.from({ length: sampled }, (_, n) => Math.floor(from + (to - from) * ((n * irregular) % 1)))
      rarity = { rows, of: rarityIn(ids.map((id) => String(sample.first({ id })?.[0] ?? ''))) }
    }
    return rarity.of
  }

  /** The plan that answers however many rows have to be looked at. */
  const planFor = (question: ListQuery, state: State): Plan => {
    const { q, filters } = question
    const leader = leaderOf(Object.keys(filters).length === 1 ? filteredAlone : filtered, question)
    if (q === '' && leader) return { statement: leader, looksFor: {}, where: 'indexed' }
    if (!isIndexed(q)) return { statement: scan, looksFor: heldAgainst(q), where: 'scans' }
    const part = rarityNow(state).partOf(q)
    // Where the index is asked for a rare part alone, the rows it finds are held against the whole.
    const isEnough = part === q && !isBeyondPattern(q)
    const looksFor = { phrase: phrase(part), ...(isEnough ? {} : heldAgainst(q)) }
    return { statement: isEnough && !leader ? search : searchFurther, looksFor, where: 'indexed' }
  }

  /** The plans that answer only where a filter, or some trigrams of a text, lead to few rows. */
  function* plansForFew(question: ListQuery, state: State): Generator<Plan> {
    const { q } = question
    const leader = leaderOf(fewFiltered, question)
    if (leader) yield { statement: leader, looksFor: heldAgainst(q), where: 'here' }
    if (!isIndexed(q)) return
    const trigrams = rarityNow(state).trigramsOf(q)
    // To see whether there are few, the index may have to step through all rows that have the rarest.
    if (trigrams.every(({ share }) => share * state.rows > manyRows)) return
    const every = trigrams.map(({ trigram }) => phrase(trigram)).join(' AND ')
    const looksFor = { trigrams: every, ...heldAgainst(q) }
    yield { statement: fewFound, looksFor, where: isFirstOfTurn() ? 'here' : 'indexed' }
  }

  const ask = async (question: ListQuery, state: State): Promise<Page> => {
    const { limit, offset, filters, q } = question
    const within = offset > mostInteger ? mostInteger : offset
    const asked = { ...filters, limit: BigInt(limit), offset: within, shownOffset: String(offset) }
    if (q === '' && !leaderOf(filtered, question)) {
      const [then, bytes] = all.first({ ...asked, ...table.startOf(state, within) }) as [string, Uint8Array]
      // Where another process has written since the page's beginning was looked up, it may begin elsewhere now.
      return then === state.state ? { state: then, bytes } : ask(question, table.look())
    }
    const isLarge = state.rows > manyRows
    const follow = async ({ statement, looksFor, where }: Plan): Promise<Page | undefined> => {
      const values = statement.bound({ ...asked, ...looksFor })
      const isHere = !askAside || !isLarge || where === 'here'
      const row = isHere ? statement.ask(values) : await askAside(where, { sql: statement.sql, values })
      const [then, bytes] = row as [string, Uint8Array | null]
      return bytes ? { state: then, bytes } : undefined
    }
    for (const plan of isLarge ? plansForFew(question, state) : []) {
      const page = await follow(plan)
      if (page) return page
    }
    return (await follow(planFor(question, state))) as Page
  }
  return ask
}
