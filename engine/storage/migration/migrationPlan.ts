/** Plans a migration: the steps that bring the database up to date, and the differences that need a maintainer. */
import { nearest } from '../../descriptor/nearest.js'
import { managedResources, type Registry, type Resource, resourceFrom } from '../../descriptor/registry.js'
import { compareExisting } from '../existing/compare.js'
import { addColumns, addForeignKeys, createTable, quoted } from '../schema.js'
import { StorageError } from '../storage.js'
import { type CatalogueTable, describeChanges, findColumn } from './catalogue.js'
import { compareTable } from './compareTable.js'
import { type Approvals, type Difference, TableDifferences } from './difference.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { rowQueries } from './rows.js'

export interface MigrationPlan {
  readonly steps: readonly Step[]
  readonly differences: readonly Difference[]
}

/** What the steps of a plan change in the tables, a line for each: `leave_requests: reason is added`. */
export const changesOf = ({ steps }: MigrationPlan): string[] =>
  steps.flatMap(({ table, changes = [] }) => changes.map((change) => `${table}: ${change}`))

interface Planning {
  readonly database: MigrationDialect
  readonly registry: Registry
  readonly approvals: Approvals
  /** The tables that the engine counts and that no resource uses any more. */
  readonly unused: readonly CatalogueTable[]
  readonly steps: Step[]
  /** The steps that need all tables. */
  readonly foreignKeys: Step[]
  readonly differences: Difference[]
}

/** Creates the engine's own tables; throws if one of them is another program's. */
const ownTableSteps = async (database: MigrationDialect): Promise<Step[]> => {
  const steps: Step[] = []
  for (const [table, { create, columns = [] }] of Object.entries(database.ownTables)) {
    const current = await database.catalogue(table)
    const missing = current ? columns.filter((name) => !findColumn(current, name)) : []
    if (missing.length > 0)
      throw new StorageError(
        `another program has created "${table}", which has no column "${missing.join('", "')}". The service needs a table of that name: rename the other one, or use another schema or database`,
      )
    if (!current) steps.push({ table, about: `create the table ${table}`, sql: create })
  }
  return steps
}

/** Triggers use tables, so they are dropped before them. A column stays: it shows that the engine has created the table. */
const dropOrder = ['trigger', 'index', 'table']

/** Drops what is derived from a table, including objects of earlier descriptors. */
const dropDerived = async (database: MigrationDialect, resource: Resource): Promise<string[]> => {
  const { indexes, bookkeeping } = database.derivedObjects(resource, [])
  const { names } = await database.existingObjects(resource)
  const drops = dropOrder.flatMap((type) =>
    [...names, ...indexes, ...bookkeeping]
      .filter((object) => object.type === type)
      .map((object) => database.drop(resource, object)),
  )
  return [...new Set(drops), ...database.forget(resource.table)]
}

export const recountSteps = async (database: MigrationDialect, resource: Resource, isNew = false): Promise<Step[]> => {
  const { table } = resource
  const rows = isNew ? 0 : await rowQueries(database, table).count()
  return (await database.bookkeepingSteps(resource, rows)).map((step) => ({ table, rows, ...step }))
}

/** The steps for the derived objects of a resource whose table exists or, if `isNew`, is created first. */
const derivedSteps = async (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  isNew: boolean,
): Promise<Step[]> => {
  const { table } = resource
  const { indexes, bookkeeping } = database.derivedObjects(resource, registry)
  const wanted = [...indexes, ...bookkeeping]
  const { names, isCurrent } = await database.existingObjects(resource)
  const obsolete = names
    .filter(({ type, name }) => !wanted.some((one) => one.type === type && one.name === name))
    // Triggers use columns.
    .toSorted((a, b) => b.type.localeCompare(a.type))
  const stale = indexes.filter((index) => !isCurrent(index))
  const isCounted = bookkeeping.every(isCurrent) && (await database.isCounted(resource))
  const steps: Step[] = obsolete.map((object) => {
    const what = `the ${object.type} ${object.name}`
    return { table, about: `drop ${what}`, changes: [`${what} is dropped`], sql: [database.drop(resource, object)] }
  })
  if (!isCounted) steps.push(...(await recountSteps(database, resource, isNew)))
  const rows = isNew || stale.length === 0 ? 0 : await rowQueries(database, table).count()
  for (const index of stale) {
    const changes = index.unique ? [`${index.unique.join(', ')} must be unique`] : []
    steps.push({ table, rows, changes, ...database.indexStep(resource, index, isNew) })
  }
  return steps
}

