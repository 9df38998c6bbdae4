/** The migration dialect of PostgreSQL. Each derived object has the digest of its SQL as its comment. */

import { createHash } from 'node:crypto'
import { type Client, DatabaseError, type QueryConfig } from 'pg'
import type { Resource } from '../../descriptor/registry.js'
import { commandLine } from '../../process/commandLine.js'
import { keysTable } from '../keys.js'
import { logTable } from '../log.js'
import { recordTables } from '../migration/descriptorRecord.js'
import type { MigrationDialect, OwnTable } from '../migration/migrationDialect.js'
import { splitIntoBatches } from '../migration/rows.js'
import { type DerivedObject, type ObjectName, objectName, quoted } from '../schema.js'
import {
  alterTable,
  convertColumn,
  isCompatible,
  ownComment,
  readCatalogue,
  tableNames,
  unusedComment,
} from './catalogue.js'
import { changesTable, logStatesTable } from './changeLog.js'
import { sqlFunctions, valueFunctions } from './functions.js'
import { isOfThisServer, logFunctionName, logTables, memberNames, renewal, resetLog, withMember } from './log.js'
import { type Connect, concurrently, executeOn, isLocked, stepRunner } from './migrationSteps.js'
import { insertRows } from './rows.js'
import { runUnprepared } from './run.js'
import {
  derivedObjects,
  fillSearched,
  hasSequence,
  isSearchedWrong,
  ownTables,
  plainObjects,
  plainSchemaDialect,
  schemaDialect,
  searchedFunctionName,
} from './schema.js'
import { advanceSequence } from './writes.js'

/** How many rows get their searched text in one transaction. */
const fillBatch = 1_000

const advice: Readonly<Record<string, string>> = {
  '2BP01': 'Drop what depends on it, start, and create it again.',
  '25006': `The database is read-only: run ${commandLine('migrate')} on the primary server first.`,
  '3F000': 'Grant this role USAGE on the schema of the tables, and name it in the search_path of the role.',
  '42501': `This role may not change the database: run ${commandLine('migrate')} as the owner of the tables first. If they are in another schema, name it in the search_path of this role.`,
}

const sqlDigest = (...sql: readonly string[]): string => createHash('sha256').update(sql.join('\n')).digest('hex')

const comment = (on: string, digest: string): string => `comment on ${on} is 'Made by the service: ${digest}'`
const digestIn = (text: string | null | undefined): string =>
  /^Made by the service: (\w{64})$/.exec(text ?? '')?.[1] ?? ''

/**
 * The columns, indexes and triggers of a table, with their comments, and whether they are in use. Triggers must fire whatever
 * the session_replication_role; a restore that disables and enables them again leaves them otherwise.
 */
const objectsSql = `select 'column' as type, attname as name, col_description(attrelid, attnum) as comment, attgenerated = '' as "isUsed"
    from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
  union all select 'index', relname, obj_description(indexrelid, 'pg_class'), indisvalid
    from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass($1)
  union all select 'trigger', tgname, obj_description(oid, 'pg_trigger'), tgenabled = 'A'
    from pg_trigger where tgrelid = to_regclass($1)`

/** The name of an object in SQL that is not about its table. */
const nameIn = (table: string, { type, name }: ObjectName): string =>
  type === 'trigger' ? `${name} on ${quoted(table)}` : name

const markOwned = (table: string): string[] => [`comment on table ${quoted(table)} is '${ownComment}'`]

