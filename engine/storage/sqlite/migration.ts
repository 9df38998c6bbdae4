/** The migration dialect of SQLite. SQLite stores the SQL of each object, which is compared with the expected SQL. */
import { setImmediate } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { boundValue, type KindSpec } from '../../descriptor/kinds/index.js'
import type { Resource } from '../../descriptor/registry.js'
import { StorageError } from '../failures.js'
import { convert } from '../migration/conversions.js'
import type { Execute, MigrationDialect } from '../migration/migrationDialect.js'
import { splitIntoBatches } from '../migration/rows.js'
import { countsTable, type ObjectName, quoted } from '../schema.js'
import { isCompatible, readCatalogue, tableNames } from './catalogue.js'
import { whileLocked } from './lockFile.js'
import { logTables, memberNames, resetLog, withMember } from './log.js'
import { rebuild, specText } from './rebuild.js'
import { insertRows } from './rows.js'
import { columnOf, derivedObjects, indexedText, ownTables, rowKey, schemaDialect, searchTable } from './schema.js'

/** SQL in a form that can be compared: SQLite stores the first words in capitals, and names may be quoted. */
const normalised = (sql: string): string => sql.toLowerCase().replaceAll(/[`"]/g, '')

/** Rows are added to the search index in batches of this size, so that progress can be reported. */
const batch = 10_000

/** Adds the existing rows to the search index, and counts them. */
const fill = async (execute: Execute, resource: Resource, rows: number): Promise<string[]> => {
  const [table, search] = [quoted(resource.table), searchTable(resource)]
  const add = `insert into ${search} (rowid, text) select ${rowKey(resource)}, ${indexedText(resource)} from ${table}`
  return [
    ...(await splitIntoBatches(execute, table, batch, rows)).map((range) => `${add} where ${range}`),
    // One segment is searched several times as fast as the many that a long fill leaves.
    ...(rows > batch ? [`insert into ${search} (${search}) values ('optimize')`] : []),
    `insert or replace into ${countsTable} select '${resource.table}', count(*), hex(randomblob(8)) from ${table}`,
  ]
}

const refuseBrokenReferences = (database: Database): void => {
  const [broken] = database.pragma('foreign_key_check') as { table: string; rowid: number; parent: string }[]
  if (!broken) return
  const { table, rowid, parent } = broken
  throw new StorageError(`row ${rowid} of "${table}" references a row of "${parent}" that does not exist`)
}

const errorCode = (error: unknown): unknown => (error as { code?: string }).code

const savedIndexesSql = `select name, sql from sqlite_schema
  where tbl_name = ? and type = 'index' and name glob 'registry_*' and sql is not null`

export const migrationDialect = (database: Database, warn: (message: string) => void = () => {}): MigrationDialect => {
  database.function('registry_converted', { safeIntegers: true }, (value, from, to) => {
    const [before, after] = [from, to].map((spec) => JSON.parse(String(spec))) as [KindSpec, KindSpec]
    if (value === null) return null
    const converted = convert(String(value), before, columnOf(before), after)
    if (converted === undefined) throw new StorageError(`"${value}" does not convert to ${after.kind}`)
    return boundValue(columnOf(after), converted)
  })
  const execute: Execute = async (sql, values = []) => {
    const statement = database.prepare(sql)
    if (statement.reader) return statement.all(values) as never
    statement.run(values)
    return []
  }
  const countedTables = (): string[] => {
    if (!readCatalogue(database, countsTable)) return []
    return database.prepare(`select name from ${countsTable}`).pluck().all() as string[]
  }
  const drop = ({ type, name }: ObjectName): string => `drop ${type} if exists ${name}`
  const transaction = async (work: () => Promise<void>, isRebuilding = false): Promise<void> => {
    try {
      // Otherwise dropping a table deletes its rows one by one, and fails where others refer to them.
      if (isRebuilding) database.pragma('foreign_keys = OFF')
      database.exec('begin immediate')
      await work()
      if (isRebuilding) refuseBrokenReferences(database)
      database.exec('commit')
    } catch (error) {
      // The commit fails without naming a row.
      if (errorCode(error) === 'SQLITE_CONSTRAINT_FOREIGNKEY' && database.inTransaction)
        refuseBrokenReferences(database)
      if (errorCode(error) !== 'SQLITE_READONLY') throw error
      throw new StorageError('the file is read-only and lacks what the descriptors ask for; make it writable')
    } finally {
      if (database.inTransaction) database.exec('rollback')
      database.pragma('foreign_keys = ON')
    }
  }
  /** Foreign keys are checked at its end. */
  const deferring = (work: () => Promise<void>): Promise<void> =>
    transaction(() => {
      database.pragma('defer_foreign_keys = ON')
      return work()
    })
  return {
    ...schemaDialect,
    name: 'sqlite',
    mode: 'derived',
    execute,
    alone: (work) => whileLocked(`${database.name}.migrating`, warn, work),
    inTransaction: (_, work) => deferring(work),
    isRepeated: () => false,
    beforeFile: async () => {},
    async runStatement(sql) {
      const statement = database.prepare(sql)
      if (statement.reader) for (const _ of statement.iterate());
      else statement.run()
      // A signal may end the process between two statements, which take this thread.
      await setImmediate()
    },
    afterFile: async () => {},
    async savedIndexes(table) {
      const rows = database.prepare(savedIndexesSql).all(table) as { name: string; sql: string }[]
      return rows.map(({ name, sql }) => ({ name, sql: [sql] }))
    },
    convertColumn(table, { name, ...from }, to) {
      const [alter, converted] = [`alter table ${quoted(table)}`, quoted(`${name}_converted`)]
      const specs = [from as KindSpec, to].map(specText).join(', ')
      return [
        `${alter} add column ${converted} ${columnOf(to).type}`,
        `update ${quoted(table)} set ${converted} = registry_converted(${quoted(name)}, ${specs})`,
        `${alter} drop column ${quoted(name)}`,
        `${alter} rename column ${converted} to ${quoted(name)}`,
      ]
    },
    transaction: deferring,
    exclusively: transaction,
    async apply({ sql }, onDone) {
      for (const [done, statement] of sql.entries()) {
        onDone(done / sql.length)
        await execute(statement)
        // A signal may end the process between two statements, which take this thread.
        await setImmediate()
      }
    },
    ownTables,
    logTables,
    resetLog,
    memberNames,
    withMember,
    createTrigger: (_, { sql }) => [sql],
    tableNames: async () => tableNames(database),
    catalogue: async (table, isSampled) => readCatalogue(database, table, isSampled),
    isCompatible,
    rememberUnused: () => [],
    reshape: (current, shape) => rebuild(database, current, shape),
    countedTables: async () => countedTables(),
    markOwned: (table) => [`insert or replace into ${countsTable} values ('${table}', 0, '')`],
    unmark: (table) => [`delete from ${countsTable} where name = '${table}'`],
    derivedObjects,
    async existingObjects({ table }) {
      const stored = new Map(database.prepare('select name, sql from sqlite_schema').raw().all() as [string, string][])
      const objectsSql = `select type, name from sqlite_schema where tbl_name = ? and type in ('index', 'trigger') and name glob 'registry_*'`
      return {
        names: database.prepare(objectsSql).all(table) as ObjectName[],
        isCurrent: ({ name, sql }) => normalised(stored.get(name) ?? '') === normalised(sql),
      }
    },
    isCounted: async ({ table }) => countedTables().includes(table),
    drop: (_, object) => drop(object),
    indexStep: (_, index) => ({ about: `create the index ${index.name}`, sql: [drop(index), index.sql] }),
    async countTriggerSteps(resource, rows) {
      const { countTriggers: objects } = derivedObjects(resource, [])
      const filled = await fill(execute, resource, rows)
      const sql = [...objects.toReversed().map(drop), ...objects.map((object) => object.sql), ...filled]
      return [{ about: `index and count the rows of ${resource.table}`, sql }]
    },
    storedCounts: (resource) => ({
      total: `select rows from ${countsTable} where name = '${resource.table}'`,
      isTextWrong: `(select count(*) from ${quoted(resource.table)}) <> (select count(*) from ${searchTable(resource)}_docsize)`,
    }),
    adviceFor: (error) => (/^SQLITE_(?:ERROR|CONSTRAINT)/.test(String(errorCode(error))) ? '' : undefined),
    async insertRows(resource, rows) {
      insertRows(database, resource, rows)
    },
  }
}
