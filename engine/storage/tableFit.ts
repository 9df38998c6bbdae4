/** Notices that a table no longer fits its descriptor, because it was changed while the service runs. */
import type { Kind } from '../descriptor/kinds.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { type Storage, TableChanged } from './storage.js'
import { wrapTable } from './wrapTable.js'

/** What a database provides to notice it. */
export interface FitDialect {
  /** Whether an error means that a table, a column or an index is not as the statement expects. */
  isMismatch(error: unknown): boolean
  /** Whether the schema has changed since the last call, if that is known without a query. */
  hasChanged?(): boolean
  /** Why tables do not fit their resources; a resource whose table fits is left out. */
  differences(): Promise<ReadonlyMap<Resource, string>>
}

const advice =
  'Restart the service with the descriptors for which the table was changed; until then, its requests get 503.'

/** Why a table does not have the columns of its resource, given the type of each column; undefined if it has. */
export const columnDifference = (
  { fields }: Resource,
  types: ReadonlyMap<string, string>,
  stores: (type: string, kind: Kind) => boolean,
): string | undefined => {
  const field = fields.find(({ name, kind }) => !stores(types.get(name) ?? '', kind))
  if (!field) return undefined
  const type = types.get(field.name)
  return type === undefined ? `there is no column ${field.name}` : `the column ${field.name} is of type ${type}`
}

/** A storage whose requests fail with TableChanged while their table does not fit; says so once, and when it fits again. */
export const withFitCheck = (
  storage: Storage,
  registry: Registry,
  { isMismatch, hasChanged, differences }: FitDialect,
  warn: (message: string) => void,
): Storage => {
  let changed: ReadonlyMap<Resource, string> = new Map()
  const update = (found: ReadonlyMap<Resource, string>): void => {
    for (const [resource, reason] of found) {
      if (!changed.has(resource))
        warn(`The table "${resource.table}" no longer fits its descriptor (${reason}). ${advice}`)
    }
    for (const resource of changed.keys()) {
      if (!found.has(resource)) warn(`The table "${resource.table}" fits its descriptor again.`)
    }
    changed = found
  }
  const refuse = (resource: Resource): void => {
    const reason = changed.get(resource)
    if (reason !== undefined) throw new TableChanged(`the table "${resource.table}" has changed: ${reason}`)
  }
  const guarded =
    (resource: Resource) =>
    async <T>(work: () => Promise<T>): Promise<T> => {
      if (changed.has(resource) || hasChanged?.()) {
        update(await differences())
        refuse(resource)
      }
      try {
        return await work()
      } catch (error) {
        if (!isMismatch(error)) throw error
        update(await differences())
        refuse(resource)
        throw error
      }
    }
  const tables = new Map(
    registry.map((resource) => [resource, wrapTable(() => storage.table(resource), guarded(resource))]),
  )
  return {
    ...storage,
    table: (resource) => tables.get(resource) ?? storage.table(resource),
    async ping() {
      const found = await storage.ping()
      update(await differences())
      return { ...found, changedTables: [...changed.keys()].map(({ table }) => table) }
    },
  }
}
