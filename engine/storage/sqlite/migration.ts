/** A SQLite database as the migration reads and changes it. SQLite stores the SQL of each object, which is compared with the wanted one. */
import type { Database } from 'better-sqlite3'
import type { Knex } from 'knex'
import type { Resource } from '../../descriptor/registry.js'
import type { MigrationDialect } from '../migrationDialect.js'
import { type ObjectName, quoted, statesTable } from '../schema.js'
import { StorageError } from '../storage.js'
import { blockBits } from './blocks.js'
import { insertRows } from './rows.js'
import {
  allIndexes,
  blocksTable,
  bookkeepingOf,
  ownTables,
  schemaDialect,
  searchedText,
  searchTable,
} from './schema.js'

/** SQL without what makes no difference: SQLite writes the first words of stored SQL in capitals, and names may be quoted. */
const normalised = (sql: string): string => sql.toLowerCase().replaceAll(/[`"]/g, '')

/** Rows are added to the search index in batches of this size, so that progress can be reported. */
const batch = 10_000

/** The ranges of ids of the batches, as conditions. */
const batchesOf = (database: Database, table: string): string[] => {
  const numbered = `select id, row_number() over (order by id) as n from ${table}`
  const last = database.prepare(`select cast(id as text) from (${numbered}) where n % ${batch} = 0`).pluck()
  const ends = last.all() as string[]
  return [...ends.map((end, n) => `id <= ${end} and ${n > 0 ? `id > ${ends[n - 1]}` : 'true'}`), `id > ${ends.at(-1)}`]
}

/** Adds the existing rows to the search index and the blocks, and counts them. */
const recount = (database: Database, knex: Knex, resource: Resource, rows: number): string[] => {
  const [table, search] = [quoted(resource.table), searchTable(resource)]
  const fill = `insert into ${search} (rowid, text) select id, ${searchedText(knex, resource)} from ${table}`
  return [
    ...(rows > batch ? batchesOf(database, table).map((range) => `${fill} where ${range}`) : [fill]),
    // Two segments of one size are merged while there is time: see mergeSegments.ts.
    `insert into ${search} (${search}, rank) values ('usermerge', 2)`,
    // One segment is searched several times as fast as the many that a long fill leaves.
    ...(rows > batch ? [`insert into ${search} (${search}) values ('optimize')`] : []),
    `insert into ${blocksTable(resource)} select id >> ${blockBits}, count(*) from ${table} group by 1`,
    `insert or replace into ${statesTable} select '${resource.table}', count(*), hex(randomblob(8)) from ${table}`,
  ]
}

const codeOf = (error: unknown): unknown => (error as { code?: string }).code

/** A connection as the migration uses it. */
export const migrationDialect = (database: Database, knex: Knex): MigrationDialect => {
  const dialect = schemaDialect(knex)
  return {
    ...dialect,
    async execute(sql, values = []) {
      const statement = database.prepare(sql)
      if (statement.reader) return statement.all(values) as never
      statement.run(values)
      return []
    },
    deferForeignKeys: 'pragma defer_foreign_keys = ON',
    ownTables: ownTables(dialect),
    async columns(table) {
      const found = database.pragma(`table_info(${quoted(table)})`) as { name: string; notnull: 0 | 1 }[]
      return found.map(({ name, notnull }) => ({ name, isNotNull: notnull === 1 }))
    },
    derivedObjects: (resource) => ({
      indexes: allIndexes(dialect, resource),
      bookkeeping: bookkeepingOf(dialect, resource),
    }),
    async existingObjects({ table }) {
      const stored = new Map(database.prepare('select name, sql from sqlite_schema').raw().all() as [string, string][])
      const own = `select type, name from sqlite_schema where tbl_name = ? and type in ('index', 'trigger') and name glob 'registry_*'`
      return {
        names: database.prepare(own).all(table) as ObjectName[],
        isCurrent: ({ name, sql }) => normalised(stored.get(name) ?? '') === normalised(sql),
      }
    },
    drop: (_, { type, name }) => `drop ${type} if exists ${name}`,
    create: (_, { sql }) => [sql],
    recount: async (resource, rows) => recount(database, knex, resource, rows),
    isUniqueViolation: (error) => codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE',
    async insertRows(resource, rows) {
      insertRows(database, knex, resource, rows)
    },
    async transaction(work) {
      try {
        database.exec('begin immediate')
        await work()
        database.exec('commit')
      } catch (error) {
        if (codeOf(error) !== 'SQLITE_READONLY') throw error
        throw new StorageError('the file is read-only and lacks what the descriptors ask for; make it writable')
      } finally {
        if (database.inTransaction) database.exec('rollback')
      }
    },
  }
}
