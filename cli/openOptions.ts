/** How the commands open a database that they fill: with few connections, and time for many rows. */
import { stepProgress } from '../engine/process/progress.js'
import type { Settings } from '../engine/process/settings.js'
import type { StorageOptions } from '../engine/storage/options.js'
import { CommandError, warnUser } from '../support/options.js'
import { projectMigrations } from './project.js'

export const openOptions = (settings: Settings, size: number, statementMs: number): StorageOptions => ({
  demo: false,
  cacheBytes: 0,
  readTimeoutMs: settings.READ_TIMEOUT_MS,
  pool: {
    size,
    waitMs: settings.POOL_WAIT_MS,
    idleMs: settings.POOL_IDLE_MS,
    statementMs,
    preparedStatements: settings.PREPARED_STATEMENTS,
  },
  derivedObjects: settings.DERIVED_OBJECTS,
  progress: stepProgress(),
  warn: warnUser,
  files: projectMigrations(),
})

/** Throws if the database would be lost when the command ends. */
export const requireFile = (url: string): void => {
  if (url !== 'sqlite::memory:') return
  throw new CommandError('DATABASE_URL is sqlite::memory:, which is lost when the command ends; use a file.')
}
