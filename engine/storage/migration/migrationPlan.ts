/** Plans a migration: the steps that bring the database up to date, and the differences that need a maintainer. */
import { nearest } from '../../descriptor/nearest.js'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { addColumns, addForeignKeys, createTable } from '../schema.js'
import { StorageError } from '../storage.js'
import { type CatalogueTable, columnOf, describeChanges } from './catalogue.js'
import { derivedSteps, dropDerived } from './derivedSteps.js'
import { type Approvals, applyCommand, type Difference } from './difference.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { rowCount } from './rowChecks.js'
import { compareTable, unusedColumns } from './tableDifferences.js'
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
  const derived = await derivedSteps(database, registry, resource, true)
  // One transaction, because nobody else can use the table yet.
  const sql = [...createTable(database, registry, resource), ...derived.flatMap((step) => step.sql)]
  const steps = [{ table, about: `create the table ${table}`, changes: ['the table is created'], sql }]
  return { steps, foreignKeys: foreignKeySteps(database, registry, resource, fields), differences: [] }
}

/** Plans a table that exists, perhaps under its former name. */
const planExisting = async (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  current: CatalogueTable,
  approvals: Approvals,
): Promise<ResourcePlan> => {
  const { table } = resource
  const comparison = { database, registry, resource, current, approvals }
  const compared = await compareTable(comparison)
  const { shape, added } = compared
  const changes = describeChanges(current, shape)
  const shapeDifferences = changes.length > 0 ? database.shapeDifferences(current, shape) : []
  const differences = [
    ...compared.differences,
    ...shapeDifferences.map((difference) => ({ table, ...difference, isBlocking: true })),
    ...(await compareUnique(database, resource, current, compared)),
  ]
  if (differences.some(({ isBlocking }) => isBlocking)) return { steps: [], foreignKeys: [], differences }

  const derivedFrom = { ...resource, table: current.name }
  if (current.name !== table) {
    const rename = `alter table "${current.name}" rename to "${table}"`
    const sql = [...(await dropDerived(database, derivedFrom)), rename, ...database.claim(table)]
    const about = `rename the table ${current.name} to ${table}`
    // The rest is planned afterwards.
    return { steps: [{ table, about, sql, isRebuilding: true }], foreignKeys: [], differences }
  }
  const steps: Step[] = []
  const isRebuilt = changes.length > 0 && database.rebuilds(current, shape)
  if (changes.length > 0) {
    const dropped = isRebuilt ? [...(await dropDerived(database, derivedFrom)), ...database.claim(table)] : []
    const sql = [...dropped, ...database.reshape(current, shape)]
    const about = `change ${table}: ${changes.join(', ')}`
    const rows = await rowCount({ database, table })
    steps.push({ table, about, changes, rows, sql, isRebuilding: isRebuilt, isInParts: !isRebuilt })
  }
  if (added.length > 0) {
    const about = `add to ${table}: ${added.map(({ name }) => name).join(', ')}`
    // SQLite adds a reference with a default only while it does not check foreign keys.
    const isRebuilding = added.some((field) => field.references !== undefined && field.required)
    const remembered = unusedColumns(comparison).flatMap(({ name }) => database.rememberUnused(table, name))
    const sql = [...addColumns(database, registry, resource, added), ...remembered]
    steps.push({ table, about, changes: added.map(({ name }) => `${name} is added`), sql, isRebuilding })
  }
  // The derived objects of a rebuilt table are planned afterwards.
  if (!isRebuilt) steps.push(...(await derivedSteps(database, registry, resource, false)))
  return { steps, foreignKeys: foreignKeySteps(database, registry, resource, added), differences }
}

/** Plans the table of a resource. */
const planResource = async (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  approvals: Approvals,
  unused: readonly CatalogueTable[],
): Promise<ResourcePlan> => {
  const { table, renamedFromTable = '' } = resource
  const refused = (message: string, advice: string, approval?: string): ResourcePlan => {
    const difference = { table, message, advice, isBlocking: true, ...(approval !== undefined && { approval }) }
    return { steps: [], foreignKeys: [], differences: [difference] }
  }
  const current = await database.catalogue(table)
  const found = await database.catalogue(renamedFromTable)
  const former = found?.isOwn ? found : undefined
  if (current && (!current.isOwn || current.unservableAs !== undefined)) {
    const what = current.unservableAs ?? 'a table of another program'
    const advice = 'Set table to another name in the descriptor, or rename the other one.'
    return refused(`"${table}" is ${what}, which cannot be served.`, advice)
  }
  if (current && former) {
    const [rows, formerRows] = [await rowCount({ database, table }), await rowCount({ database, table: former.name })]
    const message = `the table was renamed from "${former.name}", but both exist: "${former.name}" has ${formerRows} rows, and "${table}" has ${rows}.`
    const advice = `If "${former.name}" has the right rows, drop the other: drop table "${table}". Otherwise remove renamedFromTable.`
    return refused(message, advice)
  }
  if (current) return planExisting(database, registry, resource, current, approvals)
  if (former) {
    const plan = await planExisting(database, registry, resource, former, approvals)
    const rename = `rename:${former.name}`
    if (approvals.has(rename)) return plan
    const message = `the table was renamed from "${former.name}".`
    const asked = refused(message, `To rename it, run: ${applyCommand(rename)}`, rename)
    return { ...asked, differences: [...asked.differences, ...plan.differences] }
  }
  const create = `create:${table}`
  const near = nearest(
    renamedFromTable,
    unused.map(({ name }) => name),
  )
  if (near && !approvals.has(create)) {
    const message = `the table was renamed from "${renamedFromTable}", but neither table exists. Did you mean "${near}"?`
    return refused(message, `If the table is new, run: ${applyCommand(create)}`, create)
  }
  const similar = unused.find((one) => isSimilar(resource, one))
  if (similar && !approvals.has(create)) {
    const message = `the table does not exist, and no resource uses "${similar.name}", which has similar columns.`
    const advice = `If it was renamed, give the descriptor renamedFromTable. If it is new, run: ${applyCommand(create)}`
    return refused(message, advice, create)
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
