/** Shows what a start would change in the database of DATABASE_URL, and what needs approval: `npm run plan`. */

import { commandLine } from '../engine/process/commandLine.js'
import { publicDatabaseUrl } from '../engine/process/databaseUrl.js'
import { acceptCommand } from '../engine/storage/migration/dataSteps.js'
import { applyTogether, describeDifference } from '../engine/storage/migration/difference.js'
import { planStorage, type StoragePlan } from '../engine/storage/open.js'
import { defineCommand, flag } from '../support/options.js'
import { projectMigrations, projectRegistry, projectSettings } from './project.js'

const command = {
  name: 'plan',
  about: 'Shows what a start would change in the database of DATABASE_URL. Changes nothing.',
  options: {
    sql: flag('show the SQL statements too'),
    json: flag('print JSON'),
    check: flag('exit with 1 if a start would change something or be refused'),
  },
  exampleSettings: 'DATABASE_URL=sqlite:data/registry.sqlite',
  example: '--sql',
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [`${title}\n${lines.map((line) => `  - ${line}`).join('\n')}`] : []

const migrate = commandLine('migrate')

/** The plan in sentences. */
const described = ({ steps, differences, files }: StoragePlan, withSql: boolean): string => {
  const isWaiting = files.pending.length > 0
  const done = steps.map(({ about, sql }) =>
    withSql ? [about, ...sql.map((line) => `      ${line};`)].join('\n') : about,
  )
  const listed = (title: string, isWanted: (difference: StoragePlan['differences'][number]) => boolean) =>
    section(title, differences.filter(isWanted).map(describeDifference))
  const together = applyTogether(differences)
  return [
    ...section(isWaiting ? `${migrate} makes these changes first:` : 'A start makes these changes:', done),
    ...section(`A start is refused until ${migrate} has run these files:`, files.pending),
    ...section(
      `${migrate} is refused until these files are restored or, if this is right, accepted:`,
      files.wrong.map(({ name, message }) => `${message} ${acceptCommand(name)}`),
    ),
    ...listed(
      'A start is refused until you decide:',
      (difference) => difference.isBlocking && difference.approval !== undefined,
    ),
    ...(together === undefined ? [] : [together]),
    ...listed(
      'A start is refused until this is corrected:',
      (difference) => difference.isBlocking && difference.approval === undefined,
    ),
    ...listed('Optional:', ({ isBlocking }) => !isBlocking),
  ].join('\n\n')
}

export default defineCommand(command, async ({ sql, json, check }) => {
  const { DATABASE_URL, POOL_WAIT_MS, DERIVED_OBJECTS: derivedObjects } = await projectSettings()
  const registry = await projectRegistry()
  const files = projectMigrations()
  const plan = await planStorage(registry, DATABASE_URL, POOL_WAIT_MS, { withValues: true, derivedObjects, files })
  const isUpToDate =
    plan.steps.length === 0 &&
    plan.files.pending.length === 0 &&
    plan.differences.every(({ isBlocking }) => !isBlocking)
  const database = publicDatabaseUrl(DATABASE_URL)
  if (json) console.log(JSON.stringify({ database, ...plan }, undefined, 2))
  else {
    const text = described(plan, sql)
    const first = `Database: ${database}${isUpToDate ? '\nThe database is up to date.' : ''}`
    console.log(text ? `${first}\n\n${text}` : first)
  }
  if (check && !isUpToDate) process.exitCode = 1
})