/** What is different where the service creates tables, keys and indexes, and nothing else. */
const withoutDerivedObjects = (
  { execute, drop, insertRows: insert }: MigrationDialect,
  trigrams: string | undefined,
): Partial<MigrationDialect> => ({
  ...plainSchemaDialect,
  mode: 'plain',
  functionsDigest: undefined,
  // The column shows that the service has created the table; from then on, the comment does.
  drop: (resource, object) =>
    [drop(resource, object), ...(object.type === 'column' ? markOwned(resource.table) : [])].join('; '),
  ownTables: { [keysTable]: ownTables[keysTable] as OwnTable, ...recordTables },
  functionSteps: async () => [],
  derivedObjects: (resource, registry) => plainObjects(resource, registry, trigrams),
  isCounted: async ({ table }) => {
    const isMarked = `select from pg_class where oid = to_regclass($1) and obj_description(oid, 'pg_class') = '${ownComment}'`
    return (await execute(isMarked, [quoted(table)])).length > 0
  },
  countTriggerSteps: async ({ table }) => [{ about: `mark the table ${table}`, sql: markOwned(table) }],
  countedTables: async () => {
    const tables = await execute<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
        and obj_description(oid, 'pg_class') = '${ownComment}'`,
    )
    return tables.map(({ name }) => name)
  },
  unmark: () => [],
  // No trigger moves the sequence past the ids of the rows.
  async insertRows(resource, rows) {
    await insert(resource, rows)
    if (hasSequence(resource)) await execute(advanceSequence(resource.table).sql)
  },
})

/** A connection as the migration uses it; `trigrams` is the operator class for searches, if the extension is installed. */
export const migrationDialect = (
  client: Client,
  connect: Connect,
  trigrams: string | undefined,
  warn: (message: string) => void,
  isPlain = false,
): MigrationDialect => {
  const execute = executeOn(client)
  const { apply, exclusively, inTransaction, checkLock, lock } = stepRunner(client, connect, warn)
  const functionsDigest = sqlDigest(...valueFunctions().map(({ sql }) => sql))
  const digest = ({ type, sql }: DerivedObject) => sqlDigest(sql, type === 'trigger' ? '' : functionsDigest)
  const remember = ({ table }: Resource, object: DerivedObject) => {
    const name = object.type === 'column' ? `${quoted(table)}.${object.name}` : nameIn(table, object)
    return comment(`${object.type} ${name}`, digest(object))
  }

  let searchPath = ''
  const dialect: MigrationDialect = {
    ...schemaDialect,
    name: 'postgres',
    mode: 'derived',
    functionsDigest: sqlDigest(...sqlFunctions().map(({ sql }) => sql)),
    execute,
    apply,
    exclusively,
    alone: exclusively,
    inTransaction,
    isRepeated: isLocked,
    async beforeFile(tables) {
      await checkLock()
      const [path] = await execute<{ value: string }>(`select current_setting('search_path') as value`)
      searchPath = path?.value ?? ''
      // A table of Citus is changed by several connections otherwise, and cannot be altered afterwards.
      await execute(`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`)
      await execute('savepoint registry_setting')
      // A statement whose client was killed ends, and so do its locks. Not every system can notice it.
      await execute(`set local client_connection_check_interval = '1s'`).catch(() =>
        execute('rollback to savepoint registry_setting'),
      )
      await execute('release savepoint registry_setting')
      // All at once, so that nothing has to be done again because of a lock.
      const found = await execute<{ name: string }>(
        'select name from unnest($1::text[]) as name where exists (select from pg_class where oid = to_regclass(quote_ident(name)) and relkind = $2)',
        [tables, 'r'],
      )
      if (found.length > 0) await execute(`lock table ${found.map(({ name }) => quoted(name)).join(', ')}`)
    },
    async runStatement(sql) {
      // The server takes only one statement in this form.
      await client.query({ text: sql, queryMode: 'extended' } as QueryConfig)
    },
    async afterFile() {
      await execute('set constraints all immediate')
      await execute(`select set_config('search_path', $1, true)`, [searchPath])
    },
    async savedIndexes(table) {
      const rows = await execute<{ name: string; sql: string; comment: string | null }>(
        `select relname as name, pg_get_indexdef(indexrelid) as sql, obj_description(indexrelid, 'pg_class') as comment
          from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass($1)`,
        [quoted(table)],
      )
      return rows
        .filter((row) => digestIn(row.comment) !== '')
        .map(({ name, sql, comment: text }) => ({
          name,
          sql: [sql, comment(`index ${quoted(name)}`, digestIn(text))],
        }))
    },
    // A foreign key prevents another type; the migration that follows makes it again.
    convertColumn: (table, column, to) => [
      ...(column.foreignKey?.name === undefined
        ? []
        : [`alter table ${quoted(table)} drop constraint ${quoted(column.foreignKey.name)}`]),
      ...convertColumn(table, column, to),
    ],
    ownTables,
    logTables,
    resetLog,
    memberNames,
    withMember,
    async renewLog() {
      if (!(await readCatalogue(execute, logTable))) return undefined
      return (await execute(isOfThisServer)).length > 0 ? undefined : renewal
    },
    createTrigger: (resource, { name, sql }) => [
      sql,
      `alter table ${quoted(resource.table)} enable always trigger ${name}`,
      remember(resource, { type: 'trigger', name, sql }),
    ],
    tableNames: () => tableNames(execute),
    catalogue: (table, isSampled) => readCatalogue(execute, table, isSampled),
    isCompatible,
    rememberUnused: (table, column) => [`comment on column ${quoted(table)}.${quoted(column)} is '${unusedComment}'`],
    reshape: alterTable,
    async countedTables() {
      if (!(await readCatalogue(execute, logStatesTable))) return []
      const rows = await execute<{ name: string }>(`select distinct name from ${logStatesTable}`)
      return rows.map(({ name }) => name)
    },
    markOwned: () => [],
    unmark: (table) => [
      ...[changesTable, logStatesTable].map((counters) => `delete from ${counters} where name = '${table}'`),
      ...[searchedFunctionName, logFunctionName].map((nameOf) => `drop function if exists ${nameOf({ table })}()`),
    ],
    async functionSteps() {
      const wanted = sqlFunctions()
      const functionRows = await execute<{ name: string; comment: string | null }>(
        `select name, obj_description(to_regprocedure(name), 'pg_proc') as comment from unnest($1::text[], $2::text[]) as one (name, fired_by)
          where fired_by is null or exists (
            select from pg_trigger where tgrelid = to_regclass(fired_by) and tgfoid = to_regprocedure(name))`,
        [wanted.map(({ name }) => name), wanted.map(({ firedBy }) => firedBy ?? null)],
      )
      const digests = new Map(functionRows.map((row) => [row.name, digestIn(row.comment)]))
      return wanted
        .filter(({ name, sql }) => digests.get(name) !== sqlDigest(sql))
        .map(({ name, sql }) => {
          const remembered = comment(`function ${name}`, sqlDigest(sql))
          return { table: name, about: `create the function ${name}`, sql: [sql, remembered] }
        })
    },
    derivedObjects: (resource, registry) => derivedObjects(resource, registry, trigrams),
    async existingObjects({ table }) {
      const objects = await execute<ObjectName & { comment: string | null; isUsed: boolean }>(objectsSql, [
        quoted(table),
      ])
      const derived = objects.filter((object) => digestIn(object.comment) !== '')
      const used = derived.filter(({ isUsed }) => isUsed)
      const digests = new Map(used.map((object) => [`${object.type} ${object.name}`, digestIn(object.comment)]))
      return {
        names: derived,
        isCurrent: (object) => digests.get(`${object.type} ${object.name}`) === digest(object),
      }
    },
    drop: ({ table }, object) =>
      object.type === 'column'
        ? `alter table ${quoted(table)} drop column if exists ${object.name}`
        : `drop ${object.type} if exists ${nameIn(table, object)}`,
    // A state that another server wrote, or one before a TRUNCATE, is replaced by the first read; until then, rows are counted.
    async isCounted({ table }) {
      if (!(await readCatalogue(execute, logStatesTable))) return false
      return (await execute(`select 1 from ${logStatesTable} where name = $1 limit 1`, [table])).length > 0
    },
    indexStep(resource, index, isNew) {
      const { name, sql } = index
      const remembered = remember(resource, index)
      return {
        about: `create the index ${name}`,
        sql: isNew ? [sql, remembered] : concurrently(name, sql, remembered),
        isInParts: !isNew,
        isOptional: name === objectName(resource, 'search'),
      }
    },
    async countTriggerSteps(resource, rows) {
      const [table, { countTriggers }] = [quoted(resource.table), derivedObjects(resource, [], trigrams)]
      const triggers = countTriggers.filter(({ type }) => type === 'trigger')
      const batches = await splitIntoBatches(execute, table, fillBatch, rows)
      return [
        {
          about: `create the triggers of ${resource.table}`,
          sql: [
            ...countTriggers.map(({ sql }) => sql),
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
            ...countTriggers.map((object) => remember(resource, object)),
          ],
        },
      ]
    },
    storedCounts: (resource) => ({
      total: `select coalesce(total, (select count(*) from ${quoted(resource.table)})) from registry_state('${resource.table}')`,
      isTextWrong: `exists (select 1 from ${quoted(resource.table)} where ${isSearchedWrong(resource)})`,
    }),
    adviceFor(error) {
      // An ended session is not an error of the step.
      if (!(error instanceof DatabaseError) || /^(?:08|57P)/.test(error.code ?? '')) return undefined
      return [error.detail, error.hint, advice[error.code ?? '']].filter(Boolean).join('. ')
    },
    insertRows: (resource, rows) => insertRows(runUnprepared(client), resource, rows),
    transaction: (work) =>
      inTransaction('the database', async () => {
        await lock()
        await execute('set constraints all deferred')
        await work()
      }),
  }
  return isPlain ? { ...dialect, ...withoutDerivedObjects(dialect, trigrams) } : dialect
}