const planForeignKeys = (
  { database, registry, foreignKeys }: Planning,
  resource: Resource,
  added: Resource['fields'],
): void => {
  const { table } = resource
  const sql = addForeignKeys(database, registry, resource, added)
  const names = added.filter(({ references }) => references !== undefined).map(({ name }) => name)
  const about = `add foreign keys to ${table}: ${names.join(', ')}`
  if (sql.length > 0) foreignKeys.push({ table, about, sql, isInParts: true })
}

const planNew = async (planning: Planning, resource: Resource): Promise<void> => {
  const { database, registry, steps } = planning
  const { table, fields } = resource
  const derived = await derivedSteps(database, registry, resource, true)
  // One transaction, because nobody else can use the table yet.
  const sql = [
    ...createTable(database, registry, resource),
    ...database.claim(table),
    ...derived.flatMap((step) => step.sql),
  ]
  steps.push({ table, about: `create the table ${table}`, changes: ['the table is created'], sql })
  planForeignKeys(planning, resource, fields)
}

const planExisting = async (planning: Planning, resource: Resource, current: CatalogueTable): Promise<void> => {
  const { database, registry, approvals, steps } = planning
  const { table } = resource
  const differences = new TableDifferences(table, approvals)
  if (current.name !== table) {
    const message = `the table was renamed from "${current.name}".`
    differences.isApproved(`rename:${current.name}`, message, 'To rename it, run:')
  }
  const { shape, added, unused } = await compareTable({ database, registry, resource, current, approvals, differences })
  const changes = describeChanges(current, shape)
  const shapeDifferences = changes.length > 0 ? database.shapeDifferences(current, shape) : []
  for (const { message, advice, column } of shapeDifferences) differences.add(message, advice, column)
  planning.differences.push(...differences.all)
  if (differences.isBlocking) return

  const derivedFrom = { ...resource, table: current.name }
  if (current.name !== table) {
    const about = `rename the table ${current.name} to ${table}`
    const alter = `alter table "${current.name}" rename to "${table}"`
    const sql = [...(await dropDerived(database, derivedFrom)), alter, ...database.claim(table)]
    // The rest is planned afterwards.
    steps.push({ table, about, sql, isRebuilding: true })
    return
  }
  const isRebuilding = changes.length > 0 && database.rebuilds(current, shape)
  if (changes.length > 0) {
    const dropped = isRebuilding ? [...(await dropDerived(database, derivedFrom)), ...database.claim(table)] : []
    const sql = [...dropped, ...database.reshape(current, shape)]
    const about = `change ${table}: ${changes.join(', ')}`
    const rows = await rowQueries(database, table).count()
    steps.push({ table, about, changes, rows, sql, isRebuilding, isInParts: !isRebuilding })
  }
  if (added.length > 0) {
    const names = added.map(({ name }) => name)
    const remembered = unused.flatMap(({ name }) => database.rememberUnused(table, name))
    steps.push({
      table,
      about: `add to ${table}: ${names.join(', ')}`,
      changes: names.map((name) => `${name} is added`),
      sql: [...addColumns(database, registry, resource, added), ...remembered],
      // SQLite adds a reference with a default only while it does not check foreign keys.
      isRebuilding: added.some(({ references, required }) => references !== undefined && required),
    })
  }
  // The derived objects of a rebuilt table are planned afterwards.
  if (!isRebuilding) steps.push(...(await derivedSteps(database, registry, resource, false)))
  planForeignKeys(planning, resource, added)
}

