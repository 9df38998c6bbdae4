/** The migration dialect of PostgreSQL. */
import { type Client, DatabaseError } from 'pg'
import type { Resource } from '../../descriptor/registry.js'
import { batchesOf } from '../migration/batches.js'
import type { MigrationDialect } from '../migration/migrationDialect.js'
import { type DerivedObject, quoted } from '../schema.js'
import { alter, catalogueOf, changesColumns, tableNames, unusedComment } from './catalogue.js'
import { changesTable, logStatesTable, validState } from './changeLog.js'
import { codeOf } from './errors.js'
import { sqlFunctions, valueFunctions } from './functions.js'
import { type Connect, concurrently, executeOn, stepRunner } from './migrationSteps.js'
import { type Commented, comment, commented, digestIn, digestOf, drop, objectsSql } from './ownObjects.js'
import { insertRows } from './rows.js'
import { runUnprepared } from './run.js'
import {
  derivedObjects,
  fillSearched,
  isSearchedWrong,
  ownTables,
  schemaDialect,
  searchedColumn,
  searchedFunctionName,
} from './schema.js'

/** How many rows get their searched text in one transaction. */
const fillBatch = 1_000

/** Advice for common errors, by SQLSTATE. */
const advice: Readonly<Record<string, string>> = {
  '2BP01': 'Drop what depends on it, start, and create it again.',
  '25006': 'The database is read-only: run npm run migrate on the primary server first.',
  '3F000': 'Grant this role USAGE on the schema of the tables, and name it in the search_path of the role.',
  '42501':
    'This role may not change the database: run npm run migrate as the owner of the tables first. If they are in another schema, name it in the search_path of this role.',
}

/** A connection as the migration uses it; `trigrams` is the operator class for searches, if the extension is installed. */
export const migrationDialect = (
  client: Client,
  connect: Connect,
  trigrams: string | undefined,
  warn: (message: string) => void,
): MigrationDialect => {
  const execute = executeOn(client)
  const { apply, exclusively, inTransaction, lock } = stepRunner(client, connect, warn)
  const functionsDigest = digestOf(...valueFunctions().map(({ sql }) => sql))
  const digest = ({ type, sql }: DerivedObject) => digestOf(sql, type === 'trigger' ? '' : functionsDigest)
  const remember = (resource: Resource, object: DerivedObject) => comment(commented(resource, object), digest(object))

  return {
    ...schemaDialect,
    correctedWith: '',
    execute,
    apply,
    exclusively,
    deferForeignKeys: 'set constraints all deferred',
    ownTables,
    tableNames: () => tableNames(execute),
    catalogue: (table) => catalogueOf(execute, table),
    rememberUnused: (table, column) => [`comment on column ${quoted(table)}.${quoted(column)} is '${unusedComment}'`],
    rebuilds: changesColumns,
    shapeDifferences: () => [],
    reshape: alter,
    async countedTables() {
      if (!(await catalogueOf(execute, logStatesTable))) return []
      const rows = await execute<{ name: string }>(`select distinct name from ${logStatesTable}`)
      return rows.map(({ name }) => name)
    },
    claim: () => [],
    forget: (table) => [
      ...[changesTable, logStatesTable].map((own) => `delete from ${own} where name = '${table}'`),
      `drop function if exists ${searchedFunctionName({ table })}()`,
    ],
    async functionSteps() {
      const wanted = sqlFunctions()
      const made = await execute<{ name: string; comment: string | null }>(
        `select name, obj_description(to_regprocedure(name), 'pg_proc') as comment from unnest($1::text[]) as name`,
        [wanted.map(({ name }) => name)],
      )
      const digests = new Map(made.map((row) => [row.name, digestIn(row.comment)]))
      return wanted
        .filter(({ name, sql }) => digests.get(name) !== digestOf(sql))
        .map(({ name, sql }) => {
          const remembered = comment(`function ${name}`, digestOf(sql))
          return { table: name, about: `create the function ${name}`, sql: [sql, remembered] }
        })
    },
    derivedObjects: (resource, registry) => derivedObjects(resource, registry, trigrams),
    async existingObjects({ table }) {
      const objects = await execute<Commented>(objectsSql, [quoted(table)])
      const own = objects.filter((object) => digestIn(object.comment) !== '')
      const used = own.filter(({ isUsed }) => isUsed)
      const digests = new Map(used.map((object) => [`${object.type} ${object.name}`, digestIn(object.comment)]))
      return {
        names: own,
        isCurrent: (object) => digests.get(`${object.type} ${object.name}`) === digest(object),
      }
    },
    drop,
    async isCounted({ table }) {
      const [found] = await execute<{ states: string | null; compaction: string | null }>(
        `select to_regclass($1) as states, to_regprocedure('registry_compact(text)') as compaction`,
        [logStatesTable],
      )
      const isValid = async () => (await execute(validState, [table])).length > 0
      if (found?.states === null) return false
      if (await isValid()) return true
      // After a TRUNCATE or a restore, compaction counts the rows; any role that may insert can call it.
      if (found?.compaction !== null) await execute('select registry_compact($1)', [table])
      return isValid()
    },
    indexStep(resource, index, isNew) {
      const { name, sql, unique } = index
      const remembered = remember(resource, index)
      return {
        about: `create the index ${name}`,
        sql: isNew ? [sql, remembered] : concurrently(name, sql, remembered),
        isInParts: !isNew,
        isOptional: sql.includes(searchedColumn),
        unique,
      }
    },
    async bookkeepingSteps(resource, rows) {
      const [table, { bookkeeping }] = [quoted(resource.table), derivedObjects(resource, [], trigrams)]
      const triggers = bookkeeping.filter(({ type }) => type === 'trigger')
      const batches = await batchesOf(execute, table, fillBatch, rows)
      return [
        {
          about: `create the triggers of ${resource.table}`,
          sql: [
            ...bookkeeping.map(({ sql }) => sql),
            ...triggers.map(({ name }) => `alter table ${table} enable always trigger ${name}`),
          ],
        },
        {
          about: `compute the searched text of ${resource.table}`,
          sql: batches.map((range) => fillSearched(resource, range)),
          isInParts: true,
        },
        // The triggers are remembered last, so that an interrupted migration is repeated.
        {
          about: `count the rows of ${resource.table}`,
          sql: [
            `select registry_recount('${resource.table}')`,
            `select registry_advance_sequence('${table}')`,
            ...bookkeeping.map((object) => remember(resource, object)),
          ],
        },
      ]
    },
    storedCounts: (resource) => ({
      total: `select total from registry_state('${resource.table}')`,
      blocks: `select first, rows from registry_block_rows('${resource.table}')`,
      isTextWrong: `exists (select 1 from ${quoted(resource.table)} where ${isSearchedWrong(resource)})`,
    }),
    isUniqueViolation: (error) => codeOf(error) === '23505',
    adviceFor(error) {
      // An ended session is not an error of the step.
      if (!(error instanceof DatabaseError) || /^(?:08|57P)/.test(error.code ?? '')) return undefined
      return [error.detail, advice[error.code ?? '']].filter(Boolean).join('. ')
    },
    insertRows: (resource, rows) => insertRows(runUnprepared(client), resource, rows),
    transaction: (work) =>
      inTransaction('the database', async () => {
        await lock()
        await work()
      }),
  }
}
