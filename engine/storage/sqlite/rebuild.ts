/** Rebuilds a table of SQLite whose shape changes, unless that would lose something that another program has added. */
import type { Database } from 'better-sqlite3'
import { boundValue, type KindSpec } from '../../descriptor/kinds/index.js'
import type { GivenValue } from '../../descriptor/registry.js'
import type { CatalogueTable, ColumnDefinition, TableDefinition } from '../migration/catalogue.js'
import type { Reshaping } from '../migration/migrationDialect.js'
import { columnDefinition, literal, quoted } from '../schema.js'
import { readDefinition } from './catalogue.js'
import { columnOf, schemaDialect } from './schema.js'

/** No descriptor's table may begin with registry_. */
const rebuilt = 'registry_rebuilt'

const definition = (column: ColumnDefinition): string => {
  const { name, from, convertTo } = column
  if (name === 'id') return schemaDialect.idColumns(from.kind ?? 'integer')
  return columnDefinition(column, from.default === null || convertTo ? undefined : `(${from.default})`)
}

/** Parts of a definition that the new table would not have. */
const unusual = /\b(?:check|generated|as|collate|strict|without|deferrable|conflict|on\s+update|set\s+default|desc)\b/i

/** What another program has added to a table and the new one would lack. */
const unusualParts = (database: Database, table: string): Reshaping['differences'] => {
  const keys = database.pragma(`foreign_key_list(${quoted(table)})`) as { to: string | null }[]
  const hasOtherKey = keys.some(({ to }) => to !== null && to !== 'id')
  const part = hasOtherKey
    ? 'a foreign key to another column than id'
    : unusual.exec(readDefinition(database, table))?.[0]
  if (part === undefined) return []
  const message = `its definition has ${part}, which would be lost when the rows are copied into a new table.`
  return [{ message, advice: 'Alter the table by hand.' }]
}

/** A kind as the function registry_converted() takes it. */
export const specText = ({ kind, digits, places }: KindSpec): string =>
  literal(JSON.stringify({ kind, digits, places }))

/** The columns that are renamed or dropped although a view, trigger or index of another program uses them. */
const usedColumns = (database: Database, current: CatalogueTable, shape: TableDefinition): Reshaping['differences'] => {
  const gone = current.columns.filter(
    (column) => !shape.some(({ from, name }) => from === column && name === from.name),
  )
  const otherObjects = database
    .prepare(
      "select name, sql from sqlite_schema where type in ('view', 'trigger', 'index') and name not glob 'registry_*' and sql is not null",
    )
    .all() as { name: string; sql: string }[]
  const has = (sql: string, word: string) => new RegExp(`\\b${word}\\b`, 'i').test(sql)
  return gone.flatMap(({ name: column }) => {
    const user = otherObjects.find(({ sql }) => has(sql, current.name) && has(sql, column))
    if (!user) return []
    const message = `"${user.name}" of another program uses it.`
    return [{ column, message, advice: 'Drop that, migrate, and create it again.' }]
  })
}

/**
 * SQLite cannot change a column, so the rows are copied into a new table (see "Making Other Kinds Of Table Schema Changes" in its
 * documentation). The indexes and triggers of other programs are created again; the engine's own follow in the migration.
 */
export const rebuild = (database: Database, current: CatalogueTable, shape: TableDefinition): Reshaping => {
  const { name: table } = current
  const otherObjectsSql = `select sql from sqlite_schema
    where tbl_name = ? and type in ('index', 'trigger') and name not glob 'registry_*' and sql is not null`
  const converted = ({ from, convertTo }: ColumnDefinition): string =>
    convertTo === undefined
      ? quoted(from.name)
      : `registry_converted(${quoted(from.name)}, ${specText(from as KindSpec)}, ${specText(convertTo)})`
  const filled = ({ fill, from, convertTo }: ColumnDefinition): GivenValue =>
    boundValue(columnOf(convertTo ?? (from as KindSpec)), fill) as GivenValue
  const values = shape.map((column) =>
    column.fill === undefined ? converted(column) : `coalesce(${converted(column)}, ${literal(filled(column))})`,
  )
  const sequence = (name: string) => `select seq from sqlite_sequence where name = '${name}'`
  const hasSequence =
    database.prepare("select 1 from sqlite_schema where name = 'sqlite_sequence'").get() !== undefined &&
    database.prepare(sequence(table)).get() !== undefined
  const sql = [
    `drop table if exists ${rebuilt}`,
    `create table ${rebuilt} (${shape.map(definition).join(', ')})`,
    `insert into ${rebuilt} (${shape.map(({ name }) => quoted(name)).join(', ')}) select ${values.join(', ')} from ${quoted(table)}`,
    ...(hasSequence
      ? [
          `delete from sqlite_sequence where name = '${rebuilt}'`,
          `insert into sqlite_sequence select '${rebuilt}', seq from (${sequence(table)})`,
        ]
      : []),
    `drop table ${quoted(table)}`,
    // Otherwise SQLite refuses to rename while a view or trigger refers to the dropped table.
    'pragma legacy_alter_table = ON',
    `alter table ${rebuilt} rename to ${quoted(table)}`,
    'pragma legacy_alter_table = OFF',
    ...(database.prepare(otherObjectsSql).pluck().all(table) as string[]),
  ]
  const differences = [...unusualParts(database, table), ...usedColumns(database, current, shape)]
  return { sql, isRebuilding: true, differences }
}
