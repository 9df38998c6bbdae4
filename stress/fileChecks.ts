/** Checks a database file after a crash: its integrity, and that counts and indexes match the rows. */

import { countsTable, quoted } from '../engine/storage/schema.js'
import { Database } from '../engine/storage/sqlite/driver.js'
import { searchTable } from '../engine/storage/sqlite/schema.js'
import { registry } from './service.js'

/** Returns all failures; the file may be in use. */
export const checkFile = (path: string): string[] => {
  const database = new Database(path, { timeout: 5_000 })
  const select = (sql: string) => database.prepare(sql).raw().all() as unknown[][]
  const failures: string[] = []
  const expectEqual = (name: string, actualSql: string, expectedSql: string): void => {
    const [actual, expected] = [JSON.stringify(select(actualSql)), JSON.stringify(select(expectedSql))]
    if (actual !== expected) failures.push(`${name}: ${actual.slice(0, 300)} instead of ${expected.slice(0, 300)}`)
  }
  try {
    // One write transaction: all queries see the same snapshot, and the integrity check of FTS5 is an INSERT.
    const check = database.transaction(() => {
      const integrity = select('pragma integrity_check').flat().join('; ')
      if (integrity !== 'ok') failures.push(`integrity_check: ${integrity}`)
      const dangling = select('pragma foreign_key_check')
      if (dangling.length > 0) failures.push(`foreign_key_check: ${JSON.stringify(dangling.slice(0, 5))}`)
      for (const resource of registry) {
        const { table } = resource
        const search = searchTable(resource)
        database.exec(`insert into ${search} (${search}) values ('integrity-check')`)
        expectEqual(
          `the count of ${table}`,
          `select rows from ${countsTable} where name = '${table}'`,
          `select count(*) from ${quoted(table)}`,
        )
        expectEqual(
          `the rows in the search index of ${table}`,
          `select id from ${search}_docsize except select id from ${quoted(table)}`,
          `select id from ${quoted(table)} except select id from ${search}_docsize`,
        )
      }
    })
    check.immediate()
  } catch (error) {
    failures.push(`the file cannot be checked: ${(error as Error).message}`)
  }
  database.close()
  return failures
}
