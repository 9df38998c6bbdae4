/** Plans a migration: the steps that bring the database up to date, and the differences that need a maintainer. */
import { nearest } from '../../descriptor/nearest.js'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { addColumns, addForeignKeys, createTable, forgetOrigin, recordOrigin, unusedColumnsTable } from '../schema.js'
import { StorageError } from '../storage.js'
import { type CatalogueTable, columnOf, describeChanges } from './catalogue.js'
import { derivedSteps, dropDerived } from './derivedSteps.js'
import { type Approvals, applyCommand, type Difference } from './difference.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { rowCount } from './rowChecks.js'
import { adoptApproval, compare, unusedColumns } from './tableDifferences.js'
import { compareUnique } from './uniqueDifferences.js'
import { isSimilar, planUnused, unusedTables } from './unusedTables.js'

export interface MigrationPlan {
  readonly steps: readonly Step[]
  readonly differences: readonly Difference[]
}

/** What the steps of a plan change in the tables, a line for each: `leave_requests: reason is added`. */
export const changesOf = ({ steps }: MigrationPlan): string[] =>
  steps.flatMap(({ table, changes = [] }) => changes.map((change) => `${table}: ${change}`))

interface ResourcePlan extends MigrationPlan {
  /** The steps that need all tables. */
  readonly foreignKeys: readonly Step[]
}

/** Throws if a table that the engine needs is another program's. */
const refuseOther = (current: CatalogueTable, columns: readonly string[]): void => {
  const missing = columns.filter((name) => !columnOf(current, name))
  if (missing.length === 0) return
  throw new StorageError(
    `another program has created "${current.name}", which has no column "${missing.join('", "')}". The service needs a table of that name: rename the other one, or use another schema or database`,
  )
}

const ownTableSteps = async (database: MigrationDialect): Promise<Step[]> => {
  const steps: Step[] = []
  for (const [table, { create, columns = [] }] of Object.entries(database.ownTables)) {
    const current = await database.catalogue(table)
    if (current) refuseOther(current, columns)
    else steps.push({ table, about: `create the table ${table}`, sql: create })
  }
  return steps
}

/** Adds the foreign keys of fields whose columns are new. */
const foreignKeySteps = (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  added: Resource['fields'],
): Step[] => {
  const { table } = resource
  const sql = addForeignKeys(database, registry, resource, added)
  const names = added.filter(({ references }) => references !== undefined).map(({ name }) => name)
  return sql.length > 0
    ? [{ table, about: `add foreign keys to ${table}: ${names.join(', ')}`, sql, isInParts: true }]
    : []
}

/** Plans a table that does not exist yet. */
const planNew = async (database: MigrationDialect, registry: Registry, resource: Resource): Promise<ResourcePlan> => {
  const { table, fields } = resource
  const derived = await derivedSteps(database, resource, true)
  // One transaction, because nobody else can use the table yet.
  const sql = [
    ...createTable(database, registry, resource),
    recordOrigin(database, table, 'engine'),
    ...derived.flatMap((step) => step.sql),
  ]
  const steps = [{ table, about: `create the table ${table}`, changes: ['the table is created'], sql }]
  return { steps, foreignKeys: foreignKeySteps(database, registry, resource, fields), differences: [] }
}

/** Remembers the columns of a table that no field uses, so that they are asked about once. */
const rememberUnused = ({ knex }: MigrationDialect, table: string, unused: readonly { name: string }[]): string[] => [
  knex(unusedColumnsTable).where('name', 'like', `${table}.%`).delete().toString(),
  ...(unused.length > 0 ? [knex(unusedColumnsTable).insert(unused).toString()] : []),
]

