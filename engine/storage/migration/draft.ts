/** Drafts a file of `migrations/` from the differences that a start is refused with: statements to keep, and comments to complete. */
import { managedResources, type Registry, type Resource } from '../../descriptor/registry.js'
import { commandLine } from '../../process/commandLine.js'
import { quoted } from '../schema.js'
import { type CatalogueTable, findColumn } from './catalogue.js'
import { approvalsFrom, type Difference } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'
import { planMigration, storedTable } from './migrationPlan.js'

const comment = (text: string): string => text.replaceAll(/^/gm, '-- ')

/** The lines about a table that exists, perhaps under its former name. */
const draftTable = (
  database: MigrationDialect,
  { table, fields }: Resource,
  current: CatalogueTable,
  differences: readonly Difference[],
): string[] => {
  const alter = `alter table ${quoted(table)}`
  const used = new Set<string>(['id'])
  const [statements, updates]: [string[], string[]] = [[], []]
  if (current.name !== table) statements.push(`alter table ${quoted(current.name)} rename to ${quoted(table)};`)
  for (const field of fields.filter(({ name }) => name !== 'id')) {
    const { name, renamedFrom = name } = field
    const [own, former] = [findColumn(current, name), findColumn(current, renamedFrom)]
    used.add(name)
    if (!own && former) {
      used.add(renamedFrom)
      statements.push(`${alter} rename column ${quoted(renamedFrom)} to ${quoted(name)};`)
    }
    const column = own ?? former
    if (!column) updates.push(comment(`update ${quoted(table)} set ${quoted(name)} = …;`))
    const isRefused = differences.some((one) => one.column === name && one.isBlocking)
    const isConverted =
      column && (column.kind !== field.kind || column.digits !== field.digits || column.places !== field.places)
    if (isRefused && isConverted) {
      const converted = database.convertColumn(table, { ...column, name }, field)
      statements.push(...converted.map((sql) => `${sql};`))
    }
  }
  const drops = current.columns
    .filter(({ name }) => !used.has(name))
    .map(({ name }) => {
      const sql = `${alter} drop column ${quoted(name)};`
      const isRefused = differences.some(
        ({ approval, isBlocking }) => isBlocking && approval === `drop:${table}.${name}`,
      )
      return isRefused ? sql : comment(sql)
    })
  const added = updates.length > 0 ? [comment(`Added to ${table} before this file runs:`), ...updates] : []
  const dropped = drops.length > 0 ? [comment(`Without a field in ${table}:`), ...drops] : []
  const lines = [...statements, ...added, ...dropped]
  const reasons = differences.filter(({ isBlocking, approval }) => isBlocking && approval === undefined)
  return [
    ...reasons.map(({ column, message }) => comment(column === undefined ? message : `${column}: ${message}`)),
    ...lines,
  ]
}

const draftNew = ({ table, fields }: Resource): string[] => {
  const names = fields.map(({ name }) => quoted(name)).join(', ')
  return [comment(`Created before this file runs:\ninsert into ${quoted(table)} (${names}) select … from …;`)]
}

/** The text of a file that makes the changes which a start does not make by itself. */
export const draftMigration = async (database: MigrationDialect, registry: Registry): Promise<string> => {
  const { differences } = await planMigration(database, registry, approvalsFrom([]))
  const managed = managedResources(registry)
  const parts: string[][] = []
  for (const resource of managed) {
    const current = await storedTable(database, resource)
    const ofTable = differences.filter(({ table }) => table === resource.table)
    if (current === undefined) parts.push(draftNew(resource))
    else if (current.isOwn) parts.push(draftTable(database, resource, current, ofTable))
  }
  const names = managed.flatMap(({ table, renamedFromTable = table }) => [table, renamedFromTable])
  const unused = (await database.countedTables()).filter((name) => !names.includes(name))
  for (const name of unused) if (await database.catalogue(name)) parts.push([comment(`drop table ${quoted(name)};`)])
  const head = comment(
    `Runs once on each database, in one transaction: ${commandLine('migrate')}. Read it first, and complete what is commented out.`,
  )
  return `${[[head], ...parts.filter((lines) => lines.length > 0)].map((lines) => lines.join('\n')).join('\n\n')}\n`
}
