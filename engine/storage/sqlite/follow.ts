/** Stays with the file at a path: one that was put back in its place, from a backup say, is opened instead of the old. */

import { type Storage, Unavailable } from '../storage.js'
import { rethrow, withStorageErrors } from './errors.js'
import { identityOf } from './file.js'

/** How often it looks, in milliseconds. */
const every = 500

/** A storage that is opened again when its file has become another. */
export const followFile = (path: string, open: (again: boolean) => Storage): Storage => {
  let current = open(false)
  let opened = identityOf(path)
  const look = (): void => {
    const now = identityOf(path)
    if (now === undefined || now === opened) return
    try {
      const next = open(true)
      void current.close()
      current = next
      opened = now
    } catch {
      // It may still be on its way here; it is looked at again.
    }
  }
  const looking = setInterval(look, every)
  looking.unref()
  return {
    table: (resource) => withStorageErrors(() => current.table(resource)),
    counts: () => current.counts().catch(rethrow),
    load: (resource, rows) => current.load(resource, rows),
    rows: (resource, after, count) => current.rows(resource, after, count),
    fill: (batches) => current.fill(batches),
    async ping() {
      if (identityOf(path) !== opened) throw new Unavailable('the database file is not where it was')
      await current.ping().catch(rethrow)
    },
    close() {
      clearInterval(looking)
      return current.close()
    },
  }
}
