/**
 * Runs a file of `migrations/` in one transaction. What the engine derives from the tables that it names is dropped before and made
 * again afterwards, so that the file may change any column, and no other process writes what is not counted.
 */
import { type Field, idField, managedResources, type Registry, type Resource } from '../../descriptor/registry.js'
import { StorageError } from '../failures.js'
import { type CatalogueTable, findColumn } from './catalogue.js'
import { insertEntry } from './dataSteps.js'
import { compareRecord } from './descriptorRecord.js'
import type { MigrationDialect, SavedIndex, Step } from './migrationDialect.js'
import type { MigrationFile } from './migrationFiles.js'
import { dropDerived, recountSteps, withoutDescriptor } from './migrationPlan.js'
import { type SqlStatement, wordsIn } from './sqlStatements.js'

interface PausedTable {
  readonly table: string
  readonly isNew: boolean
  readonly indexes: readonly SavedIndex[]
}

/** The tables of the service that a file names, those that do not exist included. */
const namedTables = async (
  database: MigrationDialect,
  registry: Registry,
  { text }: MigrationFile,
): Promise<string[]> => {
  const words = wordsIn(text, database.name)
  const own = managedResources(registry).flatMap(({ table, renamedFromTable = table }) => [table, renamedFromTable])
  const tables = new Set([...own, ...(await database.countedTables())])
  return [...tables].filter((table) => words.has(table.toLowerCase()))
}

const isOfService = (table: CatalogueTable | undefined): table is CatalogueTable =>
  table?.isOwn === true && table.relationKind === undefined

/** Drops what is derived from the tables; returns those that it was derived from, and those that do not exist. */
const pause = async (database: MigrationDialect, names: readonly string[]): Promise<PausedTable[]> => {
  const paused: PausedTable[] = []
  for (const table of names) {
    const current = await database.catalogue(table)
    if (current !== undefined && !isOfService(current)) continue
    const indexes = current ? await database.savedIndexes(table) : []
    const drops = current ? await dropDerived(database, withoutDescriptor(table)) : []
    for (const sql of drops) await database.execute(sql)
    paused.push({ table, isNew: current === undefined, indexes })
  }
  return paused
}

/** A resource with the fields that its table has, for what is derived from them. */
const asStored = (database: MigrationDialect, resource: Resource, current: CatalogueTable): Resource => {
  const isStored = (field: Field) => findColumn(current, field.name)?.type === database.columnOf(field).type
  const id = idField(resource)
  const kind = findColumn(current, 'id')?.kind ?? id.kind
  const others = resource.fields.filter((field) => field.name !== 'id' && isStored(field))
  const fields = [{ ...id, kind }, ...others]
  const isKept = ({ name }: Field) => fields.some((field) => field.name === name)
  return {
    ...resource,
    fields,
    ...(resource.log && { log: { ...resource.log, keys: resource.log.keys.filter(isKept) } }),
  }
}

const isUnique = ({ sql }: SavedIndex): boolean => /^create unique /i.test(sql[0] ?? '')

/** Makes an index again, unless its columns are gone. */
const restoreIndex = async (database: MigrationDialect, { sql }: SavedIndex): Promise<void> => {
  await database.execute('savepoint registry_index')
  try {
    for (const statement of sql) await database.execute(statement)
  } catch (error) {
    // The values are no longer unique.
    if (/^(?:23505|SQLITE_CONSTRAINT)/.test(String((error as { code?: unknown }).code))) throw error
    await database.execute('rollback to savepoint registry_index')
  }
  await database.execute('release savepoint registry_index')
}

/** Makes what is derived from the tables again: what changes with the descriptors is left to the migration that follows. */
const resume = async (
  database: MigrationDialect,
  registry: Registry,
  paused: readonly PausedTable[],
): Promise<Step[]> => {
  const steps: Step[] = []
  const { withSearched } = await compareRecord(database, registry)
  for (const { table, isNew, indexes } of paused) {
    const current = await database.catalogue(table)
    const resource = managedResources(registry).find((one) => one.table === table)
    if (!current || (isNew && !resource)) continue
    const stored = asStored(database, resource ?? withoutDescriptor(table), current)
    const counting = await recountSteps(database, withSearched(stored))
    for (const sql of [...database.markOwned(table), ...counting.flatMap((step) => step.sql)])
      await database.execute(sql)
    const wanted = resource ? database.derivedObjects(resource, registry).indexes : []
    const restored = indexes.filter((index) => !isUnique(index) || wanted.some(({ name }) => name === index.name))
    for (const index of restored) await restoreIndex(database, index)
    steps.push({ table, about: '', sql: [], rows: counting[0]?.rows ?? 0 })
  }
  return steps
}

/** Says which statement has failed; an error within it may be some lines below. */
const statementError = (file: string, { sql, line }: SqlStatement, error: unknown): StorageError => {
  const { message, detail, hint, position } = error as Error &
    Record<'detail' | 'hint' | 'position', string | undefined>
  const inside = position === undefined ? 0 : sql.slice(0, Number(position) - 1).split('\n').length - 1
  const where = inside > 0 ? ` (at line ${line + inside})` : ''
  const rest = [detail, hint].filter(Boolean).map((text) => ` ${text}`)
  return new StorageError(`${file}:${line}: ${message}${where}.${rest.join('')} Nothing of the file was stored.`)
}

/** Runs a file that has not run; returns the tables that it named, as steps. Throws if it fails, and nothing of it is stored. */
export const runFile = async (
  database: MigrationDialect,
  registry: Registry,
  file: MigrationFile,
  statements: readonly SqlStatement[],
): Promise<readonly Step[]> => {
  let steps: readonly Step[] = []
  let failure: StorageError | undefined
  const run = async (): Promise<void> => {
    const names = await namedTables(database, registry, file)
    await database.beforeFile(names)
    const paused = await pause(database, names)
    for (const statement of statements) {
      try {
        await database.runStatement(statement.sql)
      } catch (error) {
        if (database.isRepeated(error)) throw error
        failure = statementError(file.file, statement, error)
        throw failure
      }
    }
    await database.afterFile()
    steps = await resume(database, registry, paused)
    await database.execute(insertEntry(file, new Date().toISOString()))
  }
  try {
    await database.inTransaction(`a table of ${file.file}`, run)
  } catch (error) {
    const isExplained = error instanceof StorageError || database.adviceFor(error) !== undefined
    if (error === failure || !isExplained) throw error
    throw new StorageError(`${file.file}: ${(error as Error).message}. Nothing of the file was stored.`)
  }
  return steps
}
