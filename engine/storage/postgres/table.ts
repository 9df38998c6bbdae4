/** The rows of one resource on PostgreSQL: every query is one prepared statement and one round trip. */
import type { Knex } from 'knex'
import type { Registry, Resource } from '../../descriptor/registry.js'
import type { TableDialect } from '../dialect.js'
import { largePageBody, type SizedRow } from '../largePage.js'
import { maxInteger } from '../listQuery.js'
import type { ListQuery } from '../storage.js'
import type { Connections, Prepared, Row } from './connections.js'
import { creator } from './create.js'
import { longestKey } from './functions.js'
import { columnsOf } from './schema.js'
import { planSearch, type SearchPlan } from './search.js'
import type { SearchIndex } from './setUp.js'
import { statementsOf } from './statements.js'

/** What the tables of one database share. */
export interface Shared {
  readonly connections: Connections
  readonly knex: Knex
  readonly searchIndex: SearchIndex
}

type Values = Readonly<Record<string, unknown>>

/** Compact the change log beyond this size: every read goes through all of it. */
const manyChanges = 50
/** And after this many creates, in case nobody reads meanwhile. */
const manyCreates = 1_000

/** Runs a query once at a time: all callers that arrive meanwhile share the next run, which begins after them. */
const shared = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let current: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= current.then(() => {
      next = undefined
      const asked = ask()
      current = asked.catch(() => {})
      return asked
    })
    return next
  }
}

/** The rows of one resource. */
export const postgresTable = (registry: Registry, resource: Resource, common: Shared): TableDialect => {
  const { connections, knex, searchIndex } = common
  const statements = statementsOf(knex, registry, resource)
  const { conflicts, create } = creator(connections, statements)
  let created = 0

  let isCompacting = false
  const compactChanges = async () => {
    if (isCompacting) return
    isCompacting = true
    // If it fails, the next read tries again.
    const compacting = [statements.compactChanges, statements.compactBlocks].map((statement) =>
      connections.write(statement),
    )
    await Promise.allSettled(compacting)
    isCompacting = false
  }

  /** Runs a statement that returns the version, the number of change rows, the row count, and more. */
  const read = async (statement: Prepared, values?: Values) => {
    const [row] = await connections.read(statement, values)
    const [version, changes, , body = null, sizes = null, tail = null] = row as Row
    if (Number(changes) > manyChanges) void compactChanges()
    return { version: String(version), body, sizes, tail }
  }
  const readRows = async (ids: readonly bigint[]): Promise<Uint8Array> => {
    const [row] = await connections.read(statements.rows, { ids: ids.join() })
    return Buffer.from(row?.[0] ?? '')
  }

  const statementFor = ({ offset, filters }: ListQuery, search: SearchPlan | undefined): Prepared => {
    const given = Object.entries(filters)
    if (given.length === 0 && !search) return offset === 0n ? statements.first : statements.further
    const isLong = (value: string | bigint) => typeof value === 'string' && Buffer.byteLength(value) > longestKey
    return statements.matching({ filters: new Map(given.map(([name, value]) => [name, isLong(value)])), search })
  }

  return {
    shape: columnsOf(resource)
      .map(({ sql }) => sql)
      .join(),
    version: shared(async () => (await read(statements.version)).version),
    async page(query) {
      const { limit, offset, filters } = query
      const search = query.q === '' ? undefined : planSearch(searchIndex, query.q)
      const { version, body, sizes, tail } = await read(statementFor(query, search?.plan), {
        ...filters,
        ...search?.values,
        limit,
        offset: offset > maxInteger ? maxInteger : offset,
        shownOffset: offset,
      })
      if (sizes === null) return { version, body: Buffer.from(String(body)) }
      const rows = sizes.split(',').map((row): SizedRow => {
        const [id = '', bytes] = row.split(':')
        return { id: BigInt(id), bytes: Number(bytes) }
      })
      return { body: largePageBody({ rows, tail: String(tail) }, readRows) }
    },
    async row(id) {
      const { version, body } = await read(statements.get, { id })
      return body === null ? undefined : { version, body: Buffer.from(body) }
    },
    conflicts,
    async create(row, retry) {
      const creation = await create(row, retry)
      if (++created % manyCreates === 0) void compactChanges()
      return creation
    },
  }
}
