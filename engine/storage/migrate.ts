/** What the registry wants and the database lacks, as a list of steps, and carrying them out. */
import type { Knex } from 'knex'
import type { Field, Registry, Resource } from '../descriptor/registry.js'
import { problemLine } from '../descriptor/registryError.js'
import type { Column, MigrationDialect, Step } from './migrationDialect.js'
import type { Progress } from './options.js'
import { addColumns, addForeignKeys, createTable, type DerivedObject } from './schema.js'
import { StorageError } from './storage.js'

const exists = async (database: MigrationDialect, table: string): Promise<boolean> =>
  (await database.columns(table)).length > 0

/** Whether a query has a result. */
const finds = async ({ execute }: MigrationDialect, query: Knex.QueryBuilder): Promise<boolean> =>
  (await execute(query.select(1).limit(1).toString())).length > 0

/** Throws if the table has rows or columns that contradict the descriptor. */
const refuseMismatch = async (
  database: MigrationDialect,
  resource: Resource,
  columns: readonly Column[],
): Promise<void> => {
  const { table, fields, create, path } = resource
  const refuse = (what: string): never => {
    throw new StorageError(`table "${table}" (resources/${path}.ts): ${what}`)
  }
  for (const { name, isNotNull } of columns) {
    const isRequired = fields.some((field) => field.name === name && field.required)
    if (create && isNotNull && !isRequired && name !== 'id') {
      refuse(
        `column "${name}" is NOT NULL, but the descriptor does not require it. Alter the table, or add "${name}" to required.`,
      )
    }
    if (isRequired && !isNotNull && (await finds(database, database.knex(table).whereNull(name)))) {
      refuse(`the descriptor requires "${name}", but some rows have no value. Set their value first.`)
    }
  }
  const missing = fields.find(({ name, required }) => required && !columns.some((column) => column.name === name))
  if (missing)
    refuse(`column "${missing.name}" does not exist, and a required column cannot be added to existing rows.`)
}

/** The steps for the tables themselves: foreign keys come last, when all tables exist. */
const tableSteps = async (database: MigrationDialect, registry: Registry): Promise<Step[]> => {
  const steps: Step[] = []
  const foreignKeys: Step[] = []
  for (const resource of registry) {
    const { table, fields } = resource
    const columns = await database.columns(table)
    const isMissing = ({ name }: Field) => !columns.some((column) => column.name === name)
    const added = fields.filter(isMissing)
    if (columns.length === 0) steps.push({ table, sql: createTable(database, registry, resource) })
    else {
      await refuseMismatch(database, resource, columns)
      if (added.length > 0) steps.push({ table, sql: addColumns(database, registry, resource, added) })
    }
    const sql = addForeignKeys(database, registry, resource, added)
    if (sql.length > 0) foreignKeys.push({ table, sql })
  }
  return [...steps, ...foreignKeys]
}

/** The objects that are missing or were created by other SQL, with those that are built on them. */
const staleObjects = (wanted: readonly DerivedObject[], isCurrent: (object: DerivedObject) => boolean) => {
  const stale = new Set(wanted.filter((object) => !isCurrent(object)).map(({ name }) => name))
  return wanted.filter(({ name, needs = '' }) => stale.has(name) || stale.has(needs))
}

const countOf = async (database: MigrationDialect, { table }: Resource): Promise<number> => {
  if (!(await exists(database, table))) return 0
  const [counted] = await database.execute<{ rows: string | number }>(
    database.knex(table).count({ rows: '*' }).toString(),
  )
  return Number(counted?.rows)
}

const recreate = (database: MigrationDialect, resource: Resource, objects: readonly DerivedObject[]): string[] => [
  ...objects.toReversed().map((object) => database.drop(resource, object)),
  ...objects.flatMap((object) => database.create(resource, object)),
]

/** The steps for the derived objects of a resource whose table exists or is created first. */
const derivedSteps = async (database: MigrationDialect, resource: Resource): Promise<Step[]> => {
  const { table } = resource
  const { columns = [], indexes, bookkeeping } = database.derivedObjects(resource)
  const wanted = [...columns, ...indexes, ...bookkeeping]
  const { names, isCurrent } = await database.existingObjects(resource)
  const obsolete = names.filter(({ type, name }) => !wanted.some((one) => one.type === type && one.name === name))
  const stale = staleObjects([...columns, ...indexes], isCurrent)
  const isCounted = bookkeeping.every(isCurrent) && (await database.isCounted(resource))

  const steps: Step[] = obsolete.map((object) => ({ table, sql: [database.drop(resource, object)] }))
  if (stale.length === 0 && isCounted) return steps
  const rows = await countOf(database, resource)
  for (const object of stale) {
    steps.push({ table, rows, unique: object.unique, sql: recreate(database, resource, [object]) })
  }
  if (!isCounted) {
    const recount = await database.recount(resource, rows)
    steps.push({ table, rows, sql: [...recreate(database, resource, bookkeeping), ...recount] })
  }
  return steps
}

/** Every step that the database needs; none if it is up to date. Throws a StorageError if the registry cannot use it. */
const planMigration = async (database: MigrationDialect, registry: Registry): Promise<Step[]> => {
  const steps: Step[] = []
  for (const [table, sql] of Object.entries(database.ownTables)) {
    if (!(await exists(database, table))) steps.push({ table, sql })
  }
  steps.push(...((await database.functionSteps?.()) ?? []), ...(await tableSteps(database, registry)))
  for (const resource of registry) steps.push(...(await derivedSteps(database, resource)))
  return steps
}

const applyStep = async (
  { execute, isUniqueViolation }: MigrationDialect,
  { table, sql, rows = 0, unique = [] }: Step,
  progress: Progress,
): Promise<void> => {
  for (const [done, statement] of sql.entries()) {
    progress(table, Math.floor((rows * done) / sql.length), rows)
    try {
      await execute(statement)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new StorageError(
        `rows of "${table}" share values of (${unique.join(', ')}), which its descriptor says are unique`,
      )
    }
  }
}

/** Brings the database up to date; returns the steps. A database that is up to date is only read. */
export const migrate = async (
  database: MigrationDialect,
  registry: Registry,
  progress: Progress,
): Promise<readonly Step[]> => {
  let steps = await planMigration(database, registry)
  if (steps.length === 0) return steps
  await database.transaction(async () => {
    // Another process may have migrated meanwhile.
    steps = await planMigration(database, registry)
    for (const step of steps) await applyStep(database, step, progress)
  })
  return steps
}

/** Asks the tables themselves: the engine's own counts may be wrong after a restore. */
const isEmpty = async (database: MigrationDialect, registry: Registry): Promise<boolean> => {
  for (const { table } of registry) if (await finds(database, database.knex(table))) return false
  return true
}

/** Loads the demo rows unless any table has a row; returns whether it did. */
export const loadDemo = async (database: MigrationDialect, registry: Registry): Promise<boolean> => {
  let isLoaded = false
  if (!(await isEmpty(database, registry))) return isLoaded
  const problems = registry.flatMap(({ demoProblems = [] }) => demoProblems)
  if (problems.length > 0) {
    const reason = 'it is empty, and the demo rows for it have errors; correct them, or set DEMO_DATA=false'
    throw new StorageError([`${reason}:`, ...problems.map(problemLine)].join('\n  '))
  }
  await database.transaction(async () => {
    // Another process may have loaded them meanwhile.
    if (!(await isEmpty(database, registry))) return
    // Rows refer to one another in both directions.
    await database.execute(database.deferForeignKeys)
    for (const resource of registry) await database.insertRows(resource, resource.demo)
    isLoaded = true
  })
  return isLoaded
}
