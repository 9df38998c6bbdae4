/** Brings the log in line with the descriptors: what is redacted now, or has no column any more, is erased from it, and renamed fields have their new names. */
import { isLogged, type Registry, type Resource } from '../../descriptor/registry.js'
import { logTable } from '../log.js'
import { literal } from '../schema.js'
import { findColumn } from './catalogue.js'
import type { MigrationDialect, Step } from './migrationDialect.js'

/** What the log has of a row, as JSON. */
const states = ['before', 'after', 'old_keys', 'new_keys']

/** The new names of members of the log, or null for those that are erased. */
type Changes = ReadonlyMap<string, string | null>

const changesOf = async (database: MigrationDialect, { table, fields }: Resource): Promise<Changes> => {
  const rows = await database.execute<{ name: string }>(
    states.map((state) => database.memberNames(state, table)).join(' union '),
  )
  const current = await database.catalogue(table)
  const changes = new Map<string, string | null>()
  for (const { name } of rows) {
    const field = fields.find((one) => one.name === name)
    const isStored = current !== undefined && findColumn(current, name) !== undefined
    const renamed = fields.find(({ renamedFrom }) => renamedFrom === name)
    if (field?.redacted || (!field && !isStored)) changes.set(name, renamed?.redacted ? null : (renamed?.name ?? null))
  }
  return changes
}

const describe = (table: string, changes: Changes): string => {
  const [renamed, erased] = [[...changes].filter(([, to]) => to !== null), [...changes].filter(([, to]) => to === null)]
  const parts = [
    ...(erased.length > 0 ? [`erase ${erased.map(([name]) => name).join(', ')}`] : []),
    ...renamed.map(([from, to]) => `rename ${from} to ${to}`),
  ]
  return `${parts.join(', ')} in the log of ${table}`
}

export const tidyLog = async (database: MigrationDialect, registry: Registry): Promise<Step[]> => {
  const steps: Step[] = []
  for (const resource of registry.filter(isLogged)) {
    const { table } = resource
    const changes = await changesOf(database, resource)
    if (changes.size === 0) continue
    const sql = [...changes].map(([from, to]) => {
      const assignments = states.map((state) => `${state} = ${database.withMember(state, from, to)}`)
      return `update ${logTable} set ${assignments.join(', ')} where name = ${literal(table)}`
    })
    steps.push({ table: logTable, about: describe(table, changes), sql })
  }
  if (steps.length > 0)
    await database.inTransaction(logTable, async () => {
      for (const sql of steps.flatMap((step) => step.sql)) await database.execute(sql)
    })
  return steps
}
