/** Reports a table that was changed while the service runs and no longer fits its descriptor: once, and when it fits again. */
import type { Resource } from '../descriptor/registry.js'
import type { Runner } from './dialect.js'
import { TableChanged } from './storage.js'

export const changedTables = (warn: (message: string) => void) => {
  /** By table, what tells whether it fits again. */
  const changed = new Map<string, () => Promise<unknown>>()
  return {
    /** A runner whose errors are reported; `check` fails for as long as the table does not fit. */
    watch({ table }: Resource, runner: Runner, check: () => Promise<unknown>): Runner {
      const report = (error: unknown): never => {
        if (error instanceof TableChanged && !changed.has(table)) {
          changed.set(table, check)
          warn(
            `The table "${table}" no longer fits its descriptor (${error.message}). Restart the service with the descriptors for which the table was changed; until then, its requests get 503.`,
          )
        }
        throw error
      }
      return {
        ...runner,
        read: (...read) => runner.read(...read).catch(report),
        write: (plan) => runner.write(plan).catch(report),
      }
    },
    /** The tables that do not fit now. */
    async names(): Promise<string[]> {
      for (const [table, check] of changed) {
        const isFitting = await check().then(
          () => true,
          () => false,
        )
        if (isFitting && changed.delete(table)) warn(`The table "${table}" fits its descriptor again.`)
      }
      return [...changed.keys()]
    },
  }
}
