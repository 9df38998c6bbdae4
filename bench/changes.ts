/** What the log of changes costs: creates and updates with it and without, and pages of a long log beside those of an empty one. */
import { allRights } from '../engine/descriptor/access.js'
import { integer, text } from '../engine/descriptor/index.js'
import { withLogging } from '../engine/descriptor/logging.js'
import { type Resource, resourceFrom } from '../engine/descriptor/registry.js'
import { openStorage } from '../engine/storage/open.js'
import type { Storage } from '../engine/storage/storage.js'
import { median } from '../support/statistics.js'
import { storageOptions } from '../support/storageOptions.js'

const [rounds, writesPerRound, clients] = [9, 400, 16]
const entries = 1_000_000
const reads = 200

const kinds = {
  neither: {},
  changes: { changes: true },
  history: { history: true },
  both: { changes: true, history: true },
}
type KindName = keyof typeof kinds
export const kindNames = Object.keys(kinds) as KindName[]

export interface ChangesTime {
  /** Writes a second, by what the resource has. */
  readonly creates: Readonly<Record<KindName, number>>
  readonly updates: Readonly<Record<KindName, number>>
  /** Milliseconds of a page of changes and of a history, in an empty log and near the end of a long one. */
  readonly page: readonly [empty: number, long: number]
  readonly history: readonly [empty: number, long: number]
}

const resource = (table: string, options: object): Resource =>
  resourceFrom(
    table,
    {
      name: table,
      area: 'Bench',
      table,
      required: ['title'],
      create: true,
      update: true,
      fields: { title: text(), pages: integer(), about: text() },
      ...options,
    } as never,
    [],
  )

const registry = withLogging(Object.entries(kinds).map(([name, options]) => resource(`books_${name}`, options)))

const about = 'A sentence about the book, as long as most of them are. '.repeat(3)

/** Runs work in some clients, each after its last; returns how often a second. */
const rateOf = async (work: (n: number) => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  let next = 0
  const client = async () => {
    while (next < writesPerRound) await work(next++)
  }
  await Promise.all(Array.from({ length: clients }, client))
  return (writesPerRound * 1_000) / (performance.now() - started)
}

const measureWrites = async (storage: Storage) => {
  const rates = registry.map(() => ({ creates: [] as number[], updates: [] as number[] }))
  for (let round = 0; round < rounds; round++)
    for (const [n, one] of registry.entries()) {
      const table = storage.table(one)
      const values = (title: string) => ({ title, pages: round, about })
      const first = round * writesPerRound
      const creates = await rateOf((at) =>
        table.write({ kind: 'insert', values: values(`Book ${first + at}`), by: 'bench' }),
      )
      const updates = await rateOf((at) =>
        table.write({
          kind: 'update',
          id: String(first + at + 1),
          values: { title: `Book ${at}, again` },
          stamps: {},
          by: 'bench',
        }),
      )
      rates[n]?.creates.push(creates)
      rates[n]?.updates.push(updates)
    }
  const ofAll = (of: 'creates' | 'updates') =>
    Object.fromEntries(kindNames.map((name, n) => [name, median(rates[n]?.[of] ?? [])])) as Record<KindName, number>
  return { creates: ofAll('creates'), updates: ofAll('updates') }
}

/** Milliseconds of a read, after some that are not counted. */
const timeOf = async (read: () => Promise<unknown>): Promise<number> => {
  const times: number[] = []
  for (let n = 0; n < reads; n++) {
    const started = performance.now()
    await read()
    times.push(performance.now() - started)
  }
  return median(times.slice(reads / 10))
}

/** The times of pages that tell of a hundred creates, and of the history of a row with one entry. */
const measurePages = async (storage: Storage): Promise<readonly [page: number, history: number]> => {
  const both = registry.at(-1) as Resource
  const table = storage.table(both)
  const here = await storage.changes(both, { rights: allRights, after: undefined, limit: 1 })
  if (here === 'resync') throw new Error('the log has no position')
  let id = ''
  for (let n = 0; n < 100; n++) {
    const outcome = await table.write({ kind: 'insert', values: { title: `Page ${n}`, pages: n, about }, by: 'bench' })
    if ('id' in outcome) id = outcome.id
  }
  return [
    await timeOf(() => storage.changes(both, { rights: allRights, after: here.next, limit: 100 })),
    await timeOf(() => storage.history(both, id, { rights: allRights, limit: 50, offset: 0n })),
  ]
}

/** `analyze` runs once the log is long: a server collects the statistics that it plans with. */
export const measureChanges = async (url: string, analyze: (url: string) => Promise<void>): Promise<ChangesTime> => {
  const storage = await openStorage(registry, url, { ...storageOptions, demo: false, cacheBytes: 0 })
  const [emptyPage, emptyHistory] = await measurePages(storage)
  const writes = await measureWrites(storage)
  const both = registry.at(-1) as Resource
  const batch = 10_000
  for (let from = 0; from < entries; from += batch)
    await storage.fill([
      {
        resource: both,
        rows: Array.from({ length: batch }, (_, n) => ({
          id: 1_000_000 + from + n,
          title: `Book ${from + n}`,
          pages: n,
          about,
        })),
      },
    ])
  await analyze(url)
  const [longPage, longHistory] = await measurePages(storage)
  await storage.close()
  return { ...writes, page: [emptyPage, longPage], history: [emptyHistory, longHistory] }
}
