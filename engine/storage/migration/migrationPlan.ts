/** Plans a migration: the steps that bring the database up to date, and the differences that need a maintainer. */
import type { Knex } from 'knex'
import { isText } from '../../descriptor/kinds/index.js'
import { nearest } from '../../descriptor/nearest.js'
import {
  type Field,
  idField,
  isLogged,
  loggedIds,
  managedResources,
  type Registry,
  type Resource,
  resourceFrom,
} from '../../descriptor/registry.js'
import { StorageError } from '../failures.js'
import { hasLog, logTable } from '../log.js'
import { addColumn, addForeignKey, createTable, literal, quoted, wantedForeignKey } from '../schema.js'
import { type CatalogueTable, describeChanges, findColumn } from './catalogue.js'
import { compareExisting } from './compareExisting.js'
import { compareTable } from './compareTable.js'
import { compareRecord } from './descriptorRecord.js'
import { type Approvals, applyCommand, type Difference, type TableDifferences, tableDifferences } from './difference.js'
import type { MigrationDialect, OwnTable, Step } from './migrationDialect.js'
import { rowQueries } from './rows.js'

export interface MigrationPlan {
  readonly steps: readonly Step[]
  readonly differences: readonly Difference[]
  /** Whether the database was migrated to newer descriptors, so that these change nothing. */
  readonly isOlder?: boolean
}

/** What the steps of a plan change in the tables, a line for each: `books: reason is added`. */
export const describeSteps = ({ steps }: Pick<MigrationPlan, 'steps'>): string[] =>
  steps.flatMap(({ table, changes = [] }) => changes.map((change) => `${table}: ${change}`))

/** Tells a database from the one that it was restored from, if it was: the transactions of its log are those of another server. */
const renewSteps = async (database: MigrationDialect): Promise<Step[]> => {
  const sql = await database.renewLog?.()
  return sql === undefined ? [] : [{ table: logTable, about: 'begin the log of changes anew', sql: [sql] }]
}

