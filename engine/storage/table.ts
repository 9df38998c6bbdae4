/** Reads and writes of one resource on any database: version → cache → plan → dialect → cache. */
import { createHash } from 'node:crypto'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { TableDialect, VersionedBody } from './dialect.js'
import { type FoundIds, type LargePage, largePageBody, rowsInParts } from './parts.js'
import { emptyPage, listKey, planRead } from './plan.js'
import type { ResponseCache } from './responseCache.js'
import { singleFlight } from './singleFlight.js'
import type { CachedBody, Table } from './storage.js'
import { elapsed, type Trace } from './trace.js'
import { rowTag } from './write.js'

/** The tags of rows, by their bodies: a cached row is digested once. */
const rowTags = new WeakMap<Buffer, string>()

/** A row with its own tag, where the cache has the version of its table. */
const withOwnTag = ({ body }: CachedBody): CachedBody => {
  const tag = rowTags.get(body) ?? rowTag(body)
  rowTags.set(body, tag)
  return { tag, body }
}

const resourceTable = (resource: Resource, dialect: TableDialect, cache: ResponseCache, trace?: Trace): Table => {
  const { path } = resource
  const shape = createHash('sha256').update(dialect.shape).digest('hex').slice(0, 8)
  const share = singleFlight<VersionedBody | LargePage>()
  const tag = async (): Promise<string> => `${shape}${await dialect.version()}`

  const cached = async (operation: string, key: string): Promise<CachedBody | undefined> => {
    const entry = cache.get(key)
    const isHit = entry !== undefined && entry.tag === (await tag())
    cache.count(isHit)
    if (!isHit) return undefined
    trace?.(operation, { resource: path, cache: 'hit' })
    return entry
  }
  const remember = (key: string, { version, body, next }: VersionedBody): CachedBody => {
    const entry = { tag: `${shape}${version}`, body, next }
    cache.storeOnSecondRequest(key, entry)
    return entry
  }

  return {
    tag,
    async list(query, caller) {
      const key = `${path}?${listKey(query)}`
      const entry = await cached('list', key)
      if (entry) return entry
      const plan = planRead(query, dialect.isIndexed)
      const { strategy, where } = plan
      if (strategy === 'nothing') return { tag: await tag(), body: emptyPage(query.page) }
      const started = trace ? performance.now() : 0
      const page = await share(
        key,
        caller,
        () => dialect.page(plan, query.page, caller),
        async () => {
          const now = await dialect.version()
          return (found) => 'body' in found && found.version === now
        },
      )
      const filters = where.map(({ field }) => field)
      trace?.('list', { resource: path, cache: 'miss', plan: strategy, filters, ms: elapsed(started) })
      if ('body' in page) return remember(key, page)
      return { body: largePageBody(page, (ids) => dialect.part(ids, caller)), next: page.next }
    },
    async *stream(selection, caller, format) {
      const read = (ids: BigInt64Array) => dialect.part(ids, caller, format)
      const plan = planRead(selection, dialect.isIndexed)
      if (plan.strategy === 'nothing') return
      let last: FoundIds['last']
      do {
        const found: FoundIds = await dialect.ids(plan, last, caller)
        yield* rowsInParts(found.ids, read)
        last = found.last
      } while (last !== undefined)
    },
    async valueCounts(selection, fields, size, caller) {
      const plan = planRead(selection, dialect.isIndexed)
      if (plan.strategy === 'nothing' || fields.length === 0) return { rows: 0, values: new Map() }
      return dialect.valueCounts(plan, fields, size, caller)
    },
    excerpts: dialect.excerpts,
    async get(id, caller) {
      const key = `${path}/${id}`
      const entry = await cached('get', key)
      if (entry) return withOwnTag(entry)
      const started = trace ? performance.now() : 0
      const row = await dialect.row(id, caller)
      trace?.('get', { resource: path, cache: 'miss', ms: elapsed(started) })
      return row && withOwnTag(remember(key, row))
    },
    hasKey: dialect.hasKey,
    conflicts: dialect.conflicts,
    referencing: dialect.referencing,
    async write(write) {
      const started = trace ? performance.now() : 0
      const outcome = await dialect.write(write)
      trace?.(write.kind, { resource: path, ms: elapsed(started) })
      return outcome
    },
  }
}

export const resourceTables = (
  registry: Registry,
  createDialect: (resource: Resource) => TableDialect,
  createPlain: (resource: Resource) => Table | undefined,
  cache: ResponseCache,
  trace?: Trace,
): ((resource: Resource) => Table) => {
  const tables = new Map(
    registry.map((resource) => [
      resource,
      createPlain(resource) ?? resourceTable(resource, createDialect(resource), cache, trace),
    ]),
  )
  return (resource) => {
    const table = tables.get(resource)
    if (table === undefined) throw new TypeError(`${resource.path} is not of this registry`)
    return table
  }
}
