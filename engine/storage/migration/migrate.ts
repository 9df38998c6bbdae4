/** Migrates a database: applies the steps of its plan, or reports what prevents it. */

import type { Registry } from '../../descriptor/registry.js'
import { commandLine } from '../../process/commandLine.js'
import { NothingToDo, StorageError } from '../failures.js'
import type { ChangeOptions } from '../options.js'
import { type Approvals, applyTogether, approvalsFrom, describeDifference } from './difference.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { type MigrationPlan, planMigration } from './migrationPlan.js'

/** Throws if something has to be decided or corrected first; the message has all of it. */
const refuseBlocking = ({ differences }: MigrationPlan, approvals: Approvals): void => {
  const blocking = differences.filter(({ isBlocking }) => isBlocking).map(describeDifference)
  if (blocking.length === 0) return
  const together = applyTogether(differences, approvals.used())
  const lines = together === undefined ? blocking : [...blocking, together]
  const message = `the descriptors and the tables differ:\n  ${lines.join('\n  ')}`
  throw new StorageError(lines.length === 1 ? lines[0] : message)
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

/** Brings the database up to date; returns what was done, and the differences that remain, of which it warns. */
export const migrate = async (
  database: MigrationDialect,
  registry: Registry,
  options: ChangeOptions,
): Promise<MigrationPlan> => {
  const approvals = approvalsFrom(options.approvals ?? [])
  const planAll = async (): Promise<MigrationPlan> => {
    const nextPlan = await planMigration(database, registry, approvals)
    refuseBlocking(nextPlan, approvals)
    return nextPlan
  }
  const isRebuilding = ({ steps }: MigrationPlan) => steps.some((step) => step.isRebuilding)
  let plan = await planAll()
  const unused = approvals.unused().join(', ')
  if (unused)
    throw new NothingToDo(`There is nothing to do for ${unused}; ${commandLine('plan')} lists what can be applied.`)
  const done: Step[] = []
  const apply = async (): Promise<void> => {
    for (let pass = 1; pass <= maxPasses; pass++) {
      // Another process may have migrated in the meantime.
      plan = await planAll()
      await applySteps(database, plan.steps, options)
      done.push(...plan.steps)
      if (!isRebuilding(plan)) break
    }
  }
  if (plan.steps.length > 0) {
    await options.beforeChanges?.()
    await database.exclusively(apply, isRebuilding(plan))
  }
  for (const difference of plan.differences) options.warn(describeDifference(difference))
  return { steps: done, differences: plan.differences }
}