const planResource = async (planning: Planning, resource: Resource): Promise<void> => {
  const { database, approvals, unused } = planning
  const { table, fields, renamedFromTable = '' } = resource
  const differences = new TableDifferences(table, approvals)
  const current = await database.catalogue(table)
  const found = await database.catalogue(renamedFromTable)
  const former = found?.isOwn ? found : undefined
  const near = nearest(
    renamedFromTable,
    unused.map(({ name }) => name),
  )
  const similar = unused.find((one) => fields.filter(({ name }) => findColumn(one, name)).length > fields.length / 2)
  if (current && (!current.isOwn || current.otherwise !== undefined)) {
    const what = current.otherwise ?? 'a table'
    const serve = current.hasRows
      ? 'To serve it as it is, write existing: true in the descriptor. Otherwise set'
      : 'Set'
    differences.add(
      `"${table}" is ${what} that this service did not create.`,
      `${serve} table to another name, or rename the other one.`,
    )
  } else if (current && former) {
    const [rows, formerRows] = [
      await rowQueries(database, table).count(),
      await rowQueries(database, former.name).count(),
    ]
    const message = `the table was renamed from "${former.name}", but both exist: "${former.name}" has ${formerRows} rows, and "${table}" has ${rows}.`
    const advice = `If "${former.name}" has the right rows, drop the other: drop table "${table}". Otherwise remove renamedFromTable.`
    differences.add(message, advice)
  } else if (current || former) {
    return planExisting(planning, resource, (current ?? former) as CatalogueTable)
  } else if (near) {
    const message = `the table was renamed from "${renamedFromTable}", but neither table exists. Did you mean "${near}"?`
    differences.isApproved(`create:${table}`, message, 'If the table is new, run:')
  } else if (similar) {
    const message = `the table does not exist, and no resource uses "${similar.name}", which has similar columns.`
    const advice = 'If it was renamed, give the descriptor renamedFromTable. If it is new, run:'
    differences.isApproved(`create:${table}`, message, advice)
  }
  planning.differences.push(...differences.all)
  return differences.isBlocking ? undefined : planNew(planning, resource)
}

/** The approvals that drop unused columns which reference a table: it can only be dropped after them. */
const referencingApprovals = async ({ database, registry }: Planning, target: string): Promise<string[]> => {
  const approvals: string[] = []
  for (const { table, fields } of registry) {
    const keys = (await database.catalogue(table))?.foreignKeys.filter((key) => key.target === target) ?? []
    const unused = keys.filter(({ column }) => !fields.some(({ name }) => name === column))
    approvals.push(...unused.map(({ column }) => `drop:${table}.${column}`))
  }
  return approvals
}

/** A table whose descriptor is gone: only the names of its objects count. */
const withoutDescriptor = (table: string): Resource =>
  resourceFrom(table, { name: table, area: '', table, fields: {}, required: [], create: false }, [])

/** Plans a table that no resource uses: it stays as it is until a maintainer drops it. */
const planUnused = async (planning: Planning, table: string): Promise<void> => {
  const { database, approvals, steps } = planning
  const differences = new TableDifferences(table, approvals)
  const approval = [...(await referencingApprovals(planning, table)), `drop:${table}`].join(',')
  const rows = await rowQueries(database, table).count()
  const message = `no resource uses the table, so its ${rows} rows are not served.`
  if (differences.isApproved(approval, message, `To drop it with its ${rows} rows:`, undefined, false)) {
    const sql = [...(await dropDerived(database, withoutDescriptor(table))), `drop table ${quoted(table)}`]
    steps.push({ table, about: `drop the table ${table}`, sql })
  }
  planning.differences.push(...differences.all)
}

/** Plans the migration of a database; one that is up to date has no steps and no blocking differences. */
export const planMigration = async (
  database: MigrationDialect,
  registry: Registry,
  approvals: Approvals,
): Promise<MigrationPlan> => {
  const managed = managedResources(registry)
  const differences: Difference[] = []
  for (const resource of registry.filter(({ existing }) => existing))
    differences.push(...(await compareExisting(database, resource)))
  // Nothing is created beside the tables of other programs.
  if (managed.length === 0) return { steps: [], differences }
  const steps = [...(await ownTableSteps(database)), ...((await database.functionSteps?.()) ?? [])]
  const unused: CatalogueTable[] = []
  for (const name of await database.countedTables()) {
    const table = registry.some((resource) => resource.table === name) ? undefined : await database.catalogue(name)
    if (table) unused.push(table)
  }
  const planning: Planning = { database, registry, approvals, unused, steps, foreignKeys: [], differences }
  for (const resource of managed) await planResource(planning, resource)
  for (const { name, isOwn } of unused) {
    const isFormer = registry.some(({ renamedFromTable }) => renamedFromTable === name)
    if (isOwn && !isFormer) await planUnused(planning, name)
  }
  return { steps: [...steps, ...planning.foreignKeys], differences: planning.differences }
}
