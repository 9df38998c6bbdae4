/** The table of one resource on SQLite. */
import type { Database } from 'better-sqlite3'
import type { Resource, RowValues } from '../../descriptor/registry.js'
import { bind, type Statement } from '../bindings.js'
import { parseConflicts } from '../conflicts.js'
import { excerptLength, type TableDialect, type VersionedBody } from '../dialect.js'
import { largePageBody } from '../largePage.js'
import type { Plan } from '../plan.js'
import { fieldOf, quoted } from '../schema.js'
import { elapsed, type Trace } from '../trace.js'
import { type Block, pageStart, type TableState } from './blocks.js'
import type { CommitCounter } from './commitCounter.js'
import { type Prepare, preparer } from './prepared.js'
import { queryPlans } from './queryPlans.js'
import type { Readers } from './readers.js'
import { isIndexed } from './search.js'
import type { Statements } from './statements.js'
import type { WriteQueue } from './writeQueue.js'

/** What the tables of one database share. */
export interface Shared {
  readonly database: Database
  readonly readers: Readers
  readonly writes: WriteQueue
  readonly commits: CommitCounter
  readonly trace?: Trace | undefined
}

/** Bytes from a worker arrive as a plain Uint8Array. */
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Reads the state of a table, again only when something was committed. */
const stateReader = (prepare: Prepare, { lists }: Statements, commits: CommitCounter) => {
  let seen = -1
  let state: TableState
  const read = (): TableState => {
    state = prepare(lists.state).get() as TableState
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

/** The SQL of excerpts of the rows whose ids are given as a JSON array. */
const excerptSql = (resource: Resource, fields: readonly string[]): string => {
  const columns = fields.map((name) => {
    const { kind } = fieldOf(resource, name)
    return kind === 'text' ? `substr(${quoted(name)}, 1, ${excerptLength}) as ${quoted(name)}` : quoted(name)
  })
  return `select ${['id', ...columns].join()} from ${quoted(resource.table)} where id in (select value from json_each(?))`
}

/** The rows of one resource. */
export const sqliteTable = (resource: Resource, statements: Statements, shared: Shared): TableDialect => {
  const { database, readers, writes, commits, trace } = shared
  const planOf = queryPlans(database)
  const traceStatement = (report: Trace, { sql }: Statement, started: number) => {
    report('statement', { resource: resource.path, sql_ms: elapsed(started) })
    for (const plan of planOf(sql)) report('query plan', { ...plan })
  }
  const prepare = preparer(database)
  const state = stateReader(prepare, statements, commits)
  /** Makes the function that reads the only row of a statement. The statement is prepared on first use, to keep starts short. */
  const reader = (statement: Statement) => {
    let prepared: ReturnType<Prepare> | undefined
    return (values: Readonly<Record<string, unknown>>) => {
      prepared ??= database.prepare(statement.sql).raw()
      const started = trace ? performance.now() : 0
      const row = prepared.get(bind(statement, values)) as [string, Buffer | null]
      if (trace) traceStatement(trace, statement, started)
      return row
    }
  }
  const readPage = reader(statements.all)
  const readRow = reader(statements.get)
  const readConflicts = reader(statements.conflicts)
  const readBlocks = () => prepare(statements.lists.blocks).raw().safeIntegers().all() as Block[]

  /** The page of all rows, which takes some 40 µs at any offset. */
  const pageOfAll = (plan: Plan, now: TableState): VersionedBody => {
    const { first, skip } = pageStart(now, plan.skip, readBlocks)
    const values = { first, skip, limit: BigInt(plan.limit), shownOffset: String(plan.offset) }
    const [version, body] = readPage(values) as [string, Buffer]
    // Where another process has written in between, the page may begin elsewhere.
    return version === now.version ? { version, body } : pageOfAll(plan, state.read())
  }

  return {
    shape: statements.all.sql,
    async version() {
      return state.current().version
    },
    isIndexed,
    async page(plan, caller) {
      const now = state.current()
      if (plan.by === 'all' && !now.hasLongRows) return pageOfAll(plan, now)
      const page = await readers.page(resource.path, plan, now.rows, caller)
      if ('bytes' in page) return { version: page.version, body: asBuffer(page.bytes) }
      return { body: largePageBody(page, (ids) => readers.rows(resource.path, ids)) }
    },
    part: (...query) => readers.part(resource.path, ...query),
    valueCounts: (...query) => readers.valueCounts(resource.path, ...query),
    async excerpts(ids, fields) {
      return prepare(excerptSql(resource, fields)).all(`[${ids.join()}]`) as RowValues[]
    },
    async row(id) {
      const [version, body] = readRow({ id })
      return body === null ? undefined : { version, body }
    },
    async conflicts(row) {
      return parseConflicts(readConflicts(row)[0])
    },
    async create(row, retry) {
      const bound = (statement: Statement) => ({ sql: statement.sql, values: bind(statement, row) })
      const { conflicts, insert, get, keys } = statements
      const written = await writes.write({
        conflicts: bound(conflicts),
        insert: bound(insert),
        read: get.sql,
        retry: retry && { ...retry, sql: keys },
      })
      if ('error' in written) throw Object.assign(new Error(written.error.message), written.error)
      return 'body' in written ? { ...written, body: asBuffer(written.body) } : written
    },
  }
}
