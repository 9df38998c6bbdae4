/** Brings the database of DATABASE_URL up to date without serving it, and checks its counts: `npm run migrate`. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Registry } from '../engine/descriptor/registry.js'
import { commandLine } from '../engine/process/commandLine.js'
import { publicDatabaseUrl, sqlitePath } from '../engine/process/databaseUrl.js'
import { stepProgress } from '../engine/process/progress.js'
import { approvalError, describeDifference, splitApprovals } from '../engine/storage/migration/difference.js'
import { migrateStorage } from '../engine/storage/open.js'
import type { MigrateOptions } from '../engine/storage/options.js'
import { CommandError, defineCommand, flag, optionalText, texts, UsageError, warnUser } from '../support/options.js'
import { copyDatabase } from './backup/copyDatabase.js'
import { writeDraft } from './migrate/draft.js'
import { requireFile } from './openOptions.js'
import { projectMigrations, projectRegistry, projectSettings } from './project.js'

const command = {
  name: 'migrate',
  about: 'Brings the database of DATABASE_URL up to date without serving it, and checks its stored counts.',
  options: {
    apply: optionalText(`apply these changes, as named by ${commandLine('plan')}`, 'CHANGE,…'),
    accept: texts('a file in migrations/ that was changed or is gone since it ran, rightly', 'NAME'),
    draft: optionalText('write a file in migrations/ for what the plan refuses, and change nothing', 'NAME'),
    recount: flag('correct stored counts that differ from the rows'),
  },
  notes:
    'Runs the files in migrations/ that have not run on this database. Before that, and before --apply, it saves a copy of an SQLite file next to it.',
  exampleSettings: 'DATABASE_URL=sqlite:data/registry.sqlite',
  example: '--apply rename:contracts.kind',
}

/** Removes the unfinished files of earlier copies that were killed. */
const removeUnfinished = (path: string): void => {
  const isUnfinished = (name: string) =>
    name.startsWith(`${basename(path)}.before-`) && /\.unfinished(?:-\w+)?$/.test(name)
  for (const name of readdirSync(dirname(path)).filter(isUnfinished)) {
    rmSync(join(dirname(path), name), { force: true })
    console.log(`Removed ${join(dirname(path), name)}, which an interrupted backup had left.`)
  }
}

/** Copies an SQLite file before something is applied, or a file of the project is run, that may lose data. */
const backUp = async (url: string): Promise<void> => {
  const path = sqlitePath(url)
  if (path === undefined || !existsSync(path)) return
  removeUnfinished(path)
  const copy = `${path}.before-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
  await copyDatabase(path, copy)
  console.log(`Saved the database in ${copy}.`)
}

const runningServices =
  'A service that runs on this database answers 503 for each table that no longer fits its descriptors: stop it first, or restart it afterwards.'

const migrate = async (registry: Registry, url: string, options: MigrateOptions): Promise<void> => {
  const path = sqlitePath(url)
  if (path !== undefined && !existsSync(path)) {
    throw new CommandError(`There is no database file ${path}; ${commandLine('start')} creates it. Check DATABASE_URL.`)
  }
  console.log(`Database: ${publicDatabaseUrl(url)}`)
  const { steps, miscounted, broken } = await migrateStorage(registry, url, options)
  if (steps.length === 0) console.log('The database is up to date.')
  for (const difference of broken) console.log(describeDifference(difference))
  for (const { table } of miscounted) {
    const done = options.isRecounting ? '; counted again' : ''
    console.log(`The stored counts of the table "${table}" differed from its rows${done}.`)
  }
  if (miscounted.length === 0) console.log(`The stored counts of all ${registry.length} tables match their rows.`)
  else if (!options.isRecounting)
    throw new CommandError(`Some counts are wrong: run ${commandLine('migrate', '--recount')}.`)
}

export default defineCommand(command, async ({ apply, accept, draft, recount }) => {
  const { DATABASE_URL: url, POOL_WAIT_MS: waitMs, DERIVED_OBJECTS: derivedObjects } = await projectSettings()
  requireFile(url)
  const registry = await projectRegistry()
  const files = projectMigrations()
  if (draft !== undefined) {
    if (apply !== undefined || accept.length > 0 || recount)
      throw new UsageError('--draft changes nothing; give it alone.')
    return writeDraft(registry, url, draft, { waitMs, derivedObjects })
  }
  const approvals = apply === undefined ? [] : splitApprovals(apply)
  if (approvals.includes('')) throw new UsageError('--apply has an empty entry.')
  for (const error of approvals.map(approvalError)) if (error !== undefined) throw new UsageError(`--apply: ${error}.`)
  const beforeChanges = async (isRunningFiles: boolean) => {
    warnUser(runningServices)
    if (approvals.length > 0 || isRunningFiles) await backUp(url)
  }
  const done = (steps: readonly { about: string }[]) => {
    for (const { about } of steps) console.log(`Done: ${about}.`)
  }
  await migrate(registry, url, {
    ...{ waitMs, derivedObjects, isRecounting: recount, progress: stepProgress(), warn: warnUser },
    ...{ approvals, beforeChanges, files, command: { accepted: accept, done } },
  })
})
