/** The rows of one resource on SQLite: its pages, its single rows, and what is written. */
import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import type { Registry, Resource, RowValues } from '../../descriptor/registry.js'
import { emptyPage, findsNothing, keyOf } from '../listQuery.js'
import type { ReadyAnswers } from '../ready.js'
import type { Statement } from '../slots.js'
import { type Conflict, type Creation, type Table, Unavailable } from '../storage.js'
import { type Places, pages } from './pages.js'
import { prepare } from './prepared.js'
import { stateOf } from './state.js'
import { statementsOf } from './statements.js'
import type { Write, Written } from './writes.js'

/** What the tables of one database share. */
export interface Shared extends Places {
  readonly knex: Knex
  readonly ready: ReadyAnswers
  readonly write: (write: Write) => Promise<Written>
  /** A number that stays the same for as long as nothing is committed. */
  readonly changes: () => number
}

/** Bytes that came from a thread have lost their class on the way. */
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** The rows of one resource. */
export const sqliteTable = (registry: Registry, resource: Resource, shared: Shared): Table => {
  const { database, knex, ready, write, changes } = shared
  const statements = statementsOf(knex, registry, resource)
  const prepared = (statement: Statement) => prepare(database, statement)
  const [one, insert] = [prepared(statements.get), prepared(statements.insert)]
  const checks = statements.checks.map((check) => ({ ...check, statement: prepared(check.statement) }))
  // The same rows shown in another shape are another answer, so the tag tells of the shape too.
  const shape = createHash('sha256').update(statements.all.sql).digest('hex').slice(0, 8)
  const tagOf = (state: unknown): string => `${shape}${state}`

  const table = stateOf(database, statements, changes)
  const pageOf = pages(statements, table, shared)

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
      const page = await pageOf(question, state)
      const reading = { tag: tagOf(page.state), body: asBuffer(page.bytes) }
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
