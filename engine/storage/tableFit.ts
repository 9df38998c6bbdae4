/** Notices that a table no longer fits its descriptor, because it was changed while the service runs. */
import type { Kind } from '../descriptor/kinds.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { type Storage, type Table, TableChanged } from './storage.js'

/** What a database provides to notice it. */
export interface FitDialect {
  /** Whether an error means that a table, a column or an index is not as the statement expects. */
  isMismatch(error: unknown): boolean
  /** The error of the storage that corresponds to one of the database, if not all of them are the storage's already. */
  storageError?(error: unknown): unknown
  /** Whether the schema has changed since the last call, if that is known without a query. */
  hasChanged?(): boolean
  /** The columns of the resources' tables, at least, with their types. */
  columns(): Promise<readonly (readonly [table: string, column: string, type: string])[]>
  /** Whether a column of a type has the values of a kind; `existing` if it is one of another program. */
  fits(type: string, kind: Kind, existing: boolean | undefined): boolean
  /** The error of a statement that reads or stores a row, for what the columns do not show. */
  statementError?(resource: Resource): string | undefined
}

const advice =
  'Restart the service with the descriptors for which the table was changed; until then, its requests get 503.'

const describeColumn = (name: string, type: string | undefined): string =>
  type === undefined ? `there is no column ${name}` : `the column ${name} is of type ${type}`

const wrapTable = (table: Table, run: <T>(work: () => Promise<T>) => Promise<T>): Table => ({
  tag: () => run(() => table.tag()),
  list: (query, caller) => run(() => table.list(query, caller)),
  async *stream(...query) {
    try {
      yield* table.stream(...query)
    } catch (error) {
      await run(() => Promise.reject(error))
    }
  },
  valueCounts: (...query) => run(() => table.valueCounts(...query)),
  excerpts: (ids, fields) => run(() => table.excerpts(ids, fields)),
  get: (id, caller) => run(() => table.get(id, caller)),
  hasKey: (key) => run(() => table.hasKey(key)),
  conflicts: (values, id) => run(() => table.conflicts(values, id)),
  referencing: (id) => run(() => table.referencing(id)),
  write: (write) => run(() => table.write(write)),
})

/** A storage whose requests fail with TableChanged while their table does not fit; says so once, and when it fits again. */
export const withFitCheck = (
  storage: Storage,
  registry: Registry,
  dialect: FitDialect,
  warn: (message: string) => void,
): Storage => {
  const reasons = new Map<Resource, string>()
  const compare = async (): Promise<void> => {
    // SQLite does not tell capitals in the names of tables apart.
    const key = (table: string, column: string) => `${table.toLowerCase()} ${column}`
    const types = new Map((await dialect.columns()).map(([table, column, type]) => [key(table, column), type]))
    for (const resource of registry) {
      const { table, fields, existing } = resource
      const foundType = (column: string) => types.get(key(table, column))
      const field = fields.find(({ column, kind }) => {
        const type = foundType(column)
        return type === undefined || !dialect.fits(type, kind, existing)
      })
      const reason = field ? describeColumn(field.column, foundType(field.column)) : dialect.statementError?.(resource)
      if (reason !== undefined && !reasons.has(resource))
        warn(`The table "${table}" no longer fits its descriptor (${reason}). ${advice}`)
      if (reason !== undefined) reasons.set(resource, reason)
      else if (reasons.delete(resource)) warn(`The table "${table}" fits its descriptor again.`)
    }
  }
  const refuseChanged = async (resource: Resource): Promise<void> => {
    await compare()
    const reason = reasons.get(resource)
    if (reason !== undefined) throw new TableChanged(`the table "${resource.table}" has changed: ${reason}`)
  }
  const guarded =
    (resource: Resource) =>
    async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        if (reasons.has(resource) || dialect.hasChanged?.()) await refuseChanged(resource)
        return await work().catch(async (error) => {
          if (dialect.isMismatch(error)) await refuseChanged(resource)
          throw error
        })
      } catch (error) {
        throw dialect.storageError?.(error) ?? error
      }
    }
  const tables = new Map(registry.map((resource) => [resource, wrapTable(storage.table(resource), guarded(resource))]))
  return {
    ...storage,
    table: (resource) => tables.get(resource) ?? storage.table(resource),
    async ping() {
      const found = await storage.ping()
      await compare()
      return { ...found, changedTables: [...reasons.keys()].map(({ table }) => table) }
    },
  }
}
