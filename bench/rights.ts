/** Compares a page by a rule of access through references with the same page by a copied column. */
import { rightsOf } from '../engine/descriptor/access.js'
import { claim } from '../engine/descriptor/define.js'
import { integer, text } from '../engine/descriptor/index.js'
import { defaultListQuery, type ListQuery } from '../engine/descriptor/listQuery.js'
import { type Resource, type RowValues, resourceFrom } from '../engine/descriptor/registry.js'
import { withRulePaths } from '../engine/descriptor/rulePaths.js'
import { openStorage } from '../engine/storage/open.js'
import type { Storage } from '../engine/storage/storage.js'
import { median } from '../support/statistics.js'
import { storageOptions } from '../support/storageOptions.js'

const rows = 300_000
const rounds = 15

/** The parts of the rows that a caller sees, in thousandths. */
const shares = [1, 10, 500]

/** The rules that are compared: by a copied column, and through references. */
const rules = {
  copied: 'owner',
  'one reference': 'loan_id.owner',
  'three references': 'loan_id.borrower_id.group_id.owner',
}

const options = { ...storageOptions, demo: false, cacheBytes: 0 }

export interface RightsTime {
  readonly rule: string
  /** How many of a thousand rows the caller sees. */
  readonly share: number
  /** Milliseconds of a first page with its total, and of the page after it. */
  readonly first: number
  readonly next: number
}

/** One of each thousand belongs to `1`, ten to `10` and half of them to `500`. */
const ownerOf = (n: number): string => {
  const place = n % 1_000
  return place < 500 ? '500' : place < 510 ? '10' : place < 511 ? '1' : 'nobody'
}

const resource = (path: string, fields: Record<string, unknown>, access?: object): Resource =>
  resourceFrom(
    path,
    { name: path, area: 'Bench', table: path, required: [], create: false, fields, ...(access && { access }) } as never,
    [],
  )

const owner = text({ filter: true })
const groups = resource('groups', { owner })
const borrowers = resource('borrowers', { group_id: integer({ references: 'groups', filter: true }) })
const loans = resource('loans', { owner, borrower_id: integer({ references: 'borrowers', filter: true }) })
const itemFields = { owner, title: text({ sort: true }), loan_id: integer({ references: 'loans', filter: true }) }
const itemsBy = (rule: string) => resource('items', itemFields, { read: { [rule]: claim('owner') } })

/** The rows; each item has the owner of its loan, and each loan that of the group of its borrower. */
const fill = async (storage: Storage): Promise<void> => {
  const counts = { groups: 1_000, borrowers: 5_000, loans: 30_000 }
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
  const make: [Resource, number, (n: number) => RowValues][] = [
    [groups, counts.groups, (n) => ({ id: n + 1, owner: ownerOf(n) })],
    [borrowers, counts.borrowers, (n) => ({ id: n + 1, group_id: (n % counts.groups) + 1 })],
    [loans, counts.loans, (n) => ({ id: n + 1, owner: ownerOf(n), borrower_id: (n % counts.borrowers) + 1 })],
    [
      itemsBy('owner'),
      rows,
      (n) => ({ id: n + 1, owner: ownerOf(n), title: `Item ${n}`, loan_id: (n % counts.loans) + 1 }),
    ],
  ]
  for (const [of, count, row] of make)
    for (let from = 0; from < count; from += 10_000)
      await storage.fill([{ resource: of, rows: numbers(Math.min(10_000, count - from)).map((n) => row(from + n)) }])
}

const measureShare = async (storage: Storage, items: Resource, share: number) => {
  const rights = rightsOf({ name: `of ${share}`, roles: [], claims: { owner: String(share) } })
  const table = storage.table(items, [], rights)
  const timed = async (page: ListQuery['page']) => {
    const started = performance.now()
    const { next } = await table.list({ ...defaultListQuery, page })
    return { next, ms: performance.now() - started }
  }
  const [first, next]: [number[], number[]] = [[], []]
  for (let n = 0; n < rounds; n++) {
    // Distinct pages, as of many callers.
    const page = await timed({ limit: 50 + n, offset: 0n })
    first.push(page.ms)
    if (page.next) next.push((await timed({ limit: 50 + n, offset: 0n, after: page.next })).ms)
  }
  return { first: median(first), next: median(next) }
}

/** `analyze` runs once the rows are stored: a server collects the statistics that it plans with. */
export const measureRights = async (url: string, analyze: (url: string) => Promise<void>): Promise<RightsTime[]> => {
  const filled = await openStorage([groups, borrowers, loans, itemsBy('owner')], url, options)
  await fill(filled)
  await filled.close()
  await analyze(url)
  const results: RightsTime[] = []
  for (const [rule, path] of Object.entries(rules)) {
    const registry = withRulePaths([groups, borrowers, loans, itemsBy(path)])
    const storage = await openStorage(registry, url, options)
    const items = registry.at(-1) as Resource
    for (const share of shares) results.push({ rule, share, ...(await measureShare(storage, items, share)) })
    await storage.close()
  }
  return results
}
