/** Loads the demo rows of some resources into a database that has rows of others. */
import { service as serviceCaller } from '../../engine/descriptor/access.js'
import type { Registry, Resource, RowValues } from '../../engine/descriptor/registry.js'
import { emptyResources, type Storage } from '../../engine/storage/storage.js'
import { describeFailure } from '../../support/failures.js'
import { CommandError } from '../../support/options.js'
import { counted } from '../counted.js'

/** The most errors to list. */
const mostListed = 5

/** The row without references to rows that are loaded with it. */
const withoutLoaded = ({ fields }: Resource, row: RowValues, loaded: readonly Resource[]): RowValues => {
  const isLoaded = (path: string | undefined, id: unknown) =>
    loaded.some((resource) => resource.path === path && resource.demo.some((other) => other['id'] === id))
  const kept = fields.filter(({ name, references }) => !isLoaded(references, row[name]))
  return Object.fromEntries(kept.map(({ name }) => [name, row[name] ?? null]))
}

/** The references of the demo rows that name no row, neither in the database nor among the rows to load. */
const missingReferences = async (storage: Storage, loaded: readonly Resource[]): Promise<string[]> => {
  const errors: string[] = []
  for (const resource of loaded) {
    for (const [index, row] of resource.demo.entries()) {
      for (const { field: name } of await storage.table(resource).conflicts(withoutLoaded(resource, row, loaded))) {
        const target = resource.fields.find((field) => field.name === name)?.references
        errors.push(
          `seeds/${resource.path}.json, row ${index + 1}: ${name} references row ${row[name]} of ${target}, which is not in the database.`,
        )
      }
    }
  }
  return errors
}

const fail = (errors: readonly string[]): never => {
  const more = errors.length - mostListed
  const rest = more > 0 ? [`… and ${more} more.`] : []
  throw new CommandError(['Nothing was loaded:', ...errors.slice(0, mostListed), ...rest].join('\n  '))
}

/** Loads the demo rows of all the resources in one transaction, or none. */
export const loadDemoRows = async (storage: Storage, resources: Registry, log: (message: string) => void) => {
  const empty = await emptyResources(storage, resources)
  const occupied = resources.filter((resource) => !empty.includes(resource))
  if (occupied.length > 0) {
    fail(occupied.map(({ path }) => `${path} already has rows; demo rows are for empty tables.`))
  }
  const missing = await missingReferences(storage, resources)
  if (missing.length > 0) fail(missing)
  const batches = resources.map((resource) => ({ resource, rows: resource.demo }))
  await storage.fill(batches, serviceCaller.name).catch((error: Error) => {
    throw new CommandError(`Nothing was loaded. ${describeFailure(error) ?? error.message}`)
  })
  for (const { path, demo } of resources) log(`${path}: loaded ${counted(demo.length, 'demo row')}.`)
}
