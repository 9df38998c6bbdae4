/** Reopens the storage when its file is replaced, for example by a backup that was restored. */
import type { Storage } from '../storage.js'
import { withStorageErrors } from './errors.js'
import { identityOf } from './file.js'

/** How often the path is checked, in milliseconds. */
const checkInterval = 500

/** A storage that is opened again when another file is at its path. */
export const reopenOnReplace = async (
  path: string,
  open: (isReopened: boolean) => Promise<Storage>,
): Promise<Storage> => {
  let current = await open(false)
  let opened = identityOf(path)
  let isOpening = false
  const check = async (): Promise<void> => {
    const now = identityOf(path)
    if (now === undefined || now === opened || isOpening) return
    isOpening = true
    try {
      const next = await open(true)
      void current.close()
      current = next
      opened = now
    } catch {
      // The file may not be complete yet; the next check tries again.
    } finally {
      isOpening = false
    }
  }
  const timer = setInterval(check, checkInterval)
  timer.unref()
  return {
    table: (resource) => withStorageErrors(() => current.table(resource)),
    counts: () => current.counts(),
    rows: (table, after, count) => current.rows(table, after, count),
    fill: (batches) => current.fill(batches),
    stats: () => current.stats(),
    ping: () => current.ping(),
    close() {
      clearInterval(timer)
      return current.close()
    },
  }
}
