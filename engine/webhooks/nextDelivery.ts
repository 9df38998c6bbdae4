/** What a subscriber is told next: the changes after its position, as many as fit in one body. */
import { randomUUID } from 'node:crypto'
import { changeEntry } from '../contract/changeEntry.js'
import type { Rights } from '../descriptor/access.js'
import type { Resource } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import type { PendingDelivery } from '../storage/webhookData.js'

/** The most entries of a body, and its most bytes unless it has only one entry. */
const [maxEntries, maxBytes] = [100, 1024 * 1024]

type Changes = Pick<Storage, 'changes'>

export const positionNow = async (storage: Changes, resource: Resource, rights: Rights): Promise<string> => {
  const page = await storage.changes(resource, { rights, after: undefined, limit: 1 })
  if (page === 'resync') throw new Error(`the position of now of ${resource.path} is none of this database`)
  return page.next
}

/** How many of some entries fit, with the comma after each. */
const countFitting = (entries: readonly string[], bytes: number): number => {
  let left = bytes
  const last = entries.findIndex((entry) => {
    left -= Buffer.byteLength(entry) + 1
    return left < 0
  })
  return last < 0 ? entries.length : last
}

type Next = Omit<PendingDelivery, 'reader'> & { readonly isResync: boolean }

/** The next delivery; or, where there is nothing to tell, the position after what was read, and whether there is more to read. */
export const nextDelivery = async (
  storage: Changes,
  resource: Resource,
  rights: Rights,
  position: string,
): Promise<Next | { readonly next: string; readonly more: boolean }> => {
  const id = `msg_${randomUUID().replaceAll('-', '')}`
  for (let limit = maxEntries; ; ) {
    const page = await storage.changes(resource, { rights, after: position, limit })
    if (page === 'resync') {
      // Of before it is told: whoever then reads the list misses nothing.
      const next = await positionNow(storage, resource, rights)
      return { id, body: JSON.stringify({ type: `${resource.path}.resync` }), next, since: Date.now(), isResync: true }
    }
    const { changes, next, more } = page
    if (changes.length === 0) return { next, more }
    const head = `{"type":"${resource.path}.changed","timestamp":"${new Date().toISOString()}","data":{"changes":[`
    const entries = changes.map((change) => String(changeEntry(resource, change)))
    const fitting = countFitting(entries, maxBytes - head.length - 3)
    if (fitting === entries.length || limit === 1) {
      const since = changes.reduce((first, { at }) => Math.min(first, at), Date.now())
      return { id, body: `${head}${entries.join()}]}}`, next, since, isResync: false }
    }
    // The position after a part of the page is that of a shorter page.
    limit = Math.max(1, Math.min(fitting, limit - 1))
  }
}
