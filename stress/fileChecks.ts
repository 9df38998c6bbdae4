/** What the file itself must say after a crash: sound in every page, and its counts and indexes true to its rows. */
import Database from 'better-sqlite3'
import { blockBits } from '../engine/storage/sqlite/blocks.js'
import { blocksTable, searchTable, statesTable } from '../engine/storage/sqlite/schema.js'
import { quoted } from '../engine/storage/tables.js'
import { registry } from './service.js'

type Line = readonly unknown[]

/** Everything that is wrong with a file; it may be in use meanwhile. */
export const faultsOfFile = (path: string): string[] => {
  const database = new Database(path, { timeout: 5_000 })
  const lines = (sql: string): Line[] => database.prepare(sql).raw().all() as Line[]
  const faults: string[] = []
  const expectSame = (what: string, one: string, other: string): void => {
    const [left, right] = [JSON.stringify(lines(one)), JSON.stringify(lines(other))]
    if (left !== right) faults.push(`${what}: ${left.slice(0, 300)} is not ${right.slice(0, 300)}`)
  }
  try {
    // One moment for all questions, and no writer meanwhile: one of the questions is put as a write.
    const ask = database.transaction(() => {
      const integrity = lines('pragma integrity_check').flat().join('; ')
      if (integrity !== 'ok') faults.push(`the integrity check says ${integrity}`)
      const dangling = lines('pragma foreign_key_check')
      if (dangling.length > 0) faults.push(`references to nothing: ${JSON.stringify(dangling.slice(0, 5))}`)
      for (const resource of registry) {
        const { table } = resource
        const [search, blocks] = [searchTable(resource), blocksTable(resource)]
        database.exec(`insert into ${search} (${search}) values ('integrity-check')`)
        expectSame(
          `the count of ${table}`,
          `select rows from ${statesTable} where name = '${table}'`,
          `select count(*) from ${quoted(table)}`,
        )
        expectSame(
          `the blocks of ${table}`,
          `select block, rows from ${blocks} where rows <> 0 order by 1`,
          `select id >> ${blockBits}, count(*) from ${quoted(table)} group by 1 order by 1`,
        )
        expectSame(
          `the rows in the search index of ${table}`,
          `select id from ${search}_docsize except select id from ${quoted(table)}`,
          `select id from ${quoted(table)} except select id from ${search}_docsize`,
        )
      }
    })
    ask.immediate()
  } catch (error) {
    faults.push(`the file cannot be checked: ${(error as Error).message}`)
  }
  database.close()
  return faults
}

/** The ids of the rows that the file remembers for keys. */
export const idsOfKeys = (path: string): Map<string, number> => {
  const database = new Database(path, { readonly: true, timeout: 5_000 })
  const found = database.prepare('select key, id from registry_keys').raw().all() as [string, number][]
  database.close()
  return new Map(found)
}
