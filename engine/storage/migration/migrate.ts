/** Migrates a database: applies the steps of its plan, or reports what prevents it. */
import type { Registry } from '../../descriptor/registry.js'
import type { ChangeOptions } from '../options.js'
import { NothingToDo, StorageError } from '../storage.js'
import { Approvals, applyTogether, describeDifference } from './difference.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { type MigrationPlan, planMigration } from './migrationPlan.js'

/** Throws if something has to be decided or corrected first; the message has all of it. */
const refuseBlocking = ({ differences }: MigrationPlan, approvals: Approvals): void => {
  const blocking = differences.filter(({ isBlocking }) => isBlocking).map(describeDifference)
  if (blocking.length === 0) return
  const together = applyTogether(differences, approvals.used)
  const lines = together === undefined ? blocking : [...blocking, together]
  throw new StorageError(
    lines.length === 1 ? lines[0] : `the descriptors and the tables differ:\n  ${lines.join('\n  ')}`,
  )
}

const stepError = (database: MigrationDialect, { table, about }: Step, error: unknown): unknown => {
  const advice = database.adviceFor(error)
  if (advice === undefined) return error
  return new StorageError(`cannot ${about} (table "${table}"): ${(error as Error).message}. ${advice}`.trim())
}

/** Applies steps; an optional step that fails is skipped with a warning. */
export const applySteps = async (
  database: MigrationDialect,
  steps: readonly Step[],
  { progress, warn }: ChangeOptions,
): Promise<void> => {
  for (const step of steps) {
    const { table, rows = 0, isOptional } = step
    try {
      await database.apply(step, (part) => progress(table, Math.floor(rows * part), rows))
      progress(table, rows, rows)
    } catch (error) {
      const explained = stepError(database, step, error)
      if (!isOptional || !(explained instanceof StorageError)) throw explained
      warn(`${explained.message} Until then, searches of "${table}" read the whole table.`)
    }
  }
}

/** A table is renamed, then rebuilt, and then its derived objects follow. */
const maxPasses = 3

const applyChanges = async (
  database: MigrationDialect,
  registry: Registry,
  options: ChangeOptions,
): Promise<MigrationPlan> => {
  const approvals = new Approvals(options.approvals ?? [])
  const planAll = async (): Promise<MigrationPlan> => {
    const plan = await planMigration(database, registry, approvals)
    refuseBlocking(plan, approvals)
    return plan
  }
  const first = await planAll()
  if (approvals.unused.length > 0)
    throw new NothingToDo(
      `There is nothing to do for ${approvals.unused.join(', ')}; npm run plan lists what can be applied.`,
    )
  if (first.steps.length === 0) return first
  await options.beforeChanges?.()
  const done: Step[] = []
  let { differences } = first
  const apply = async (): Promise<boolean> => {
    // Another process may have migrated in the meantime.
    const plan = await planAll()
    await applySteps(database, plan.steps, options)
    done.push(...plan.steps)
    differences = plan.differences
    return plan.steps.some(({ isRebuilding }) => isRebuilding)
  }
  const isRebuilding = first.steps.some((step) => step.isRebuilding)
  await database.exclusively(async () => {
    for (let pass = 1; pass <= maxPasses; pass++) {
      if (!(await apply())) break
    }
  }, isRebuilding)
  return { steps: done, differences }
}

/** Brings the database up to date; returns what was done, and the differences that remain, of which it warns. */
export const migrate = async (
  database: MigrationDialect,
  registry: Registry,
  options: ChangeOptions,
): Promise<MigrationPlan> => {
  const plan = await applyChanges(database, registry, options)
  for (const difference of plan.differences) options.warn(describeDifference(difference))
  return plan
}
