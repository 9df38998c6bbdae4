/** Reads and writes of one resource on any database: version → cache → plan → dialect → cache. */
import { createHash } from 'node:crypto'
import type { Registry, Resource } from '../descriptor/registry.js'
import { spreadOverTicks } from '../process/batchPerTick.js'
import type { StreamPart, TableDialect, VersionedBody } from './dialect.js'
import { cacheKey, emptyPage, planOf } from './plan.js'
import type { ResponseCache } from './responseCache.js'
import type { CachedBody, Table } from './storage.js'
import { elapsed, type Trace } from './trace.js'
import { rowTag } from './write.js'

/** The page for queries without one. */
const firstPage = { limit: 0, offset: 0n }

/** Before every id. */
const beforeAll = -(2n ** 63n)

/** All streams share it: the parts of hundreds of them would otherwise arrive in one tick. */
const turn = spreadOverTicks()

/** The tags of rows, by their bodies: a cached row is digested once. */
const rowTags = new WeakMap<Buffer, string>()

/** A row with its own tag, where the cache has the version of its table. */
const withOwnTag = ({ body }: CachedBody): CachedBody => {
  const tag = rowTags.get(body) ?? rowTag(body)
  rowTags.set(body, tag)
  return { tag, body }
}

/** The rows of one resource. */
const resourceTable = (resource: Resource, dialect: TableDialect, cache: ResponseCache, trace?: Trace): Table => {
  const { path } = resource
  const shape = createHash('sha256').update(dialect.shape).digest('hex').slice(0, 8)
  const tag = async (): Promise<string> => `${shape}${await dialect.version()}`

  /** The cached response, if the table has not changed since. */
  const cached = async (key: string): Promise<CachedBody | undefined> => {
    const entry = cache.get(key)
    const isHit = entry !== undefined && entry.tag === (await tag())
    cache.count(isHit)
    return isHit ? entry : undefined
  }
  const offer = (key: string, { version, body }: VersionedBody): CachedBody => {
    const entry = { tag: `${shape}${version}`, body }
    cache.offer(key, entry)
    return entry
  }

  return {
    tag,
    async list(query, caller) {
      const key = cacheKey(resource, query)
      const entry = await cached(key)
      if (entry) {
        trace?.('list', { resource: path, cache: 'hit' })
        return entry
      }
      const plan = planOf(query, dialect.isIndexed)
      if (plan.by === 'nothing') return { tag: await tag(), body: emptyPage(query) }
      const started = trace ? performance.now() : 0
      const page = await dialect.page(plan, caller)
      trace?.('list', {
        resource: path,
        cache: 'miss',
        plan: plan.by,
        filters: Object.keys(plan.filters),
        ms: elapsed(started),
      })
      return 'version' in page ? offer(key, page) : page
    },
    async *stream(query, caller) {
      const plan = planOf({ ...query, ...firstPage }, dialect.isIndexed)
      let last: bigint | undefined = plan.by === 'nothing' ? undefined : beforeAll
      while (last !== undefined) {
        await turn()
        const part: StreamPart = await dialect.part(plan, last, caller)
        if (part.rows.length > 0) yield part.rows
        last = part.last
      }
    },
    async valueCounts(query, fields, share, caller) {
      const plan = planOf({ ...query, ...firstPage }, dialect.isIndexed)
      if (plan.by === 'nothing' || fields.length === 0) return { rows: 0, values: new Map() }
      return dialect.valueCounts(plan, fields, share, caller)
    },
    excerpts: dialect.excerpts,
    async get(id, caller) {
      const key = `${path}/${id}`
      const entry = await cached(key)
      if (entry) {
        trace?.('get', { resource: path, cache: 'hit' })
        return withOwnTag(entry)
      }
      const started = trace ? performance.now() : 0
      const row = await dialect.row(id, caller)
      trace?.('get', { resource: path, cache: 'miss', ms: elapsed(started) })
      return row && withOwnTag(offer(key, row))
    },
    hasKey: dialect.hasKey,
    conflicts: dialect.conflicts,
    async write(write) {
      const started = trace ? performance.now() : 0
      const outcome = await dialect.write(write)
      trace?.(write.kind, { resource: path, ms: elapsed(started) })
      return outcome
    },
  }
}

/** Makes the table of every resource; returns the function that finds it. */
export const resourceTables = (
  registry: Registry,
  dialectOf: (resource: Resource) => TableDialect,
  cache: ResponseCache,
  trace?: Trace,
): ((resource: Resource) => Table) => {
  const tables = new Map(
    registry.map((resource) => [resource, resourceTable(resource, dialectOf(resource), cache, trace)]),
  )
  return (resource) => {
    const table = tables.get(resource)
    if (table === undefined) throw new TypeError(`${resource.path} is not of this registry`)
    return table
  }
}
