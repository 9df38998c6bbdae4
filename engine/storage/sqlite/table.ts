/** The rows of one resource on SQLite: every question becomes one prepared statement, asked here or in a thread. */
import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type { Knex } from 'knex'
import type { Registry, Resource, RowValues } from '../../descriptor/registry.js'
import { anywhere, fold, isBeyondPattern, isIndexed, phrase } from '../fold.js'
import { emptyPage, findsNothing, keyOf, mostInteger } from '../question.js'
import { commonTrigrams, rarePart } from '../rareText.js'
import type { ReadyAnswers } from '../ready.js'
import type { Statement } from '../slots.js'
import { type Conflict, type Creation, type Question, type Reading, type Table, Unavailable } from '../storage.js'
import type { Asked } from './readingThread.js'
import { type State, stateOf } from './state.js'
import { statementsOf } from './statements.js'
import type { Write, Written } from './writes.js'

/** What the tables of one database share. */
export interface Shared {
  readonly database: Database
  readonly knex: Knex
  readonly ready: ReadyAnswers
  /** Asks in a thread; missing for a database in memory, which no other thread can see. */
  readonly askAside: ((which: 'indexed' | 'scans', asked: Asked) => Promise<readonly unknown[]>) | undefined
  readonly write: (write: Write) => Promise<Written>
  /** A number that stays the same for as long as nothing is committed. */
  readonly changes: () => number
}

type Values = Readonly<Record<string, unknown>>

/** A prepared statement that takes its values by the names of its slots. */
const prepare = (database: Database, { sql, slots }: Statement) => {
  const statement = database.prepare(sql)
  const prepared = statement.reader ? statement.raw() : statement
  const bound = (values: Values) => slots.map((name) => values[name] ?? null)
  return {
    sql,
    bound,
    ask: (values: readonly unknown[]) => prepared.get(values) as readonly unknown[] | undefined,
    first: (values: Values) => prepared.get(bound(values)) as readonly unknown[] | undefined,
  }
}

/** Bytes that came from a thread have lost their class on the way. */
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** From this many rows on, a question whose cost grows with them is asked in a thread. */
const manyRows = 20_000

/** How many rows tell what is common in a table. */
const sampled = 200

/** The rows of one resource. */
export const sqliteTable = (registry: Registry, resource: Resource, shared: Shared): Table => {
  const { database, knex, ready, askAside, write, changes } = shared
  const statements = statementsOf(knex, registry, resource)
  const prepared = (statement: Statement) => prepare(database, statement)
  const [one, insert] = [prepared(statements.get), prepared(statements.insert)]
  const [all, search, scan] = [prepared(statements.all), prepared(statements.search), prepared(statements.scan)]
  const [searchFurther, sample] = [prepared(statements.searchFurther), prepared(statements.sample)]
  const filtered = [...statements.filtered].map(([field, statement]) => [field, prepared(statement)] as const)
  const checks = statements.checks.map((check) => ({ ...check, statement: prepared(check.statement) }))
  // The same rows shown in another shape are another answer, so the tag tells of the shape too.
  const shape = createHash('sha256').update(statements.all.sql).digest('hex').slice(0, 8)
  const tagOf = (state: unknown): string => `${shape}${state}`

  const table = stateOf(database, statements, changes)

  /** What many rows of a large table have in common, looked at again when it has doubled. */
  let common: { rows: number; trigrams: ReadonlySet<string> } = { rows: manyRows, trigrams: new Set() }
  const commonNow = ({ rows, last }: State): ReadonlySet<string> => {
    if (rows < common.rows * 2) return common.trigrams
    const ids = Array.from({ length: sampled }, (_, n) => Math.floor(((last ?? 0) * n) / sampled))
    const texts = ids.map((id) => String(sample.first({ id })?.[0] ?? ''))
    common = { rows, trigrams: commonTrigrams(texts) }
    return common.trigrams
  }

  /** The statement that answers, and what it looks for. */
  const planFor = ({ q, filters }: Question, state: State) => {
    const leader = filtered.find(([field]) => field in filters)?.[1]
    if (q === '') return { statement: leader ?? all }
    const exactly = isBeyondPattern(q) ? { folded: fold(q) } : {}
    if (!isIndexed(q)) return { statement: scan, anywhere: anywhere(q), ...exactly }
    // Where the index is asked for a rare part alone, the rows it finds are held against the whole.
    const part = rarePart(q, commonNow(state))
    const further = part === q ? exactly : { anywhere: anywhere(q), ...exactly }
    const isFound = part === q && !leader && !exactly.folded
    return { statement: isFound ? search : searchFurther, phrase: phrase(part), ...further }
  }

  /** Asks the database for a page, here or, where that may take long, in a thread. */
  const ask = async (question: Question, state: State): Promise<Reading> => {
    const { limit, offset, filters } = question
    const { statement, ...looksFor } = planFor(question, state)
    const within = offset > mostInteger ? mostInteger : offset
    const values = statement.bound({
      ...filters,
      ...(statement === all && table.startOf(state, within)),
      limit: BigInt(limit),
      offset: within,
      shownOffset: String(offset),
      ...looksFor,
    })
    const row =
      askAside && statement !== all && state.rows > manyRows
        ? await askAside(statement === scan ? 'scans' : 'indexed', { sql: statement.sql, values })
        : statement.ask(values)
    const [then, bytes] = row as [string, Uint8Array]
    // Another process has written since the page's beginning was looked up: it may begin elsewhere now.
    if (statement === all && then !== state.state) return ask(question, table.look())
    return { tag: tagOf(then), body: asBuffer(bytes) }
  }

  /** The checks that have something to say about a row, with what they look for. */
  const checksOf = (row: RowValues) =>
    checks
      .filter((check) => check.reads.every((field) => (row[field] ?? null) !== null))
      .map(({ type, field, statement }) => ({
        type,
        field,
        sql: statement.sql,
        values: statement.bound(row),
        ask: statement.ask,
      }))

  return {
    async tag() {
      return tagOf(table.now().state)
    },
    async list(question) {
      const state = table.now()
      const tag = tagOf(state.state)
      const key = keyOf(resource, question)
      const kept = ready.get(key, tag)
      if (kept) return { tag, body: kept }
      if (findsNothing(question)) return { tag, body: emptyPage(question) }
      const reading = await ask(question, state)
      ready.offer(key, reading)
      return reading
    },
    async get(id) {
      const tag = tagOf(table.now().state)
      const key = `${resource.path}/${id}`
      const kept = ready.get(key, tag)
      if (kept) return { tag, body: kept }
      const [state, body] = one.first({ id }) as [string, Buffer | null]
      if (body === null) return undefined
      const reading = { tag: tagOf(state), body }
      ready.offer(key, reading)
      return reading
    },
    async conflicts(row) {
      return checksOf(row)
        .filter(({ type, values, ask: found }) => (found(values) === undefined) === (type === 'reference'))
        .map(({ type, field }): Conflict => ({ type, field }))
    },
    async create(row, retry): Promise<Creation> {
      const written = await write({
        checks: checksOf(row).map(({ type, field, sql, values }) => ({ type, field, sql, values })),
        insert: { sql: statements.insert.sql, values: insert.bound(row) },
        read: statements.get.sql,
        retry,
      })
      if ('error' in written) throw new Unavailable(written.error)
      return 'body' in written ? { ...written, body: asBuffer(written.body) } : written
    },
  }
}
