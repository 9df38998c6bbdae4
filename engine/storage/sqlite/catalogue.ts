/** Reads the catalogue of SQLite, and rebuilds a table whose shape changes. */
import type { Database } from 'better-sqlite3'
import type { Kind } from '../../descriptor/fields.js'
import type { CatalogueTable, ColumnShape, TableShape } from '../catalogue.js'
import { originsTable, quoted } from '../schema.js'
import { StorageError } from '../storage.js'

/**
 * The kind of a declared type, by the first of these rules that applies. The first two give a column its affinity in SQLite. Other
 * types, such as date or boolean, have numeric affinity but usually hold texts.
 */
const kindsByType: readonly (readonly [pattern: RegExp, kind: Kind])[] = [
  [/int/i, 'integer'],
  [/char|clob|text/i, 'text'],
  [/real|floa|doub|numeric|decimal/i, 'number'],
]

const kindOf = (type: string): Kind | undefined => kindsByType.find(([pattern]) => pattern.test(type))?.[1]

interface TableInfo {
  readonly name: string
  readonly type: string
  readonly notnull: 0 | 1
  readonly dflt_value: string | null
  readonly pk: number
}

const originOf = (database: Database, table: string): CatalogueTable['origin'] => {
  const exists = database.prepare('select 1 from sqlite_schema where name = ?').pluck()
  const recorded = exists.get(originsTable)
    ? database.prepare(`select origin from ${originsTable} where name = ?`).pluck().get(table)
    : undefined
  if (recorded !== undefined) return recorded as CatalogueTable['origin']
  // The tables of earlier versions are known by their triggers.
  const triggers = "select 1 from sqlite_schema where type = 'trigger' and tbl_name = ? and name glob 'registry_*'"
  return database.prepare(triggers).get(table) === undefined ? 'unknown' : 'engine'
}

/** The tables of the file, without those of SQLite and of the engine. */
export const tableNames = (database: Database): string[] =>
  database
    .prepare(
      "select name from pragma_table_list where schema = 'main' and type = 'table' and name not glob 'sqlite_*' and name not glob 'registry_*' order by name",
    )
    .pluck()
    .all() as string[]

const uniqueOf = (database: Database, table: string): string[][] => {
  const indexes = `select name from pragma_index_list(?) where "unique" and not partial and origin <> 'pk'`
  const columns = database.prepare('select name from pragma_index_info(?) order by seqno').pluck()
  const found = (database.prepare(indexes).pluck().all(table) as string[]).map(
    (index) => columns.all(index) as string[],
  )
  // A column without a name is an expression.
  return found.filter((names) => names.every((name) => name !== null))
}

/** The SQL that created a table, without names and texts in quotes. */
const definitionOf = (database: Database, table: string): string =>
  String(database.prepare('select sql from sqlite_schema where name = ?').pluck().get(table)).replaceAll(
    /"[^"]*"|'[^']*'|`[^`]*`|\[[^\]]*\]/g,
    '',
  )

/** What has a name that a table cannot have too, or cannot be served; undefined if it is free or that of an ordinary table. */
const unservable = (database: Database, name: string): string | undefined => {
  const indexes = "select 'index' from sqlite_schema where type = 'index' and name = ? collate nocase"
  const listed = "select type from pragma_table_list where schema = 'main' and name = ? collate nocase"
  const type = database.prepare(`${listed} union all ${indexes}`).pluck().get(name, name)
  const words: Record<string, string> = {
    index: 'an index',
    view: 'a view',
    virtual: 'a virtual table',
    shadow: 'a part of a virtual table',
  }
  return words[String(type)]
}

/** A table, or what has its name; undefined if neither exists. */
export const catalogueOf = (database: Database, name: string): CatalogueTable | undefined => {
  const columns = database.pragma(`table_info(${quoted(name)})`) as TableInfo[]
  const unservableAs = unservable(database, name)
  if (columns.length === 0 && unservableAs === undefined) return undefined
  const keys = database.pragma(`foreign_key_list(${quoted(name)})`) as { from: string; table: string }[]
  const primaryKey = columns.filter(({ pk }) => pk > 0)
  return {
    name,
    unservableAs,
    origin: originOf(database, name),
    columns: columns.map(({ name: column, type, notnull, dflt_value }) => ({
      name: column,
      type: type.toLowerCase(),
      kind: kindOf(type),
      isNotNull: notnull === 1,
      default: dflt_value,
    })),
    // Only a column of exactly this type, in a table with row ids, is assigned ids.
    hasId:
      unservableAs === undefined &&
      !/\bwithout\s+rowid\b|\bprimary\s+key\s+desc\b/i.test(definitionOf(database, name)) &&
      primaryKey.length === 1 &&
      primaryKey[0]?.name === 'id' &&
      /^integer$/i.test(primaryKey[0].type),
    unique: uniqueOf(database, name),
    assignsIds: true,
    foreignKeys: keys.map(({ from, table }) => ({ name: '', column: from, target: table })),
  }
}

