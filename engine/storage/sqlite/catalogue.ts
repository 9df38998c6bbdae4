/** Reads the catalogue of SQLite. */
import type { Database } from 'better-sqlite3'
import { isText, type Kind, type KindSpec, kindNames, kindOf, kindWithOptions } from '../../descriptor/kinds/index.js'
import type { TableChecks } from '../changedTables.js'
import { type CatalogueTable, type ForeignKey, largeKeySql, repeatedIdSql } from '../migration/catalogue.js'
import { countsTable, quoted } from '../schema.js'
import { columnOf, indexedValue } from './schema.js'

/** The kind of a declared type. Types that no kind declares, such as datetime, have numeric affinity but usually hold texts. */
const declaredKind = (type: string): KindSpec | undefined => {
  const kind = kindNames.find((one) => columnOf({ kind: one }).declared?.test(type))
  return kindWithOptions('sqlite', type) ?? (kind && { kind })
}

/** Whether a column of a type stores the values of a kind; some kinds share a type. */
const hasType = (type: string, spec: KindSpec): boolean => {
  const [declared, wanted] = [type, columnOf(spec).type].map(declaredKind)
  return declared?.kind === wanted?.kind && declared?.digits === wanted?.digits && declared?.places === wanted?.places
}

/** The kinds whose columns are the same for all options. */
const plainKinds = kindNames.filter((kind) => !columnOf({ kind }).optionsIn)

/** Whether a column that another program has declared may have values of a kind; any column of SQLite may have any value. */
export const isCompatible = (type: string, spec: KindSpec & { name?: string; references?: string }): boolean => {
  // Integers that JSON cannot hold exactly are served as texts.
  if (isText(spec) && (spec.name === 'id' || spec.references) && /int/i.test(type)) return true
  // By its affinity, as `blob sub_type text` has it too.
  const declared = declaredKind(type)
  if (declared && isText(declared)) return columnOf(spec).type === 'text'
  const contrary =
    columnOf(spec).type === 'text' ? /int|real|floa|doub|numeric|decimal|bool|blob/i : /char|clob|text|blob/i
  return !contrary.test(type)
}

interface TableInfo {
  readonly name: string
  readonly type: string
  readonly notnull: 0 | 1
  readonly dflt_value: string | null
  /** 1: hidden in a virtual table, 2 and 3: generated. */
  readonly hidden: 0 | 1 | 2 | 3
  readonly pk: number
}

const ownObjectsSql =
  "select 1 from sqlite_schema where tbl_name = ? and type in ('index', 'trigger') and name glob 'registry_*'"

/** The JSON of the rows, as the newest descriptors have it. */
const jsonIndexSql = `select sql from sqlite_schema where tbl_name = ? and type = 'index' and name glob 'registry_*'
  and sql like '%json_object(%' order by rowid desc limit 1`

/** A table that is being rebuilt has no derived objects, but a row without a version. */
const isOwn = (database: Database, name: string): boolean =>
  database.prepare(ownObjectsSql).get(name) !== undefined ||
  (storedSql(database, countsTable) !== undefined &&
    database.prepare(`select 1 from ${countsTable} where name = ? and state = ''`).get(name) !== undefined)

export const tableNames = (database: Database): string[] =>
  database
    .prepare(
      "select name from pragma_table_list where schema = 'main' and type <> 'shadow' and name not glob 'sqlite_*' and name not glob 'registry_*' order by name",
    )
    .pluck()
    .all() as string[]

const uniqueSql = `select (select json_group_array(name) from (select name from pragma_index_info(list.name) order by seqno))
  from pragma_index_list(?) as list where "unique" and not partial and origin <> 'pk'`

const indexedSql = `select info.name from pragma_index_list(?) as list join pragma_index_info(list.name) as info
  where list.partial = 0 and info.seqno = 0 and info.name is not null`

const uniqueIndexes = (database: Database, table: string): string[][] => {
  const columnNames = (database.prepare(uniqueSql).pluck().all(table) as string[]).map((names) => JSON.parse(names))
  // A column without a name is an expression.
  return columnNames.filter((names) => !names.includes(null))
}

