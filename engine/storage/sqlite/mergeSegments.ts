/**
 * Merges the segments that writes leave in the search indexes: a search opens each of them, so few segments are searched
 * several times as fast as many. Works in small steps, each in a separate commit, while there is nothing else to write.
 */
import type { Database, Statement } from 'better-sqlite3'

/** How many pages a step writes: some ten milliseconds of work. */
const pagesPerStep = 64

/** Makes a function that does one step and says whether there was anything to do; if not, it takes 0.1 ms and writes nothing. */
export const segmentMerger = (database: Database): (() => boolean) => {
  const indexes = database
    .prepare(`select name from sqlite_schema where name like 'registry\\_%\\_search' escape '\\' and type = 'table'`)
    .pluck()
    .all() as string[]
  const merges = indexes.map((name) => database.prepare(`insert into ${name} (${name}, rank) values ('merge', ?)`))
  const changes = database.prepare('select total_changes()').pluck()
  const merged = (merge: Statement): boolean => {
    const before = changes.get() as number
    merge.run(pagesPerStep)
    // A merge that finds nothing to do counts as one change: the statement itself.
    return (changes.get() as number) - before > 1
  }
  return () => merges.some(merged)
}
