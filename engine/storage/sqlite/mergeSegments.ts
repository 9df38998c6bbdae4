/**
 * Merges the segments that writes leave in the search indexes: a search opens each of them, so few segments are searched
 * several times as fast as many. Works in small steps, each in a separate commit, while there is nothing else to write.
 */
import type { Database } from 'better-sqlite3'

/** How many pages a step writes: some ten milliseconds of work. */
const pagesPerStep = 64

/** Makes a function that does one step and says whether there was anything to do. */
export const segmentMerger = (database: Database): (() => boolean) => {
  const indexes = database
    .prepare(`select name from sqlite_schema where name like 'registry\\_%\\_search' escape '\\' and type = 'table'`)
    .pluck()
    .all() as string[]
  const merges = indexes.map((name) => database.prepare(`insert into ${name} (${name}, rank) values ('merge', ?)`))
  const changes = database.prepare('select total_changes()').pluck()
  const dataVersion = database.prepare('pragma data_version').pluck()
  const currentState = () => `${dataVersion.get()} ${changes.get()}`
  /** The state of the database in which nothing was left to merge. */
  let mergedState: string | undefined
  return () => {
    if (currentState() === mergedState) return false
    for (const merge of merges) {
      const before = changes.get() as number
      merge.run(pagesPerStep)
      // A merge that finds nothing to do counts as one change: the statement itself.
      if ((changes.get() as number) - before > 1) return true
    }
    mergedState = currentState()
    return false
  }
}
