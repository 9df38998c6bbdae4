/** The table of one resource on SQLite. */
import type { Database } from 'better-sqlite3'
import type { Resource, RowValues } from '../../descriptor/registry.js'
import type { TableDialect, VersionedBody } from '../dialect.js'
import { largePageBody } from '../largePage.js'
import { maxInteger } from '../listQuery.js'
import type { Conflict, Creation, ListQuery } from '../storage.js'
import { pageStart, type TableState } from './blocks.js'
import type { CommitCounter } from './commitCounter.js'
import { prepare } from './prepared.js'
import type { Readers } from './readers.js'
import type { Statements } from './statements.js'
import type { WriteQueue } from './writeQueue.js'

/** What the tables of one database share. */
export interface Shared {
  readonly database: Database
  readonly readers: Readers
  readonly writes: WriteQueue
  readonly commits: CommitCounter
}

/** Bytes from a worker arrive as a plain Uint8Array. */
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Reads the state of a table, again only when something was committed. */
const stateReader = (database: Database, { lists }: Statements, commits: CommitCounter) => {
  const statement = database.prepare(lists.state)
  let seen = -1
  let state: TableState
  const read = (): TableState => {
    state = statement.get() as TableState
    return state
  }
  return {
    read,
    current(): TableState {
      const count = commits.count()
      if (count !== seen) read()
      seen = count
      return state
    },
  }
}

/** The rows of one resource. */
export const sqliteTable = (resource: Resource, statements: Statements, shared: Shared): TableDialect => {
  const { database, readers, writes, commits } = shared
  const [one, all, insert] = [statements.get, statements.all, statements.insert].map((sql) =>
    prepare(database, sql),
  ) as [ReturnType<typeof prepare>, ReturnType<typeof prepare>, ReturnType<typeof prepare>]
  const checks = statements.checks.map((check) => ({ ...check, statement: prepare(database, check.statement) }))
  const state = stateReader(database, statements, commits)
  const blocks = database.prepare(statements.lists.blocks).raw()
  const readBlocks = () => blocks.all() as [number, number][]

  /** The page of all rows, which takes some 40 µs at any offset. */
  const pageOfAll = (query: ListQuery, now: TableState): VersionedBody => {
    const offset = query.offset > maxInteger ? maxInteger : query.offset
    const start = pageStart(now, offset, readBlocks)
    const values = { ...start, limit: BigInt(query.limit), shownOffset: String(query.offset) }
    const [version, body] = all.first(values) as [string, Buffer]
    // Where another process has written in between, the page may begin elsewhere.
    return version === now.version ? { version, body } : pageOfAll(query, state.read())
  }
  const isAll = ({ q, filters }: ListQuery) => q === '' && Object.keys(filters).length === 0

  /** The checks that apply to a row. */
  const checksOf = (row: RowValues) =>
    checks.filter(({ reads }) => reads.every((field) => (row[field] ?? null) !== null))

  return {
    shape: statements.all.sql,
    async version() {
      return state.current().version
    },
    async page(query, isAbandoned) {
      const now = state.current()
      if (isAll(query) && !now.hasLongRows) return pageOfAll(query, now)
      const page = await readers.page(resource.path, query, isAbandoned)
      if ('bytes' in page) return { version: page.version, body: asBuffer(page.bytes) }
      return { body: largePageBody(page, (ids) => readers.rows(resource.path, ids)) }
    },
    async row(id) {
      const [version, body] = one.first({ id }) as [string, Buffer | null]
      return body === null ? undefined : { version, body }
    },
    async conflicts(row) {
      return checksOf(row)
        .filter(({ type, statement }) => (statement.first(row) === undefined) === (type === 'reference'))
        .map(({ type, field }): Conflict => ({ type, field }))
    },
    async create(row, retry): Promise<Creation> {
      const written = await writes.write({
        checks: checksOf(row).map(({ type, field, statement }) => ({
          type,
          field,
          sql: statement.sql,
          values: statement.bind(row),
        })),
        insert: { sql: insert.sql, values: insert.bind(row) },
        read: one.sql,
        retry,
      })
      if ('error' in written) throw Object.assign(new Error(written.error.message), written.error)
      return 'body' in written ? { ...written, body: asBuffer(written.body) } : written
    },
  }
}
