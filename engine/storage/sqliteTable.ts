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

/** From this many rows on, a question whose cost grows with them is asked in a lane. */
const manyRows = 20_000n

export const sqliteTable = (registry: Registry, resource: Resource, shared: Shared): Table => {
  const { database, knex, ready, lanes, write } = shared
  const statements = statementsOf(knex, registry, resource)
  const prepared = (statement: Statement) => prepare(database, statement)
  const [state, get, insert, all, search, searchFiltered, scan] = [
    prepared(statements.state),
    prepared(statements.get),
    prepared(statements.insert),
    prepared(statements.all),
    prepared(statements.search),
    prepared(statements.searchFiltered),
    prepared(statements.scan),
  ] as const
  const filtered = [...statements.filtered].map(([field, statement]) => [field, prepared(statement)] as const)
  const checks = statements.checks.map((check) => ({ ...check, found: prepared(check.statement).first }))
  // The same rows shown in another shape are another answer, so the tag tells of the shape too.
  const shape = createHash('sha256').update(statements.all.sql).digest('hex').slice(0, 8)

  const statementFor = ({ q, filters }: Question) => {
    const leader = filtered.find(([field]) => field in filters)?.[1]
    if (q === '') return leader ?? all
    if (!isIndexed(q)) return scan
    return leader ? searchFiltered : search
  }

  const conflictsOf = (row: RowValues): Conflict[] =>
    checks
      .filter((check) => check.reads.every((field) => (row[field] ?? null) !== null))
      .filter((check) => (check.found(row) === undefined) === (check.type === 'reference'))
      .map(({ type, field }) => ({ type, field }))

  return {
    async list(question, known): Promise<Reading> {
      const [now, rows, first, last] = state.first({}) as [string, number, number | null, number]
      const tag = `${shape}${now}`
      if (known(tag)) return { tag, body: undefined }
      const { limit, offset, q, filters } = question
      const key = `${resource.path} ${limit} ${offset} ${JSON.stringify(Object.entries(filters).map(String))} ${q}`
      const kept = ready.get(key, tag)
      if (kept) return { tag, body: kept }
      if (q.includes('\0') || Object.values(filters).some(isBeyond)) return { tag, body: emptyPage(question) }

      const statement = statementFor(question)
      const within = offset > mostInteger ? mostInteger : offset
      // Where no id is missing, the offset is a key: the page is found at once however deep it lies.
      const isGapless = first !== null && last - first + 1 === rows
      const start =
        isGapless && within < BigInt(rows)
          ? { first: BigInt(first) + within, skip: 0n }
          : { first: -mostInteger, skip: within }
      const values = statement.bound({
        ...filters,
        ...start,
        limit: BigInt(limit),
        offset: within,
        shownOffset: String(offset),
        ...(q !== '' && (statement === scan ? { anywhere: anywhere(q) } : { phrase: phrase(q) })),
      })
      const grows = statement !== all || start.skip > manyRows
      const row =
        lanes && grows && BigInt(rows) > manyRows
          ? await lanes.ask(statement === scan ? 'scans' : 'indexed', { sql: statement.sql, values })
          : statement.ask(values)
      const [then, bytes] = row as [string, Uint8Array]
      const body = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      const reading = { tag: `${shape}${then}`, body }
      ready.offer(key, reading.tag, body)
      return reading
    },
    async get(id) {
      const [now, body] = get.first({ id }) as [string, Buffer | null]
      return { tag: `${shape}${now}`, body: body ?? undefined }
    },
    async conflicts(row) {
      return conflictsOf(row)
    },
    create: (row) =>
      write((): Creation => {
        const conflicts = conflictsOf(row)
        if (conflicts.length > 0) return { conflicts }
        const id = Number(insert.run(row).lastInsertRowid)
        const [, body] = get.first({ id }) as [string, Buffer]
        return { id, body }
      }),
  }
}
