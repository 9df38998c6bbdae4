/** A lock of several processes: that of an SQLite file beside the database, which the system releases when its process ends. */
import { closeSync, openSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database as Connection } from 'better-sqlite3'
import { fileIdentity } from './connection.js'
import { Database } from './driver.js'

const pauseMs = 200

/** Takes the lock, unless another process has it, or has just removed its file. */
const tryLock = (path: string): Connection | undefined => {
  closeSync(openSync(path, 'a'))
  // Read before the file is opened: if it is still at its path once it is locked, it is the one that was opened.
  const identity = fileIdentity(path)
  const lock = new Database(path, { timeout: 0 })
  try {
    lock.exec('begin exclusive')
    if (identity !== undefined && fileIdentity(path) === identity) return lock
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) throw error
  }
  lock.close()
  return undefined
}

/** Runs work while no other process does so with the same file; waits for one that does, and says so once. */
export const whileLocked = async <T>(
  path: string,
  warn: (message: string) => void,
  work: () => Promise<T>,
): Promise<T> => {
  let lock = tryLock(path)
  if (!lock) warn('Another process migrates the database; waiting for it.')
  while (!lock) {
    await sleep(pauseMs)
    lock = tryLock(path)
  }
  try {
    return await work()
  } finally {
    // While it is locked: whoever has opened it sees that it is gone, and makes a new one.
    rmSync(path, { force: true })
    lock.close()
  }
}
