/** Migrates a database: applies the steps of its plan, or reports what prevents it. */

import { managedResources, type Registry } from '../../descriptor/registry.js'
import { errorLine } from '../../descriptor/registryError.js'
import { commandLine } from '../../process/commandLine.js'
import { NothingToDo, StorageError } from '../failures.js'
import type { ChangeOptions } from '../options.js'
import { planAdditions } from './additions.js'
import {
  acceptedEntries,
  entriesStep,
  entriesTable,
  isNewDatabase,
  readMigrationState,
  whyPending,
  wrongFiles,
} from './dataSteps.js'
import { type Approvals, applyTogether, approvalsFrom, describeDifference, isAddition } from './difference.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { type MigrationFile, readStatements } from './migrationFiles.js'
import { type MigrationPlan, planMigration } from './migrationPlan.js'
import { runFile } from './runFile.js'
import { tidyLog } from './tidyLog.js'

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

/** In a new database, all files count as run. */
export const countFiles = async (
  database: MigrationDialect,
  registry: Registry,
  { files = [], recorded }: Pick<ChangeOptions, 'files' | 'recorded'>,
): Promise<Step[]> => {
  if (files.length === 0 && recorded === undefined) return []
  return (await isNewDatabase(database, registry)) ? [entriesStep(database, files, recorded)] : []
}

/** A table is renamed, then rebuilt, and then its derived objects follow. */
const maxPasses = 3

/** Makes what the descriptors ask for, and reports the differences that remain. */
const migrateTables = async (
  database: MigrationDialect,
  registry: Registry,
  options: ChangeOptions,
): Promise<MigrationPlan> => {
  const approvals = approvalsFrom(options.approvals ?? [])
  const planAll = async (): Promise<MigrationPlan> => {
    const firstSteps = await countFiles(database, registry, options)
    const nextPlan = await planMigration(database, registry, approvals, firstSteps)
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
    await options.beforeChanges?.(false)
    await database.exclusively(apply, isRebuilding(plan))
  }
  options.command?.done(done)
  for (const difference of plan.differences) options.warn(describeDifference(difference))
  return { ...plan, steps: done }
}

/** Reads the statements of all files, before any of them runs; throws with all errors. */
const readAll = (database: MigrationDialect, files: readonly MigrationFile[]) => {
  const read = files.map((file) => ({ file, ...readStatements(file, database.name) }))
  const lines = read.flatMap((one) => one.errors).map(errorLine)
  if (lines.length > 0)
    throw new StorageError(lines.length === 1 ? lines[0] : `files of migrations/ cannot run:\n  ${lines.join('\n  ')}`)
  return read
}

/** Adds new tables and columns, runs each pending file in a transaction, then makes all other changes. */
const migrateWithFiles = async (
  database: MigrationDialect,
  registry: Registry,
  options: ChangeOptions,
  { accepted, done }: NonNullable<ChangeOptions['command']>,
): Promise<MigrationPlan> => {
  const { files = [] } = options
  const state = await readMigrationState(database, registry, files)
  const updates = acceptedEntries(state, accepted)
  const pending = readAll(database, state.pending)
  if (updates.length > 0)
    await database.inTransaction(entriesTable, async () => {
      for (const sql of updates) await database.execute(sql)
    })
  if (pending.length === 0) return migrateTables(database, registry, options)
  const { beforeChanges, approvals = [], ...others } = options
  await beforeChanges?.(true)
  const steps: Step[] = []
  await database.exclusively(async () => {
    const additions = await planAdditions(database, registry, files)
    await applySteps(database, additions, options)
    steps.push(...additions)
  })
  done(steps)
  for (const { file, statements } of pending) {
    steps.push(...(await runFile(database, registry, file, statements)))
    done([{ about: `run ${file.file}` }])
  }
  const rest = await migrateTables(database, registry, {
    ...others,
    approvals: approvals.filter((approval) => !isAddition({ approval })),
  })
  return { ...rest, steps: [...steps, ...rest.steps] }
}

/** Brings the database up to date; returns what was done, and the differences that remain, of which it warns. */
export const migrate = async (
  database: MigrationDialect,
  registry: Registry,
  options: ChangeOptions,
): Promise<MigrationPlan> => {
  const { files = [], command, warn } = options
  // Nothing is created beside the tables of other programs.
  if (files.length > 0 && managedResources(registry).length === 0)
    throw new StorageError('migrations/ has files, but no resource has a table that this service manages; remove them')
  if (command)
    return database.alone(async () => {
      const plan = await migrateWithFiles(database, registry, options, command)
      const changes = plan.isOlder ? [] : await tidyLog(database, registry)
      command.done(changes)
      return { ...plan, steps: [...plan.steps, ...changes] }
    })
  if (options.files === undefined) return migrateTables(database, registry, options)
  const state = await readMigrationState(database, registry, files)
  const pending = whyPending(state)
  if (pending !== undefined) throw new StorageError(pending)
  for (const { message } of wrongFiles(state))
    warn(`${message} ${commandLine('migrate')} is refused until that is decided.`)
  return migrateTables(database, registry, options)
}
