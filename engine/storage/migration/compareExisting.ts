/** Compares a descriptor with a table of another program: what keeps it from being served as the descriptor says. */
import { isWhole } from '../../descriptor/kinds/index.js'
import { didYouMean } from '../../descriptor/nearest.js'
import { type Field, idField, type Registry, type Resource, writableFields } from '../../descriptor/registry.js'
import { quoted } from '../schema.js'
import { findColumn } from './catalogue.js'
import { approvalsFrom, type Difference, tableDifferences } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'

const correct = 'Correct the descriptor; the table is never changed.'

/** The columns by which rules of access look for rows of a table, each with one of these rules. */
const columnsOfRules = (registry: Registry, { path }: Resource): Map<string, string> => {
  const columns = new Map<string, string>()
  for (const { path: start, rulePaths = new Map<string, readonly Field[]>() } of registry)
    for (const [rule, fields] of rulePaths) {
      let at: string | undefined = start
      for (const { name, column, references } of fields) {
        if (at === path && name !== 'id') columns.set(column, `"${rule}" of ${start}`)
        at = references
      }
    }
  return columns
}

/** What prevents a table, or view, from being served, and indexes that it should have. */
export const compareExisting = async (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
): Promise<Difference[]> => {
  const { fields, create, update, delete: remove } = resource
  const { all: differences, add } = tableDifferences(resource.table, approvalsFrom([]))
  const table = await database.catalogue(resource.table)
  if (!table?.hasRows) {
    const relation = table?.relationKind ?? `no table or view${didYouMean(resource.table, await database.tableNames())}`
    const what = table ? `it is ${relation}, which has no rows.` : `there is ${relation}`
    add(what.replace(/(?<![.?])$/, '.'), 'Correct table in the descriptor, or DATABASE_URL.')
    return differences
  }
  const isTable = table.relationKind === undefined
  const names = table.columns.map(({ name }) => name)
  for (const field of fields) {
    const { name, column, kind, required } = field
    const existing = findColumn(table, column)
    const option = name === 'id' ? 'idColumn' : 'column'
    if (!existing) {
      const near = didYouMean(column, names) || `; its columns are ${names.join(', ')}.`
      add(`it does not exist${near}`, `Set ${option} in the descriptor.`, column)
    } else if (!database.isCompatible(existing.type, field)) {
      add(`it is of type ${existing.type}, which has no values of ${kind}().`, correct, column)
    } else if (required && isTable && !existing.isNotNull && name !== 'id') {
      add(`it may be null, but the descriptor requires the field "${name}".`, correct, column)
    }
  }
  const id = idField(resource)
  const { column: idColumn } = id
  const isKey = (key: readonly string[]) => key.length === 1 && key[0] === idColumn
  if (isTable && findColumn(table, idColumn) && ![table.primaryKey, ...table.unique].some(isKey))
    add('several rows may have the same id, because it is not unique.', 'Name a unique column.', idColumn)
  for (const [column, rule] of isTable ? columnsOfRules(registry, resource) : []) {
    if (!findColumn(table, column) || [...table.indexed, idColumn].includes(column)) continue
    const sql = `create index ${quoted(`${resource.table}_${column}`)} on ${quoted(resource.table)} (${quoted(column)})`
    add(
      `the rule ${rule} looks for rows by it, and no index begins with it.`,
      `Create one: ${sql}`,
      column,
      undefined,
      false,
    )
  }
  const isWritten = create || (update && writableFields(resource).length > 0) || remove
  if (isWritten && table.isReadOnly) {
    const message = `its rows cannot be changed, because it is ${table.relationKind}.`
    add(message, 'Write create: false, and no update or delete.')
  } else if (create && isTable) {
    const advice = 'Correct the descriptor, or write create: false.'
    const isSet = (column: string) => fields.some((field) => field.column === column && field.managed !== true)
    for (const { name, isNotNull, default: preset, whyReadOnly } of table.columns)
      if (isNotNull && preset === null && whyReadOnly == null && !isSet(name) && name !== idColumn)
        add('it needs a value, which no field sets when a row is created.', advice, name)
    const { default: preset, whyReadOnly } = findColumn(table, idColumn) ?? {}
    const isAssigned = table.rowId === idColumn || preset != null
    if (isWhole(id) && !isAssigned) add('the database assigns no ids to new rows.', advice, idColumn)
    if (!isWhole(id) && whyReadOnly != null) add(`no create can set it: ${whyReadOnly}.`, advice, idColumn)
  } else if (create && database.hasInlineForeignKeys) {
    add(`SQLite does not tell the id of a row that is created in ${table.relationKind}.`, 'Write create: false.')
  }
  return differences
}