/** No descriptor's table may begin with registry_. */
const rebuilt = 'registry_rebuilt'

const definition = ({ name, type, isNotNull, target, default: value, convertTo }: ColumnShape): string => {
  if (name === 'id') return `${quoted(name)} integer not null primary key autoincrement`
  const parts = [
    quoted(name),
    type,
    ...(isNotNull ? ['not null'] : []),
    ...(value === null || convertTo !== undefined ? [] : [`default (${value})`]),
    ...(target === undefined ? [] : [`references ${quoted(target)} ("id")`]),
  ]
  return parts.join(' ')
}

/** Words of a definition for which a new table has no counterpart. */
const unusual = /\b(?:check|generated|as|collate|strict|without|deferrable|conflict|on\s+(?:delete|update)|desc)\b/i

/** Throws if another program has added something to the table that a new one would lack. */
const refuseUnusual = (database: Database, table: string): void => {
  const keys = database.pragma(`foreign_key_list(${quoted(table)})`) as { to: string | null }[]
  const hasOtherKey = keys.some(({ to }) => to !== null && to !== 'id')
  const found = hasOtherKey
    ? 'a foreign key to another column than id'
    : unusual.exec(definitionOf(database, table))?.[0]
  if (found === undefined) return
  throw new StorageError(
    `table "${table}": its definition has ${found}, which would be lost when the rows are copied into a new table. Alter the table by hand.`,
  )
}

/** Throws if a view, trigger or index of another program uses a column that is renamed or dropped. */
const refuseUsed = (database: Database, current: CatalogueTable, shape: TableShape): void => {
  const gone = current.columns.filter(
    ({ name }) => !shape.columns.some((one) => one.from === name && one.name === name),
  )
  const others = database
    .prepare(
      "select name, sql from sqlite_schema where type in ('view', 'trigger', 'index') and name not glob 'registry_*' and sql is not null",
    )
    .all() as { name: string; sql: string }[]
  for (const { name: column } of gone) {
    const user = others.find(
      ({ sql }) => new RegExp(`\\b${current.name}\\b`).test(sql) && new RegExp(`\\b${column}\\b`).test(sql),
    )
    if (user)
      throw new StorageError(
        `table "${current.name}", column "${column}": "${user.name}" of another program uses it. Drop that, migrate, and create it again.`,
      )
  }
}

/**
 * SQLite cannot change a column, so the rows are copied into a new table (see "Making Other Kinds Of Table Schema Changes" in its
 * documentation). The indexes and triggers of other programs are created again; the engine's own follow in the migration.
 */
export const rebuild = (database: Database, current: CatalogueTable, shape: TableShape): string[] => {
  const { name: table } = current
  refuseUnusual(database, table)
  refuseUsed(database, current, shape)
  const others = `select sql from sqlite_schema
    where tbl_name = ? and type in ('index', 'trigger') and name not glob 'registry_*' and sql is not null`
  const values = shape.columns.map(({ from, convertTo, type }) => {
    if (convertTo === undefined) return quoted(from)
    return convertTo === 'text' ? `registry_spelling(${quoted(from)})` : `cast(${quoted(from)} as ${type})`
  })
  const sequence = (name: string) => `select seq from sqlite_sequence where name = '${name}'`
  const hasSequence =
    database.prepare("select 1 from sqlite_schema where name = 'sqlite_sequence'").get() !== undefined &&
    database.prepare(sequence(table)).get() !== undefined
  return [
    `drop table if exists ${rebuilt}`,
    `create table ${rebuilt} (${shape.columns.map(definition).join(', ')})`,
    `insert into ${rebuilt} select ${values.join(', ')} from ${quoted(table)}`,
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
    ...(database.prepare(others).pluck().all(table) as string[]),
  ]
}
