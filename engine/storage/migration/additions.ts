/** Plans what only adds to a database, for the files of `migrations/` that run next: tables, and columns that allow null. */
import { managedResources, type Registry, type Resource } from '../../descriptor/registry.js'
import { hasLog } from '../log.js'
import { addColumn } from '../schema.js'
import type { CatalogueTable } from './catalogue.js'
import { entriesTables } from './dataSteps.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import type { MigrationFile } from './migrationFiles.js'
import { createTableStep, ownTableSteps, recountSteps, storedTable } from './migrationPlan.js'

const newTable = async (database: MigrationDialect, registry: Registry, resource: Resource): Promise<Step> => {
  const { indexes } = database.derivedObjects(resource, registry)
  const counted = await recountSteps(database, resource, true)
  return createTableStep(database, registry, resource, [
    ...counted.flatMap(({ sql }) => sql),
    ...indexes.flatMap((index) => database.indexStep(resource, index, true).sql),
  ])
}

/** The columns that a table lacks. One that has its former name is left to the files. */
const newColumns = (
  database: MigrationDialect,
  resource: Resource,
  { name: table, columns }: CatalogueTable,
): Step[] => {
  const has = (name: string | undefined) => columns.some((column) => column.name === name)
  const added = resource.fields.filter(({ name, renamedFrom }) => name !== 'id' && !has(name) && !has(renamedFrom))
  if (added.length === 0) return []
  const isUsed = (column: string) =>
    resource.fields.some(({ name, renamedFrom }) => name === column || renamedFrom === column)
  const unused = columns.filter(({ name }) => !isUsed(name))
  const names = added.map(({ name }) => name)
  const optional = added.map(({ references, ...field }) => ({ ...field, required: false }))
  return [
    {
      table,
      about: `add to ${table}: ${names.join(', ')}`,
      changes: names.map((name) => `${name} is added`),
      sql: [
        ...optional.map((field) => addColumn(database, [], { ...resource, table }, field)),
        ...unused.flatMap(({ name }) => database.rememberUnused(table, name)),
      ],
    },
  ]
}

export const planAdditions = async (
  database: MigrationDialect,
  registry: Registry,
  files: readonly MigrationFile[],
): Promise<Step[]> => {
  const steps = [
    ...(await ownTableSteps(database, { ...entriesTables(files), ...(hasLog(registry) && database.logTables) })),
    ...((await database.functionSteps?.()) ?? []),
  ]
  for (const resource of managedResources(registry)) {
    const current = await storedTable(database, resource)
    if (current === undefined) steps.push(await newTable(database, registry, resource))
    else if (current.isOwn && current.relationKind === undefined) steps.push(...newColumns(database, resource, current))
  }
  return steps
}