const storedSql = (database: Database, name: string): string | undefined =>
  database.prepare('select sql from sqlite_schema where name = ?').pluck().get(name) as string | undefined

/** The SQL that created a table, without names and texts in quotes. */
export const readDefinition = (database: Database, table: string): string =>
  String(storedSql(database, table)).replaceAll(/"[^"]*"|'[^']*'|`[^`]*`|\[[^\]]*\]/g, '')

/** A check in the text of its table, with parentheses inside it and inside those. */
const check = (() => {
  const part = `'[^']*'|"[^"]*"|[^()'"]`
  return new RegExp(String.raw`\bcheck\s*\(((?:${part}|\((?:${part}|\((?:${part})*\))*\))*)\)`, 'gi')
})()

/** Checks, and unique indexes of some rows or of expressions. SQLite has the text of a check only in that of its table. */
const otherConstraints = (database: Database, table: string): string[] => {
  const indexes = `select coalesce(sql, name) from pragma_index_list(?) as list join sqlite_schema using (name)
    where "unique" and list.origin = 'c' and (partial or exists (select 1 from pragma_index_info(list.name) as info where info.name is null))`
  const knownChecks = [...String(storedSql(database, table)).matchAll(check)].map(
    ([, text = '']) => `check (${text.trim()})`,
  )
  const count = readDefinition(database, table).match(/\bcheck\s*\(/gi)?.length ?? 0
  const checks = [...knownChecks, ...(count > knownChecks.length ? ['check (…)'] : [])]
  return [...checks, ...(database.prepare(indexes).pluck().all(table) as string[])]
}

/** What has a name, if it is no ordinary table; undefined if the name is free too. */
const otherThanTable = (database: Database, name: string): string | undefined => {
  const indexes = "select 'index' from sqlite_schema where type = 'index' and name = ? collate nocase"
  const listed =
    "select iif(wr and type = 'table', 'wr', type) from pragma_table_list where schema = 'main' and name = ? collate nocase"
  const type = database.prepare(`${listed} union all ${indexes}`).pluck().get(name, name)
  const words: Record<string, string> = {
    index: 'an index',
    view: 'a view',
    wr: 'a table WITHOUT ROWID',
    virtual: 'a virtual table',
    shadow: 'a part of a virtual table',
  }
  return words[String(type)]
}

/** The foreign keys of one column each; SQLite gives them no names. */
const foreignKeysSql = `select "from" as column, coalesce((select name from sqlite_schema where type = 'table' and name = "table" collate nocase), "table") as target,
    "to" as targetColumn, iif(on_delete = 'NO ACTION', 'restrict', lower(on_delete)) as onDelete
  from pragma_foreign_key_list(?) group by id having count(*) = 1 order by id`

const insteadSql = `select 1 from sqlite_schema where type = 'trigger' and tbl_name = ? collate nocase and sql like '%instead of%'`

/**
 * The kind of a column by its values, where its type does not say it: columns of types such as year and datetime have numeric affinity, and
 * hold numbers or texts.
 */
const storedKind = (database: Database, table: string, column: string): Kind | undefined => {
  const name = quoted(column)
  const types = database
    .prepare(`select distinct typeof(${name}) from ${quoted(table)} where ${name} is not null`)
    .pluck()
    .all()
  if (types.length === 0 || types.some((type) => type !== 'integer' && type !== 'real')) return undefined
  return types.includes('real') ? 'number' : 'integer'
}

/** The kind that a declared type names, although SQLite does not know it, if every stored value is of that kind. */
const namedKind = (
  database: Database,
  table: string,
  column: string,
  type: string,
  isKey: boolean,
): KindSpec | undefined => {
  for (const kind of kindNames) {
    const [options, condition] = columnOf({ kind }).named?.(type, quoted(column), isKey) ?? []
    if (condition === undefined) continue
    const mismatch = database.prepare(`select 1 from ${quoted(table)} where not (${condition}) limit 1`).get()
    return mismatch === undefined ? { kind, ...options } : undefined
  }
  return undefined
}

/** The column `id` of a view, if no two of its rows have the same. */
const readViewKey = (database: Database, view: string, columns: readonly TableInfo[]): readonly TableInfo[] => {
  const id = columns.find(({ name }) => name.toLowerCase() === 'id')
  return id && database.prepare(repeatedIdSql(quoted(view), quoted(id.name))).get() === undefined ? [id] : []
}

/** Reads a table; `isSampled` if what no type says is to be read from its rows. */
export const readCatalogue = (database: Database, name: string, isSampled = false): CatalogueTable | undefined => {
  const tableInfo = database.pragma(`table_xinfo(${quoted(name)})`) as TableInfo[]
  const columns = tableInfo.filter((column) => !column.name.startsWith('registry_'))
  const relationKind = otherThanTable(database, name)
  if (columns.length === 0 && relationKind === undefined) return undefined
  const primaryKey =
    isSampled && relationKind === 'a view'
      ? readViewKey(database, name, columns)
      : columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  const keys = database.prepare(foreignKeysSql).all(name) as (ForeignKey & { readonly column: string })[]
  const json = database.prepare(jsonIndexSql).pluck().get(name) as string | undefined
  /** The kind as which the index has the values of the column; that of its type if it has not. */
  const lastKind = (column: string, type: string): KindSpec | undefined => {
    const declared = declaredKind(type)
    if (declared?.digits !== undefined) return declared
    const isUnsure = isSampled && (declared === undefined || kindOf(declared.kind).isMoment)
    const isKey = isSampled && primaryKey.length === 1 && primaryKey[0]?.name === column
    if (isKey && declared && kindOf(declared.kind).isWhole)
      return { kind: database.prepare(largeKeySql(quoted(name), quoted(column))).get() ? 'text' : 'integer' }
    const named = isSampled ? namedKind(database, name, column, type, isKey) : undefined
    if (named) return named
    const kind =
      plainKinds.find((one) => {
        const spec = { kind: one, name: column }
        return hasType(type, spec) && json?.includes(indexedValue(spec))
      }) ?? (isUnsure ? storedKind(database, name, column) : undefined)
    if (kind) return { kind }
    // As the concatenation in a view.
    return declared ?? (isKey && !/blob|binary/i.test(type) ? { kind: 'text' } : undefined)
  }
  return {
    name,
    relationKind,
    hasRows: columns.length > 0,
    isReadOnly: relationKind === 'a view' && database.prepare(insteadSql).get(name) === undefined,
    isOwn: isOwn(database, name),
    columns: columns.map(({ name: column, type, notnull, dflt_value, hidden }) => ({
      name: column,
      type: type.toLowerCase(),
      ...(lastKind(column, type) ?? { kind: undefined }),
      isNotNull: notnull === 1,
      whyReadOnly: hidden > 1 ? 'the database computes its values' : undefined,
      default: hidden > 1 ? 'generated' : dflt_value,
      foreignKey: keys.find((key) => key.column === column),
      isKnownUnused: json !== undefined && !json.includes(`'${column}', `),
    })),
    primaryKey: primaryKey.map((column) => column.name),
    // Only a column of exactly this type is assigned ids.
    rowId:
      relationKind === undefined &&
      !/\bprimary\s+key\s+desc\b/i.test(readDefinition(database, name)) &&
      primaryKey.length === 1 &&
      /^integer$/i.test(String(primaryKey[0]?.type))
        ? primaryKey[0]?.name
        : undefined,
    unique: uniqueIndexes(database, name),
    indexed: database.prepare(indexedSql).pluck().all(name) as string[],
    otherConstraints: otherConstraints(database, name),
  }
}

export const tableChecks = (database: Database): TableChecks => {
  const columns = database
    .prepare(
      `select tables.name, columns.name, lower(columns.type) from sqlite_schema as tables
        join pragma_table_xinfo(tables.name) as columns where tables.type in ('table', 'view')`,
    )
    .raw()
  return {
    columns: async () => columns.all() as [string, string, string][],
    isCompatible: (type, spec, existing) => (existing ? isCompatible : hasType)(type, spec),
  }
}
