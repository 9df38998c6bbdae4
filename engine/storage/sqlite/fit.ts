/** What SQLite's errors mean, and how a table that another program has changed is noticed. */
import type { Database } from 'better-sqlite3'
import type { Resource } from '../../descriptor/registry.js'
import { bind } from '../bindings.js'
import { OutcomeUnknown, TimedOut, Unavailable } from '../storage.js'
import type { FitDialect } from '../tableFit.js'
import { serves, stores } from './catalogue.js'
import { DeadlineExceeded } from './search.js'
import type { Statements } from './statements.js'
import type { CommitCounter } from './table.js'
import { CommitUncertain } from './writes.js'

/** Errors of locks, disks and files, which are not the client's fault and may pass. */
const transient = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|CORRUPT|NOTADB|NOMEM|INTERRUPT)/

const storageError = (error: Error & { code?: string }): Error => {
  const { name, message, code = '' } = error
  if (error instanceof Unavailable || error instanceof OutcomeUnknown) return error
  // By name, because an error that crossed threads has lost its class.
  if (name === DeadlineExceeded.name) return new TimedOut('the read exceeded its time limit', { cause: error })
  if (name === CommitUncertain.name) return new OutcomeUnknown(message, { cause: error })
  const isTransient =
    transient.test(code) || message === 'The database connection is not open' || message.startsWith('the database file')
  return isTransient ? new Unavailable(message, { cause: error }) : error
}

/** Whether the schema is not as a statement expects; `indexed by` an index of other expressions has no query solution. */
const isMismatch = (error: unknown): boolean => {
  const { code, message } = error as Error & { code?: string }
  return code === 'SQLITE_ERROR' && /no such (?:table|column|index)|has no column named|no query solution/.test(message)
}

export const sqliteFit = (
  database: Database,
  statements: ReadonlyMap<string, Statements>,
  commits: CommitCounter,
): FitDialect => {
  const schemaVersion = database.prepare('pragma schema_version').pluck()
  const columns = database
    .prepare(
      `select tables.name, columns.name, lower(columns.type) from sqlite_schema as tables
        join pragma_table_xinfo(tables.name) as columns where tables.type in ('table', 'view')`,
    )
    .raw()
  let [seenCommits, seenSchema] = [commits.count(), schemaVersion.get()]
  return {
    isMismatch,
    storageError: (error) => storageError(error as Error),
    hasChanged() {
      const count = commits.count()
      if (count === seenCommits) return false
      const before = seenSchema
      seenCommits = count
      seenSchema = schemaVersion.get()
      return seenSchema !== before
    },
    columns: async () => columns.all() as [string, string, string][],
    fits: (type, kind, existing) => (existing ? serves : stores)(type, kind),
    statementError({ path }: Resource) {
      const { get, insert } = statements.get(path) ?? {}
      if (!get || !insert) return undefined
      try {
        // Runs, because only then SQLite reads a schema that another connection has changed.
        database.prepare(get.sql).get(bind(get, { id: 0 }))
        database.prepare(insert.sql)
        return undefined
      } catch (error) {
        if (!isMismatch(error)) throw error
        return (error as Error).message
      }
    },
  }
}
