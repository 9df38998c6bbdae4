/** Somebody who follows the changes of a resource, and keeps a copy of its rows. */
import type { Rights } from '../../engine/descriptor/access.js'
import { defaultListQuery } from '../../engine/descriptor/listQuery.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import type { Change, Storage } from '../../engine/storage/storage.js'

/** The rows that a caller may read, as JSON by their ids. */
export const rowsSeen = async (
  storage: Storage,
  resource: Resource,
  rights: Rights,
): Promise<ReadonlyMap<string, string>> => {
  const parts: Uint8Array[] = []
  for await (const part of storage.table(resource, [], rights).stream(defaultListQuery)) parts.push(part)
  const lines = String(Buffer.concat(parts)).split('\n').filter(Boolean)
  return new Map(lines.map((line) => [String(JSON.parse(line).id), line]))
}

export const follower = (storage: Storage, resource: Resource, rights: Rights, limit = 3) => {
  let rows = new Map<string, string>()
  let position = ''
  let told: Change[] = []
  const begin = async (): Promise<void> => {
    const first = await storage.changes(resource, { rights, after: undefined, limit })
    if (first === 'resync') throw new Error('there is no position of now')
    position = first.next
    rows = new Map(await rowsSeen(storage, resource, rights))
  }
  return {
    begin,
    rows: () => rows,
    position: () => position,
    /** Applies all pages; returns what they told, or that the follower has to begin again. */
    async catchUp(): Promise<readonly Change[] | 'resync'> {
      told = []
      for (;;) {
        const page = await storage.changes(resource, { rights, after: position, limit })
        if (page === 'resync') return 'resync'
        if (page.changes.length > limit) throw new Error(`a page of ${page.changes.length} rows, not ${limit}`)
        if (new Set(page.changes.map(({ id }) => id)).size < page.changes.length)
          throw new Error('a row twice in a page')
        for (const change of page.changes) {
          if (change.op === 'put') rows.set(change.id, String(change.row))
          else rows.delete(change.id)
        }
        told.push(...page.changes)
        position = page.next
        if (!page.more) return told
      }
    },
  }
}