/** Plans a table that exists, perhaps under its former name. */
const planExisting = async (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  current: CatalogueTable,
  approvals: Approvals,
): Promise<ResourcePlan> => {
  const { table } = resource
  const isRenamed = current.name !== table
  const comparison = { database, registry, resource, current, approvals }
  const compared = await compare(comparison)
  const { shape, added, differences } = compared
  const isComparable = current.hasId && !differences.some(({ approval }) => approval === adoptApproval(table))
  const changes = describeChanges(current, shape)
  const shapeDifferences = changes.length > 0 ? database.shapeDifferences(current, shape) : []
  const all = [
    ...differences,
    ...shapeDifferences.map((difference) => ({ table, ...difference, isBlocking: true })),
    ...(isComparable ? await compareUnique(database, resource, current, compared) : []),
  ]
  if (all.some(({ isBlocking }) => isBlocking)) return { steps: [], foreignKeys: [], differences: all }

  const derivedFrom = { ...resource, table: current.name }
  if (isRenamed) {
    const rename = `alter table "${current.name}" rename to "${table}"`
    const sql = [
      recordOrigin(database, table, 'engine'),
      forgetOrigin(database, current.name),
      ...(await dropDerived(database, derivedFrom)),
      rename,
    ]
    const about = `rename the table ${current.name} to ${table}`
    // The rest is planned afterwards.
    return { steps: [{ table, about, sql, isRebuilding: true }], foreignKeys: [], differences: all }
  }
  const steps: Step[] = []
  const isRebuilt = changes.length > 0 && database.rebuilds(current, shape)
  if (changes.length > 0) {
    const dropped = isRebuilt ? await dropDerived(database, derivedFrom) : []
    const sql = [recordOrigin(database, table, 'engine'), ...dropped, ...database.reshape(current, shape)]
    const about = `change ${table}: ${changes.join(', ')}`
    const rows = await rowCount({ database, table })
    steps.push({ table, about, changes, rows, sql, isRebuilding: isRebuilt, isInParts: !isRebuilt })
  }
  if (added.length > 0) {
    const about = `add to ${table}: ${added.map(({ name }) => name).join(', ')}`
    // SQLite adds a reference with a default only while it does not check foreign keys.
    const isRebuilding = added.some((field) => field.references !== undefined && field.required)
    const unused = unusedColumns(comparison).map(({ name }) => ({ name: `${table}.${name}` }))
    const sql = [...addColumns(database, registry, resource, added), ...rememberUnused(database, table, unused)]
    steps.push({ table, about, changes: added.map(({ name }) => `${name} is added`), sql, isRebuilding })
  }
  if (current.origin === 'unknown') {
    steps.push({ table, about: `adopt the table ${table}`, sql: [recordOrigin(database, table, 'adopted')] })
  }
  // The derived objects of a rebuilt table are planned afterwards.
  if (!isRebuilt) steps.push(...(await derivedSteps(database, resource, false)))
  return { steps, foreignKeys: foreignKeySteps(database, registry, resource, added), differences: all }
}

/** Plans the table of a resource. */
const planResource = async (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  approvals: Approvals,
  unused: readonly CatalogueTable[],
): Promise<ResourcePlan> => {
  const { table, renamedFromTable } = resource
  const undecided = (approval: string | undefined, message: string, advice: string): ResourcePlan => ({
    steps: [],
    foreignKeys: [],
    differences: [{ table, message, advice, isBlocking: true, ...(approval !== undefined && { approval }) }],
  })
  const current = await database.catalogue(table)
  const former = renamedFromTable === undefined ? undefined : await database.catalogue(renamedFromTable)
  if (current?.hasId && former?.hasId) {
    const [rows, formerRows] = [await rowCount({ database, table }), await rowCount({ database, table: former.name })]
    const message = `the table was renamed from "${former.name}", but both exist: "${former.name}" has ${formerRows} rows, and "${table}" has ${rows}.`
    const advice = `If "${former.name}" has the right rows, drop the other: drop table "${table}". Otherwise remove renamedFromTable.`
    return undecided(undefined, message, advice)
  }
  if (current) return planExisting(database, registry, resource, current, approvals)
  const rename = `rename:${renamedFromTable}`
  if (former && former.origin !== 'engine') {
    const message = `another program has created "${former.name}", which is not renamed.`
    return undecided(undefined, message, 'Remove renamedFromTable.')
  }
  if (former) {
    const plan = await planExisting(database, registry, resource, former, approvals)
    if (approvals.has(rename)) return plan
    const message = `the table was renamed from "${former.name}".`
    const { differences } = undecided(rename, message, `To rename it, run: ${applyCommand(rename)}`)
    return { steps: [], foreignKeys: [], differences: [...differences, ...plan.differences] }
  }
  const similar = unused.find((one) => isSimilar(resource, one))
  const create = `create:${table}`
  const near =
    renamedFromTable &&
    nearest(
      renamedFromTable,
      unused.map(({ name }) => name),
    )
  if (near && !approvals.has(create)) {
    const message = `the table was renamed from "${renamedFromTable}", but neither table exists. Did you mean "${near}"?`
    return undecided(create, message, `If the table is new, run: ${applyCommand(create)}`)
  }
  if (similar && !approvals.has(create)) {
    const message = `the table does not exist, and no resource uses "${similar.name}", which has similar columns.`
    const advice = `If it was renamed, give the descriptor renamedFromTable. If it is new, run: ${applyCommand(create)}`
    return undecided(create, message, advice)
  }
  return planNew(database, registry, resource)
}

/** Plans the migration of a database; one that is up to date has no steps and no blocking differences. */
export const planMigration = async (
  database: MigrationDialect,
  registry: Registry,
  approvals: Approvals,
): Promise<MigrationPlan> => {
  const own = [...(await ownTableSteps(database)), ...((await database.functionSteps?.()) ?? [])]
  const unused = await unusedTables(database, registry)
  const plans: ResourcePlan[] = []
  for (const resource of registry) plans.push(await planResource(database, registry, resource, approvals, unused))
  const removed = await planUnused(database, registry, approvals, unused)
  return {
    steps: [
      ...own,
      ...[...plans, removed].flatMap(({ steps }) => steps),
      ...plans.flatMap(({ foreignKeys }) => foreignKeys),
    ],
    differences: [...plans, removed].flatMap(({ differences }) => differences),
  }
}
