/** The steps for the objects that are derived from a table: its bookkeeping and its indexes. */
import { type Registry, type Resource, resourceFrom } from '../../descriptor/registry.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { rowCount } from './rowChecks.js'

/** A table whose descriptor is gone: only the names of its objects count. */
export const withoutDescriptor = (table: string): Resource =>
  resourceFrom(table, { name: table, area: '', table, fields: {}, required: [], create: false }, [])

/** Triggers use tables, so they are dropped before them. A column stays: it shows that the engine has created the table. */
const dropOrder = ['trigger', 'index', 'table']

/** Drops what is derived from a table, including objects of earlier descriptors. */
export const dropDerived = async (database: MigrationDialect, resource: Resource): Promise<string[]> => {
  const { indexes, bookkeeping } = database.derivedObjects(resource, [])
  const { names } = await database.existingObjects(resource)
  const drops = dropOrder.flatMap((type) =>
    [...names, ...indexes, ...bookkeeping]
      .filter((one) => one.type === type)
      .map((one) => database.drop(resource, one)),
  )
  return [...new Set(drops), ...database.forget(resource.table)]
}

/** The steps that create the bookkeeping of a table again and compute it from the rows. */
export const recountSteps = async (database: MigrationDialect, resource: Resource, isNew = false): Promise<Step[]> => {
  const rows = isNew ? 0 : await rowCount({ database, table: resource.table })
  const steps = await database.bookkeepingSteps(resource, rows)
  return steps.map((step) => ({ table: resource.table, rows, ...step }))
}

/** The steps for the derived objects of a resource whose table exists or, if `isNew`, is created first. */
export const derivedSteps = async (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  isNew: boolean,
): Promise<Step[]> => {
  const { table } = resource
  const { indexes, bookkeeping } = database.derivedObjects(resource, registry)
  const wanted = [...indexes, ...bookkeeping]
  const { names, isCurrent } = await database.existingObjects(resource)
  const obsolete = names.filter(({ type, name }) => !wanted.some((one) => one.type === type && one.name === name))
  const stale = indexes.filter((index) => !isCurrent(index))
  const isCounted = bookkeeping.every(isCurrent) && (await database.isCounted(resource))

  const steps: Step[] = obsolete.map((object) => {
    const about = `drop the ${object.type} ${object.name}`
    return {
      table,
      about,
      changes: [`the ${object.type} ${object.name} is dropped`],
      sql: [database.drop(resource, object)],
    }
  })
  if (!isCounted) steps.push(...(await recountSteps(database, resource, isNew)))
  const rows = isNew || stale.length === 0 ? 0 : await rowCount({ database, table })
  for (const index of stale) {
    const changes = index.unique ? [`${index.unique.join(', ')} must be unique`] : []
    steps.push({ table, rows, changes, ...database.indexStep(resource, index, isNew) })
  }
  return steps
}
