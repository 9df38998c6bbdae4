/** What the registry wants and the database lacks, as a list of steps, and carrying them out. */
import type { Knex } from 'knex'
import type { Field, Registry, Resource } from '../descriptor/registry.js'
import type { Column, MigrationDialect, Step } from './migrationDialect.js'
import type { Progress } from './options.js'
import { addColumns, addForeignKeys, createTable } from './schema.js'
import { StorageError } from './storage.js'

/** Whether a query has a result. */
export const finds = async ({ execute }: MigrationDialect, query: Knex.QueryBuilder): Promise<boolean> =>
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

const named = (fields: readonly Field[]): string => fields.map(({ name }) => name).join(', ')

const ownTableSteps = async (database: MigrationDialect): Promise<Step[]> => {
  const steps: Step[] = []
  for (const [table, { create, upgrade }] of Object.entries(database.ownTables)) {
    const columns = await database.columns(table)
    if (columns.length === 0) steps.push({ table, about: `create the table ${table}`, sql: create })
    else if (columns.some(({ name }) => name === upgrade?.column))
      steps.push({ table, about: `upgrade the table ${table}`, sql: upgrade?.sql ?? [] })
  }
  return steps
}

const countOf = async ({ execute, knex }: MigrationDialect, { table }: Resource): Promise<number> => {
  const [counted] = await execute<{ rows: string | number }>(knex(table).count({ rows: '*' }).toString())
  return Number(counted?.rows)
}

/** The steps that create the bookkeeping of a table again and compute it from the rows. */
export const recountSteps = async (database: MigrationDialect, resource: Resource, isNew = false): Promise<Step[]> => {
  const rows = isNew ? 0 : await countOf(database, resource)
  const steps = await database.bookkeepingSteps(resource, rows)
  return steps.map((step) => ({ table: resource.table, rows, ...step }))
}

/** The steps for the derived objects of a resource whose table exists or is created first. */
const derivedSteps = async (database: MigrationDialect, resource: Resource, isNew: boolean): Promise<Step[]> => {
  const { table } = resource
  const { indexes, bookkeeping } = database.derivedObjects(resource)
  const wanted = [...indexes, ...bookkeeping]
  const { names, isCurrent } = await database.existingObjects(resource)
  const obsolete = names.filter(({ type, name }) => !wanted.some((one) => one.type === type && one.name === name))
  const stale = indexes.filter((index) => !isCurrent(index))
  const isCounted = bookkeeping.every(isCurrent) && (await database.isCounted(resource))

  const steps: Step[] = obsolete.map((object) => {
    const about = `drop the ${object.type} ${object.name}`
    return { table, about, sql: [database.drop(resource, object)] }
  })
  if (!isCounted) steps.push(...(await recountSteps(database, resource, isNew)))
  const rows = isNew || stale.length === 0 ? 0 : await countOf(database, resource)
  for (const index of stale) steps.push({ table, rows, ...database.indexStep(resource, index, isNew) })
  return steps
}

/** The steps for a table and what is derived from it, and for its foreign keys, which need all tables. */
const resourceSteps = async (database: MigrationDialect, registry: Registry, resource: Resource) => {
  const { table, fields } = resource
  const columns = await database.columns(table)
  const added = fields.filter(({ name }) => !columns.some((column) => column.name === name))
  const isNew = columns.length === 0
  if (!isNew) await refuseMismatch(database, resource, columns)
  const derived = await derivedSteps(database, resource, isNew)
  const keys = addForeignKeys(database, registry, resource, added)
  const about = `add foreign keys to ${table}: ${named(added.filter(({ references }) => references !== undefined))}`
  const foreignKeys = keys.length > 0 ? [{ table, about, sql: keys, isInParts: true }] : []
  if (isNew) {
    // One transaction, because nobody else can use the table yet.
    const sql = [...createTable(database, registry, resource), ...derived.flatMap((step) => step.sql)]
    return { steps: [{ table, about: `create the table ${table}`, sql }], foreignKeys }
  }
  const sql = addColumns(database, registry, resource, added)
  const columnSteps: Step[] = added.length > 0 ? [{ table, about: `add to ${table}: ${named(added)}`, sql }] : []
  return { steps: [...columnSteps, ...derived], foreignKeys }
}

/** Every step that the database needs; none if it is up to date. Throws a StorageError if the registry cannot use it. */
const planMigration = async (database: MigrationDialect, registry: Registry): Promise<Step[]> => {
  const own = [...(await ownTableSteps(database)), ...((await database.functionSteps?.()) ?? [])]
  const planned = []
  for (const resource of registry) planned.push(await resourceSteps(database, registry, resource))
  return [...own, ...planned.flatMap(({ steps }) => steps), ...planned.flatMap(({ foreignKeys }) => foreignKeys)]
}

/** The error of a step that failed, with what it concerns and what to do. */
const stepError = (database: MigrationDialect, { table, about, unique }: Step, error: unknown): unknown => {
  if (unique && database.isUniqueViolation(error)) {
    const fields = unique.join(', ')
    return new StorageError(`rows of "${table}" share values of (${fields}), which its descriptor says are unique`)
  }
  const advice = database.adviceFor(error)
  if (advice === undefined) return error
  return new StorageError(`cannot ${about} (table "${table}"): ${(error as Error).message}. ${advice}`.trim())
}

/** Carries out steps; what the service can do without is skipped with a warning if it fails. */
export const applySteps = async (
  database: MigrationDialect,
  steps: readonly Step[],
  { progress, warn }: { progress: Progress; warn: (message: string) => void },
): Promise<void> => {
  for (const step of steps) {
    const { table, rows = 0, isOptional } = step
    try {
      await database.apply(step, (part) => progress(table, Math.floor(rows * part), rows))
    } catch (error) {
      const explained = stepError(database, step, error)
      if (!isOptional || !(explained instanceof StorageError)) throw explained
      warn(`${explained.message} Until then, searches of "${table}" read the whole table.`)
    }
  }
}

/** Brings the database up to date; returns the steps. A database that is up to date is only read. */
export const migrate = async (
  database: MigrationDialect,
  registry: Registry,
  reports: { progress: Progress; warn: (message: string) => void },
): Promise<readonly Step[]> => {
  let steps = await planMigration(database, registry)
  if (steps.length === 0) return steps
  await database.exclusively(async () => {
    // Another process may have migrated meanwhile.
    steps = await planMigration(database, registry)
    await applySteps(database, steps, reports)
  })
  return steps
}
