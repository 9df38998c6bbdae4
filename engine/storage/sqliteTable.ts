/** The rows of one resource on SQLite: every question becomes one prepared statement, asked here or in a lane. */
import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type { Knex } from 'knex'
import type { Registry, Resource, RowValues } from '../descriptor/registry.js'
import { anywhere, isIndexed, phrase } from './fold.js'
import type { Lanes } from './lanes.js'
import type { ReadyAnswers } from './ready.js'
import type { Statement } from './slots.js'
import { statementsOf } from './sqliteStatements.js'
import type { Conflict, Creation, Question, Reading, Table } from './storage.js'

/** What the tables of one database share. */
export interface Shared {
  readonly database: Database
  readonly knex: Knex
  readonly ready: ReadyAnswers
  /** Missing for a database in memory, which no other thread can see. */
  readonly lanes: Lanes | undefined
  readonly write: <T>(run: () => T) => Promise<T>
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
    run: (values: Values) => prepared.run(bound(values)),
  }
}

/** The largest integer SQLite has: no row's value lies beyond it, and no page begins there. */
const mostInteger = 2n ** 63n - 1n
const isBeyond = (value: string | bigint): boolean =>
  typeof value === 'bigint' && (value > mostInteger || value < -mostInteger)

const emptyPage = ({ limit, offset }: Question): Buffer =>
  Buffer.from(`{"data":[],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`)

/** A question as the name of its answer. */
const keyOf = ({ path }: Resource, { limit, offset, q, filters }: Question): string => {
  let key = `${path}?${limit}&${offset}&`
  for (const name in filters) key += `${name}=${JSON.stringify(String(filters[name]))}&`
  return key + q
}

/** A table at one moment. */
interface State {
  readonly tag: string
  readonly rows: number
  /** The id of the first row, where no id is missing between it and the last. */
  readonly first: number | undefined
}

/** From this many rows on, a question whose cost grows with them is asked in a lane. */
const manyRows = 20_000

/** The rows of one resource. */
export const sqliteTable = (registry: Registry, resource: Resource, shared: Shared): Table => {
  const { database, knex, ready, lanes, write, changes } = shared
  const statements = statementsOf(knex, registry, resource)
  const prepared = (statement: Statement) => prepare(database, statement)
  const [bounds, one, insert] = [prepared(statements.state), prepared(statements.get), prepared(statements.insert)]
  const [all, search, scan] = [prepared(statements.all), prepared(statements.search), prepared(statements.scan)]
  const searchFiltered = prepared(statements.searchFiltered)
  const filtered = [...statements.filtered].map(([field, statement]) => [field, prepared(statement)] as const)
  const checks = statements.checks.map((check) => ({ ...check, found: prepared(check.statement).first }))
  // The same rows shown in another shape are another answer, so the tag tells of the shape too.
  const shape = createHash('sha256').update(statements.all.sql).digest('hex').slice(0, 8)
  const tagOf = (state: unknown): string => `${shape}${state}`

  let seen = -1
  let lastState: State
  const stateNow = (): State => {
    const now = changes()
    if (now === seen) return lastState
    const [state, rows, first, last] = bounds.first({}) as [string, number, number | null, number]
    const isGapless = first !== null && last - first + 1 === rows
    lastState = { tag: tagOf(state), rows, first: isGapless ? first : undefined }
    seen = now
    return lastState
  }

  const statementFor = ({ q, filters }: Question) => {
    const leader = filtered.find(([field]) => field in filters)?.[1]
    if (q === '') return leader ?? all
    if (!isIndexed(q)) return scan
    return leader ? searchFiltered : search
  }

  /** Asks the database for a page, here or, where that may take long, in a lane. */
  const ask = async (question: Question, { rows, first }: State): Promise<Reading> => {
    const { limit, offset, q, filters } = question
    const statement = statementFor(question)
    const within = offset > mostInteger ? mostInteger : offset
    // Where no id is missing, the offset is a key: the page is found at once however deep it lies.
    const isKey = first !== undefined && within < rows
    const start = isKey ? { first: BigInt(first) + within, skip: 0n } : { first: -mostInteger, skip: within }
    const values = statement.bound({
      ...filters,
      ...start,
      limit: BigInt(limit),
      offset: within,
      shownOffset: String(offset),
      phrase: q !== '' && statement !== scan ? phrase(q) : null,
      anywhere: statement === scan ? anywhere(q) : null,
    })
    const grows = statement !== all || start.skip > manyRows
    const row =
      lanes && grows && rows > manyRows
        ? await lanes.ask(statement === scan ? 'scans' : 'indexed', { sql: statement.sql, values })
        : statement.ask(values)
    const [state, bytes] = row as [string, Uint8Array]
    const body = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    return { tag: tagOf(state), body }
  }

  const conflictsOf = (row: RowValues): Conflict[] =>
    checks
      .filter((check) => check.reads.every((field) => (row[field] ?? null) !== null))
      .filter((check) => (check.found(row) === undefined) === (check.type === 'reference'))
      .map(({ type, field }) => ({ type, field }))

  return {
    async list(question, known) {
      const state = stateNow()
      if (known(state.tag)) return { tag: state.tag, body: undefined }
      const key = keyOf(resource, question)
      const kept = ready.get(key, state.tag)
      if (kept) return { tag: state.tag, body: kept }
      if (question.q.includes('\0') || Object.values(question.filters).some(isBeyond)) {
        return { tag: state.tag, body: emptyPage(question) }
      }
      const reading = await ask(question, state)
      ready.offer(key, reading)
      return reading
    },
    async get(id) {
      const { tag } = stateNow()
      const key = `${resource.path}/${id}`
      const kept = ready.get(key, tag)
      if (kept) return { tag, body: kept }
      const [state, body] = one.first({ id }) as [string, Buffer | null]
      const reading = { tag: tagOf(state), body: body ?? undefined }
      ready.offer(key, reading)
      return reading
    },
    async conflicts(row) {
      return conflictsOf(row)
    },
    create: (row) =>
      write((): Creation => {
        const conflicts = conflictsOf(row)
        if (conflicts.length > 0) return { conflicts }
        const id = Number(insert.run(row).lastInsertRowid)
        const [, body] = one.first({ id }) as [string, Buffer]
        return { id, body }
      }),
  }
}