/** Creates the engine's own tables; throws if one of them is another program's. */
export const ownTableSteps = async (
  database: MigrationDialect,
  others: Readonly<Record<string, OwnTable>> = {},
): Promise<Step[]> => {
  const steps: Step[] = []
  for (const [table, { create, columns = [] }] of Object.entries({ ...database.ownTables, ...others })) {
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
export const dropDerived = async (database: MigrationDialect, resource: Resource): Promise<string[]> => {
  const { indexes, countTriggers, logTriggers } = database.derivedObjects(resource, [])
  const { names } = await database.existingObjects(resource)
  const drops = dropOrder.flatMap((type) =>
    [...names, ...indexes, ...countTriggers, ...logTriggers]
      .filter((object) => object.type === type)
      .map((object) => database.drop(resource, object)),
  )
  return [...new Set(drops), ...database.unmark(resource.table)]
}

/** Creates the triggers that write the log of a resource; `isNew` if something may have been written that it does not have. */
const logSteps = (database: MigrationDialect, resource: Resource, isNew: boolean): Step[] => {
  const { logTriggers } = database.derivedObjects(resource, [])
  if (logTriggers.length === 0) return []
  const { table } = resource
  const sql = [
    ...logTriggers.map((trigger) => database.drop(resource, trigger)),
    ...logTriggers.flatMap((trigger) => database.createTrigger(resource, trigger)),
    ...(isNew ? [database.resetLog(table)] : []),
  ]
  return [{ table, about: `log the changes of ${table}`, sql }]
}

export const recountSteps = async (database: MigrationDialect, resource: Resource, isNew = false): Promise<Step[]> => {
  const { table } = resource
  const rows = isNew ? 0 : await rowQueries(database, table).count()
  const counting = (await database.countTriggerSteps(resource, rows)).map((step) => ({ table, rows, ...step }))
  return [...counting, ...logSteps(database, resource, true)]
}

/** The step that creates a table with everything derived from it: one transaction, because nobody else can use the table yet. */
export const createTableStep = (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  derived: readonly string[],
): Step => {
  const { table } = resource
  const sql = [createTable(database, registry, resource), ...database.markOwned(table), ...derived]
  return { table, about: `create the table ${table}`, changes: ['the table is created'], sql }
}

/** The approvals that drop unused columns which reference a table: it can only be dropped after them. */
const referencingApprovals = async (database: MigrationDialect, registry: Registry, target: string) => {
  const approvals: string[] = []
  for (const { table, fields } of registry) {
    const columns = (await database.catalogue(table))?.columns ?? []
    const unused = columns.filter((column) => !fields.some(({ name }) => name === column.name))
    const referencing = unused.filter(({ foreignKey }) => foreignKey?.target === target)
    approvals.push(...referencing.map(({ name }) => `drop:${table}.${name}`))
  }
  return approvals
}

/** The table of a resource, perhaps still under its former name. */
export const storedTable = async (
  { catalogue }: MigrationDialect,
  { table, renamedFromTable = '' }: Resource,
): Promise<CatalogueTable | undefined> => {
  const former = await catalogue(renamedFromTable)
  return (await catalogue(table)) ?? (former?.isOwn ? former : undefined)
}

/** A table whose descriptor is gone: only the names of its objects count. */
export const withoutDescriptor = (table: string): Resource =>
  resourceFrom(table, { name: table, area: '', table, fields: {}, required: [], create: false }, [])

/** Plans the migration of a database, after some steps; one that is up to date has none and no blocking differences. */
export const planMigration = async (
  database: MigrationDialect,
  registry: Registry,
  approvals: Approvals,
  firstSteps: readonly Step[] = [],
): Promise<MigrationPlan> => {
  const managed = managedResources(registry)
  const differences: Difference[] = []
  for (const resource of registry.filter(({ existing }) => existing))
    differences.push(...(await compareExisting(database, registry, resource)))
  // Nothing is created beside the tables of other programs.
  if (managed.length === 0) return { steps: [], differences }
  const record = await compareRecord(database, registry, approvals)
  const steps = [
    ...firstSteps,
    ...(await ownTableSteps(database, hasLog(registry) ? database.logTables : {})),
    ...((await database.functionSteps?.()) ?? []),
    ...(hasLog(registry) ? await renewSteps(database) : []),
  ]
  /** The steps that need all tables. */
  const foreignKeys: Step[] = []
  /** The tables that the engine counts and that no resource uses any more. */
  const unused: CatalogueTable[] = []
  for (const name of await database.countedTables()) {
    const table = registry.some((resource) => resource.table === name) ? undefined : await database.catalogue(name)
    if (table) unused.push(table)
  }
  const unusedNames = unused.map(({ name }) => name)
  const countRows = (table: string) => rowQueries(database, table).count()
  /** What is changed in the log, if there is one. */
  const inLog = async (change: string, table: string) =>
    (await database.catalogue(logTable)) ? [`${change} where name = ${literal(table)}`] : []
  const renamedLog = (from: string, to: string) => inLog(`update ${logTable} set name = ${literal(to)}`, from)

  /** The steps for the derived objects of a resource whose table exists or, if `isNew`, is created first. */
  const derivedSteps = async (resource: Resource, isNew: boolean): Promise<Step[]> => {
    const { table } = resource
    const { indexes } = database.derivedObjects(resource, registry)
    const searched = record.withSearched(resource)
    const { countTriggers, logTriggers } = database.derivedObjects(searched, registry)
    const wanted = [...indexes, ...countTriggers, ...logTriggers]
    const { names, isCurrent } = await database.existingObjects(resource)
    const obsolete = names
      .filter(({ type, name }) => !wanted.some((one) => one.type === type && one.name === name))
      .filter(({ name }) => !record.isKept(name))
      // Triggers use columns.
      .toSorted((a, b) => b.type.localeCompare(a.type))
    const stale = indexes.filter((index) => !isCurrent(index))
    const isCounted = countTriggers.every(isCurrent) && (await database.isCounted(resource))
    const objectSteps: Step[] = obsolete.map((object) => {
      const what = `the ${object.type} ${object.name}`
      return { table, about: `drop ${what}`, changes: [`${what} is dropped`], sql: [database.drop(resource, object)] }
    })
    if (!isCounted) objectSteps.push(...(await recountSteps(database, searched, isNew)))
    else if (!logTriggers.every(isCurrent)) {
      const isUnlogged = !logTriggers.every(({ name }) => names.some((one) => one.name === name))
      objectSteps.push(...logSteps(database, searched, isUnlogged))
    }
    const rows = isNew || stale.length === 0 ? 0 : await countRows(table)
    for (const index of stale) {
      const changes = index.unique ? [`${index.unique.join(', ')} must be unique`] : []
      objectSteps.push({ table, rows, changes, isOfSet: index.isOfSet, ...database.indexStep(resource, index, isNew) })
    }
    return objectSteps
  }

  const planForeignKeys = ({ table }: Resource, added: readonly Field[]): void => {
    if (database.hasInlineForeignKeys) return
    const sql = added.flatMap((field) => {
      const key = wantedForeignKey(registry, field)
      return key ? addForeignKey(table, field.name, key) : []
    })
    const names = added.filter(({ references }) => references !== undefined).map(({ name }) => name)
    const about = `add foreign keys to ${table}: ${names.join(', ')}`
    if (sql.length > 0) foreignKeys.push({ table, about, sql, isInParts: true })
  }

  const planNew = async (resource: Resource): Promise<void> => {
    const derived = await derivedSteps(resource, true)
    steps.push(
      createTableStep(
        database,
        registry,
        resource,
        derived.flatMap(({ sql }) => sql),
      ),
    )
    planForeignKeys(resource, resource.fields)
  }

  const planExisting = async (
    resource: Resource,
    current: CatalogueTable,
    ofTable: TableDifferences,
  ): Promise<void> => {
    const { table } = resource
    const isRenamed = current.name !== table
    if (isRenamed) {
      const message = `the table was renamed from "${current.name}".`
      ofTable.isApproved(`rename:${current.name}`, message, 'To rename it, run:')
    }
    const {
      shape,
      added,
      replacements,
      unused: others,
    } = await compareTable(database, registry, resource, current, ofTable, record.isNewField)
    if (isLogged(resource) && isText(idField(resource))) {
      const reserved = (query: Knex.QueryBuilder) => query.whereIn('id', loggedIds)
      if ((await rowQueries(database, current.name).count(reserved)) > 0) {
        const message = `a row has the id "${loggedIds.join('" or "')}", which is a path of a resource with changes or history.`
        ofTable.add(message, 'Give the row another id, or remove changes and history.', 'id')
      }
    }
    const changes = describeChanges(current, shape)
    const reshaped = changes.length > 0 ? database.reshape(current, shape) : undefined
    for (const { message, advice, column } of reshaped?.differences ?? []) ofTable.add(message, advice, column)
    if (ofTable.isBlocking()) return

    const dropped = async () => [
      ...(await dropDerived(database, { ...resource, table: current.name })),
      ...(isRenamed
        ? [`alter table "${current.name}" rename to "${table}"`, ...(await renamedLog(current.name, table))]
        : []),
      ...database.markOwned(table),
    ]
    if (isRenamed) {
      const about = `rename the table ${current.name} to ${table}`
      // The rest is planned afterwards.
      steps.push({ table, about, sql: await dropped(), isRebuilding: true })
      return
    }
    const isRebuilding = reshaped?.isRebuilding === true
    if (replacements.length > 0) {
      const changed = replacements.map(({ change }) => change)
      const about = `change ${table}: ${changed.join(', ')}`
      steps.push({
        table,
        about,
        changes: changed,
        rows: await countRows(table),
        sql: replacements.map(({ sql }) => sql),
      })
    }
    if (reshaped) {
      const sql = [...(isRebuilding ? await dropped() : []), ...reshaped.sql]
      const about = `change ${table}: ${changes.join(', ')}`
      steps.push({ table, about, changes, rows: await countRows(table), sql, isRebuilding, isInParts: !isRebuilding })
    }
    if (added.length > 0) {
      const names = added.map(({ name }) => name)
      const remembered = others.flatMap(({ name }) => database.rememberUnused(table, name))
      steps.push({
        table,
        about: `add to ${table}: ${names.join(', ')}`,
        changes: names.map((name) => `${name} is added`),
        sql: [...added.map((field) => addColumn(database, registry, resource, field)), ...remembered],
        // SQLite adds a reference with a default only while it does not check foreign keys.
        isRebuilding: added.some(({ references, required }) => references !== undefined && required),
      })
    }
    // The derived objects of a rebuilt table are planned afterwards.
    if (!isRebuilding) steps.push(...(await derivedSteps(resource, false)))
    planForeignKeys(resource, added)
  }

  const planResource = async (resource: Resource, ofTable: TableDifferences): Promise<void> => {
    const { table, fields, renamedFromTable = '' } = resource
    const current = await database.catalogue(table)
    const renamed = await database.catalogue(renamedFromTable)
    const former = renamed?.isOwn ? renamed : undefined
    const near = nearest(renamedFromTable, unusedNames)
    const similar = unused.find((one) => fields.filter(({ name }) => findColumn(one, name)).length > fields.length / 2)
    if (current && (!current.isOwn || current.relationKind !== undefined)) {
      const message = `"${table}" is ${current.relationKind ?? 'a table'} that this service did not create.`
      const serve = 'To serve it as it is, write existing: true in the descriptor. Otherwise set'
      ofTable.add(message, `${current.hasRows ? serve : 'Set'} table to another name, or rename the other one.`)
    } else if (current && former) {
      const [rows, formerRows] = [await countRows(table), await countRows(former.name)]
      const message = `the table was renamed from "${former.name}", but both exist: "${former.name}" has ${formerRows} rows, and "${table}" has ${rows}.`
      const advice = `If "${former.name}" has the right rows, drop the other: drop table "${table}". Otherwise remove renamedFromTable.`
      ofTable.add(message, advice)
    } else if (current || former) {
      return planExisting(resource, (current ?? former) as CatalogueTable, ofTable)
    } else if (near) {
      const message = `the table was renamed from "${renamedFromTable}", but neither table exists. Did you mean "${near}"?`
      ofTable.isApproved(`create:${table}`, message, 'If the table is new, run:')
    } else if (similar) {
      const message = `the table does not exist, and no resource uses "${similar.name}", which has similar columns.`
      const advice = 'If it was renamed, give the descriptor renamedFromTable. If it is new, run:'
      ofTable.isApproved(`create:${table}`, message, advice)
    }
    if (!ofTable.isBlocking()) await planNew(resource)
  }

  /** A table that no resource uses stays as it is until a maintainer drops it. */
  const planUnused = async (table: string, ofTable: TableDifferences): Promise<void> => {
    const otherApprovals = await referencingApprovals(database, registry, table)
    const approval = [...otherApprovals, `drop:${table}`].join(',')
    const rows = await countRows(table)
    if (otherApprovals.length > 0 && approvals.has(`drop:${table}`) && !approvals.has(approval)) {
      const columns = otherApprovals.map((other) => other.replace('drop:', '')).join(', ')
      ofTable.add(`${columns} still references the table.`, `Drop both: ${applyCommand(approval)}`)
      return
    }
    const message = `no resource uses the table, so its ${rows} rows are not served.`
    if (!ofTable.isApproved(approval, message, `To drop it with its ${rows} rows:`, undefined, false)) return
    const sql = [
      ...(await dropDerived(database, withoutDescriptor(table))),
      `drop table ${quoted(table)}`,
      ...(await inLog(`delete from ${logTable}`, table)),
    ]
    steps.push({ table, about: `drop the table ${table}`, sql })
  }

  const collect = async (table: string, plan: (ofTable: TableDifferences) => Promise<void>): Promise<void> => {
    const ofTable = tableDifferences(table, approvals)
    await plan(ofTable)
    differences.push(...ofTable.all)
  }
  for (const resource of managed) await collect(resource.table, (ofTable) => planResource(resource, ofTable))
  for (const { name, isOwn } of unused) {
    const isFormer = registry.some(({ renamedFromTable }) => renamedFromTable === name)
    if (isOwn && !isFormer) await collect(name, (ofTable) => planUnused(name, ofTable))
  }
  return {
    steps: record.withStep([...steps, ...foreignKeys]),
    differences: record.differences(differences),
    isOlder: record.isOlder,
  }
}
