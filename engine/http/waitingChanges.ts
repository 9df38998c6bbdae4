/**
 * The clients that wait for a change. All of them together cost one check of versions a second, and one read for those who may read the
 * same and have read as far; none holds a connection of the database.
 */
import type { Rights } from '../descriptor/access.js'
import { pathResources } from '../descriptor/logging.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { Caller, ChangesPage, Storage } from '../storage/storage.js'
import { createTurns } from '../storage/transaction.js'
import type { InFlight } from './requestLog.js'

/** How often the versions of the tables are checked while somebody waits, in milliseconds. */
const checkMs = 1_000

/** How many reads run at a time: clients with rights of their own must not take the database from all others. */
const maxReads = 4

export type Followed = ChangesPage | 'resync'

/** What a client follows. */
export interface Following {
  readonly resource: Resource
  readonly rights: Rights
  /** That of the rights: clients with the same one may read the same. */
  readonly digest: string
  readonly after: string
  readonly limit: number
}

interface Client {
  /** Where it is by now: a change that it may not see has moved it on. */
  group: Group
  readonly resolve: (page: Followed) => void
  readonly reject: (error: unknown) => void
}

/** Clients that wait for the same. */
interface Group {
  following: Following
  readonly clients: Set<Client>
  isReading: boolean
  /** The versions with which there was nothing to tell; undefined if none are known. */
  versions: string | undefined
}

const keyOf = ({ resource, digest, limit, after }: Following): string =>
  JSON.stringify([resource.path, digest, limit, after])

export const waitingChanges = (
  { storage, registry }: { storage: Pick<Storage, 'changes' | 'versions'>; registry: Registry },
  inFlight: InFlight,
) => {
  const groups = new Map<string, Group>()
  const turns = createTurns(maxReads)
  let timer: NodeJS.Timeout | undefined
  /** As they were when they were checked last. */
  let versions: ReadonlyMap<Resource, string> = new Map()
  let isClosed = false

  /** The tables that decide what a client is told. */
  const tablesOf = ({ resource, rights }: Following): Resource[] =>
    rights.of(resource).read === 'all' ? [resource] : [resource, ...pathResources(registry, resource)]

  const versionsOf = (following: Following): string | undefined => {
    const known = tablesOf(following).map((resource) => versions.get(resource))
    return known.includes(undefined) ? undefined : known.join()
  }

  const add = (following: Following, known?: string): Group => {
    const group: Group = { following, clients: new Set(), isReading: false, versions: known }
    groups.set(keyOf(following), group)
    return group
  }

  /** Lets a group wait from another position on, together with those who wait there already. */
  const move = (group: Group, after: string): void => {
    groups.delete(keyOf(group.following))
    group.following = { ...group.following, after }
    const other = groups.get(keyOf(group.following))
    if (!other) return void groups.set(keyOf(group.following), group)
    for (const client of group.clients) {
      client.group = other
      other.clients.add(client)
    }
    group.clients.clear()
  }

  const end = (group: Group, answer: (client: Client) => void): void => {
    groups.delete(keyOf(group.following))
    for (const client of group.clients) answer(client)
  }

  const readPages = async (group: Group): Promise<void> => {
    while (group.clients.size > 0) {
      const { resource, rights, after, limit } = group.following
      // Of before the read, which sees at least these.
      const known = versionsOf(group.following)
      const page = await storage.changes(resource, { rights, after, limit })
      if (page === 'resync') return end(group, ({ resolve }) => resolve(page))
      if (page.changes.length > 0) {
        end(group, ({ resolve }) => resolve(page))
        // Its clients come back in a moment, to wait for what follows.
        const next = { ...group.following, after: page.next }
        if (!page.more && !groups.has(keyOf(next))) add(next, known)
        return
      }
      move(group, page.next)
      group.versions = known
      if (!page.more) return
    }
  }

  /** Answers the clients of a group if there is anything to tell. */
  const read = async (group: Group): Promise<void> => {
    if (group.isReading) return
    group.isReading = true
    const leave = await turns.enter(Number.POSITIVE_INFINITY)
    try {
      await readPages(group)
    } catch (error) {
      end(group, ({ reject }) => reject(error))
    } finally {
      leave()
    }
    group.isReading = false
  }

  const check = async (): Promise<void> => {
    for (const [key, { clients, isReading }] of groups) if (clients.size === 0 && !isReading) groups.delete(key)
    if (groups.size === 0) {
      timer = undefined
      versions = new Map()
      return
    }
    try {
      versions = await storage.versions([
        ...new Set([...groups.values()].flatMap((group) => tablesOf(group.following))),
      ])
      const changed = [...groups.values()].filter(
        (group) => group.versions === undefined || group.versions !== versionsOf(group.following),
      )
      await Promise.all(changed.map(read))
    } catch (error) {
      for (const group of groups.values()) end(group, ({ reject }) => reject(error))
    }
    if (!isClosed) timer = setTimeout(check, checkMs)
  }

  return {
    get isClosed() {
      return isClosed
    },
    /** The next page that is not empty, as soon as there is one; an empty one if there is none in time. */
    next(following: Following, waitMs: number, response: Caller): Promise<Followed> {
      const { resource, rights, after, limit } = following
      if (isClosed) return storage.changes(resource, { rights, after, limit })
      inFlight.waiting++
      timer ??= setTimeout(check, checkMs)
      const known = groups.get(keyOf(following))
      const group = known ?? add(following)
      return new Promise<Followed>((resolve, reject) => {
        const client: Client = {
          group,
          resolve(page) {
            leave()
            resolve(page)
          },
          reject(error) {
            leave()
            reject(error)
          },
        }
        const giveUp = () => client.resolve({ changes: [], next: client.group.following.after, more: false })
        const limit = setTimeout(giveUp, waitMs)
        const leave = () => {
          inFlight.waiting--
          clearTimeout(limit)
          response.off('close', giveUp)
          client.group.clients.delete(client)
        }
        if (response.closed) return giveUp()
        response.once('close', giveUp)
        group.clients.add(client)
        if (!known) void read(group)
      })
    },
    /** Ends all waits; what is asked for afterwards does not wait. */
    close(): void {
      isClosed = true
      clearTimeout(timer)
      const clients = [...groups.values()].flatMap((group) => [...group.clients])
      for (const { resolve, group } of clients) resolve({ changes: [], next: group.following.after, more: false })
    },
  }
}

export type WaitingChanges = ReturnType<typeof waitingChanges>
