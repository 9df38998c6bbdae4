/** The rows of one resource on PostgreSQL: every query is one prepared statement and one round trip. */
import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { emptyPage, findsNothing, keyOf, maxInteger } from '../listQuery.js'
import type { ResponseCache } from '../responseCache.js'
import type { CachedBody, ListQuery, Table } from '../storage.js'
import type { Connections, Prepared, Row } from './connections.js'
import { creator } from './create.js'
import { longestKey } from './functions.js'
import { planSearch, type SearchPlan } from './search.js'
import type { SearchIndex } from './setUp.js'
import { statementsOf } from './statements.js'

/** What the tables of one database share. */
export interface Shared {
  readonly connections: Connections
  readonly knex: Knex
  readonly cache: ResponseCache
  readonly searchIndex: SearchIndex
}

type Values = Readonly<Record<string, unknown>>

/** From so many changes on, they are gathered into one: all of them are gone through to tell the tag. */
const manyChanges = 50
/** After so many creates that happens too, for nobody may be reading meanwhile. */
const manyCreates = 1_000

/** Makes a query of which one is under way at a time: all who come meanwhile share the next, for it begins after them. */
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
export const postgresTable = (registry: Registry, resource: Resource, common: Shared): Table => {
  const { connections, knex, cache, searchIndex } = common
  const statements = statementsOf(knex, registry, resource)
  // The same rows shown in another shape are another answer, so the tag tells of the shape too.
  const shape = createHash('sha256').update(statements.create.sql).digest('hex').slice(0, 8)
  const { conflicts, create } = creator(connections, statements)
  let lastTag = ''
  let created = 0

  let isGathering = false
  const gather = async () => {
    if (isGathering) return
    isGathering = true
    // Whatever keeps it from being done now, the next look will ask for it again.
    const gathered = [statements.gather, statements.gatherBlocks].map((statement) => connections.write(statement))
    await Promise.allSettled(gathered)
    isGathering = false
  }

  /** Asks for the tag and whatever else the statement gives. */
  const ask = async (statement: Prepared, values?: Values): Promise<[string, Row]> => {
    const [row] = await connections.read(statement, values)
    const [state, changes, , ...rest] = row as Row
    if (Number(changes) > manyChanges) void gather()
    lastTag = `${shape}${state}`
    return [lastTag, rest]
  }
  const tag = shared(async () => (await ask(statements.look))[0])

  /** The answer that was kept, where the table is as it was then. */
  const kept = async (key: string): Promise<CachedBody | undefined> => {
    const before = lastTag
    const body = cache.get(key, before)
    return body && (await tag()) === before ? { tag: before, body } : undefined
  }
  /** Asks for what was not kept; there is no answer where there is no such row. */
  const asked = async (key: string, statement: Prepared, values: Values): Promise<CachedBody | undefined> => {
    const [now, [text]] = await ask(statement, values)
    if (text == null) return undefined
    const reading = { tag: now, body: Buffer.from(text) }
    cache.offer(key, reading)
    return reading
  }

  const statementFor = ({ offset, filters }: ListQuery, search: SearchPlan | undefined): Prepared => {
    const given = Object.entries(filters)
    if (given.length === 0 && !search) return offset === 0n ? statements.first : statements.further
    const isLong = (value: string | bigint) => typeof value === 'string' && Buffer.byteLength(value) > longestKey
    return statements.narrowed({ filters: new Map(given.map(([name, value]) => [name, isLong(value)])), search })
  }

  return {
    tag,
    async list(query) {
      const key = keyOf(resource, query)
      const before = await kept(key)
      if (before) return before
      if (findsNothing(query)) return { tag: await tag(), body: emptyPage(query) }
      const { limit, offset, filters } = query
      const search = query.q === '' ? undefined : planSearch(searchIndex, query.q)
      const reading = await asked(key, statementFor(query, search?.plan), {
        ...filters,
        ...search?.values,
        limit,
        offset: offset > maxInteger ? maxInteger : offset,
        shownOffset: offset,
      })
      return reading as CachedBody
    },
    async get(id) {
      const key = `${resource.path}/${id}`
      return (await kept(key)) ?? asked(key, statements.get, { id })
    },
    conflicts,
    async create(row, retry) {
      const creation = await create(row, retry)
      if (++created % manyCreates === 0) void gather()
      return creation
    },
  }
}
