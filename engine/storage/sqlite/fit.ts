/** Compares the tables with their resources while the service runs: their columns, and whether the statements still work. */
import type { Database } from 'better-sqlite3'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { bind } from '../bindings.js'
import { columnDifference, type FitDialect } from '../tableFit.js'
import { stores } from './catalogue.js'
import type { CommitCounter } from './commitCounter.js'
import { isMismatch } from './errors.js'
import type { Statements } from './statements.js'

export const fitOf = (
  database: Database,
  registry: Registry,
  statements: ReadonlyMap<string, Statements>,
  commits: CommitCounter,
): FitDialect => {
  const schemaVersion = database.prepare('pragma schema_version').pluck()
  const columns = database.prepare('select name, lower(type) from pragma_table_xinfo(?)').raw()
  let [seenCommits, seenSchema] = [commits.count(), schemaVersion.get()]

  /** The error of a statement that reads or stores a row; undefined if both work. */
  const statementError = ({ path }: Resource): string | undefined => {
    const { get, insert } = statements.get(path) as Statements
    try {
      // Runs, because only then SQLite reads a schema that another connection has changed.
      database.prepare(get.sql).get(bind(get, { id: 0 }))
      database.prepare(insert.sql)
      return undefined
    } catch (error) {
      if (!isMismatch(error)) throw error
      return (error as Error).message
    }
  }
  return {
    isMismatch,
    hasChanged() {
      const count = commits.count()
      if (count === seenCommits) return false
      const before = seenSchema
      seenCommits = count
      seenSchema = schemaVersion.get()
      return seenSchema !== before
    },
    async differences() {
      const changed = new Map<Resource, string>()
      for (const resource of registry) {
        const types = new Map(columns.all(resource.table) as [string, string][])
        const difference = columnDifference(resource, types, stores) ?? statementError(resource)
        if (difference !== undefined) changed.set(resource, difference)
      }
      return changed
    },
  }
}
