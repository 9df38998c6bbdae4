/** Notices a table that was changed while the service runs and no longer fits its descriptor, and when it fits again. */
import type { KindSpec } from '../descriptor/kinds/index.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { Runner } from './dialect.js'
import { TableChanged } from './failures.js'

/** What a database provides to notice it. */
export interface TableChecks {
  /** The columns of the resources' tables, at least, with their types. */
  columns(): Promise<readonly (readonly [table: string, column: string, type: string])[]>
  /** Whether a column of a type has the values of a kind; `existing` if the service does not manage its table. */
  isCompatible(type: string, spec: KindSpec, existing: boolean | undefined): boolean
}

const advice =
  'Restart the service with the descriptors for which the table was changed; until then, its requests get 503.'

export const changedTables = (
  registry: Registry,
  { columns, isCompatible }: TableChecks,
  warn: (message: string) => void,
) => {
  const reasons = new Map<Resource, string>()
  const checks = new Map<Resource, () => Promise<unknown>>()

  const readReason = async (resource: Resource, types: ReadonlyMap<string, string>): Promise<string | undefined> => {
    const { table, fields, existing } = resource
    for (const field of fields) {
      const { column } = field
      const type = types.get(`${table.toLowerCase()} ${column}`)
      if (type === undefined) return `there is no column ${column}`
      if (!isCompatible(type, field, existing)) return `the column ${column} is of type ${type}`
    }
    // What the columns do not show, a statement has.
    if (!reasons.has(resource)) return undefined
    return checks
      .get(resource)?.()
      .then(
        () => undefined,
        (error: Error) => (error instanceof TableChanged ? error.message : undefined),
      )
  }
  const compare = async (): Promise<void> => {
    // SQLite does not tell capitals in the names of tables apart.
    const types = new Map((await columns()).map(([table, column, type]) => [`${table.toLowerCase()} ${column}`, type]))
    for (const resource of registry) {
      const reason = await readReason(resource, types)
      const before = reasons.get(resource)
      if (reason === undefined) reasons.delete(resource)
      else reasons.set(resource, reason)
      // A request has found it, but not yet why.
      if (reason !== undefined && !before)
        warn(`The table "${resource.table}" no longer fits its descriptor (${reason}). ${advice}`)
      else if (reason === undefined && before) warn(`The table "${resource.table}" fits its descriptor again.`)
    }
  }

  return {
    /**
     * A runner that refuses a table for as long as it, or another that its statements read, does not fit; `check` runs a statement
     * of the table.
     */
    watch(resource: Resource, runner: Runner, check: () => Promise<unknown>, others: readonly Resource[] = []): Runner {
      checks.set(resource, check)
      const tables = [resource, ...others]
      const findChanged = () => tables.find((table) => reasons.has(table))
      const guarded = async <T>(run: () => Promise<T>): Promise<T> => {
        if (findChanged()) await compare()
        const changed = findChanged()
        if (changed) throw new TableChanged(`the table "${changed.table}" has changed: ${reasons.get(changed)}`)
        try {
          return await run()
        } catch (error) {
          if (!(error instanceof TableChanged)) throw error
          reasons.set(resource, '')
          await compare()
          // Something else that its statements need is not there.
          throw findChanged() ? error : (error.cause ?? error)
        }
      }
      const { version, state } = runner
      return {
        read: (...read) => guarded(() => runner.read(...read)),
        write: (plan) => guarded(() => runner.write(plan)),
        import: (plan) => guarded(() => runner.import(plan)),
        batch: (plan) => guarded(() => runner.batch(plan)),
        ...(version && { version: () => guarded(version) }),
        ...(state && { state: () => guarded(state) }),
      }
    },
    /** The tables that do not fit now. */
    async names(): Promise<string[]> {
      await compare()
      return [...reasons.keys()].map(({ table }) => table)
    },
  }
}
