/** Reads the catalogue of PostgreSQL, and alters a table whose shape changes. */
import {
  boundValue,
  idKinds,
  type Kind,
  type KindSpec,
  kindNames,
  kindWithOptions,
} from '../../descriptor/kinds/index.js'
import type { GivenValue } from '../../descriptor/registry.js'
import {
  type CatalogueColumn,
  type CatalogueTable,
  type ColumnDefinition,
  droppedColumns,
  type ForeignKey,
  largeKeySql,
  repeatedIdSql,
  type TableDefinition,
} from '../migration/catalogue.js'
import type { Execute, Reshaping } from '../migration/migrationDialect.js'
import { addForeignKey, foreignKeyName, literal, quoted } from '../schema.js'
import { searchedColumn, columnOf as typeOf } from './schema.js'

/** The type without its length or precision. */
const plainType = (type: string): string => type.replace(/\(.*\)/, '')

/** Columns of these types are served. */
const kindsByType: Readonly<Record<string, Kind>> = Object.fromEntries(
  kindNames
    .filter((kind) => !typeOf({ kind }).optionsIn)
    .flatMap((kind) => {
      const { type, alsoTypes = [] } = typeOf({ kind })
      return [plainType(type), ...alsoTypes].map((name) => [name, kind])
    }),
)

/** The kind whose values a column of a type has. A numeric of more digits is served as a number. */
export const kindOfType = (type: string): KindSpec | undefined => {
  const kind = kindsByType[plainType(type)]
  return kindWithOptions('postgres', type) ?? (kind && { kind })
}

/** Whether a column of another program is served as a kind. */
export const isCompatible = (type: string, spec: KindSpec): boolean => {
  const columnKind = kindOfType(type)
  return (columnKind?.kind === spec.kind && columnKind.places === spec.places) || typeOf(spec).serves?.(type) === true
}

/** The type of a column, of a domain that which it restricts. */
export const columnType = (modifier: string): string =>
  `(select case when typtype = 'd' then format_type(typbasetype, typtypmod) else format_type(atttypid, ${modifier}) end
    from pg_type where pg_type.oid = atttypid)`

/** The comment on a table that has no other object of the engine. */
export const ownComment = 'Made by the service, without triggers.'

/** The comment on a column that no field used when another was added. */
export const unusedComment = 'No field of the service uses this column.'

const columnsSql = `select attname as name, ${columnType('atttypmod')} as type, attnotnull as "isNotNull",
    case when attgenerated <> '' or attidentity = 'a' then 'the database computes its values' end as "whyReadOnly",
    (select array_agg(enumlabel::text order by enumsortorder) from pg_enum where enumtypid = atttypid) as values,
    case when attidentity <> '' then 'identity' else pg_get_expr(adbin, adrelid) end as default,
    coalesce(col_description(attrelid, attnum) = '${unusedComment}', false) as "isKnownUnused"
  from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attname not like 'registry\\_%'
  order by attnum`

const primaryKeySql = `select attname as name from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
  where indrelid = to_regclass($1) and indisprimary order by array_position(indkey::int2[], attnum)`

/** Whether rows of a table, view or foreign table can be updated, inserted or deleted. */
const isReadOnlySql = 'select pg_relation_is_updatable(to_regclass($1), true) & 28 = 0 as is'

const foreignKeysSql = `select conname as name, attname as column, relname as target,
    (select attname from pg_attribute where attrelid = confrelid and attnum = confkey[1]) as "targetColumn",
    case confdeltype when 'c' then 'cascade' when 'n' then 'set null' when 'd' then 'set default' else 'restrict' end as "onDelete"
  from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1] join pg_class on pg_class.oid = confrelid
  where contype = 'f' and convalidated and conrelid = to_regclass($1) and cardinality(conkey) = 1`

/**
 * The column stays while a table is renamed or changed, and the triggers if somebody has dropped the column. When Citus
 * converts a table because of a foreign key, it drops the comments of the table and keeps the names of its keys and indexes.
 */
const ownObjectsSql = `select 1 from pg_attribute where attrelid = to_regclass($1) and attname = '${searchedColumn}' and not attisdropped
  union all select 1 from pg_trigger where tgrelid = to_regclass($1) and tgname like 'registry\\_%'
  union all select 1 where obj_description(to_regclass($1), 'pg_class') = '${ownComment}'
  union all select 1 from pg_constraint where to_regclass($1) in (conrelid, confrelid) and contype = 'f' and conname like 'registry\\_%'
  union all select 1 from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass($1) and relname like 'registry\\_%'`

const uniqueSql = `select array(select attname::text from unnest(indkey) with ordinality as key (attnum, n)
      join pg_attribute on attrelid = indrelid and pg_attribute.attnum = key.attnum order by n) as columns
  from pg_index where indrelid = to_regclass($1) and indisunique and not indisprimary and indpred is null and indexprs is null`

const indexedSql = `select attname as name from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
  where indrelid = to_regclass($1) and indpred is null`

/** Checks, exclusions, foreign keys of several columns, and unique indexes of some rows or of expressions. */
const otherConstraintsSql = `select pg_get_constraintdef(oid) as sql from pg_constraint
    where conrelid = to_regclass($1) and (contype in ('c', 'x') or contype = 'f' and cardinality(conkey) > 1)
  union all select pg_get_indexdef(indexrelid) from pg_index
    where indrelid = to_regclass($1) and indisunique and (indpred is not null or indexprs is not null) order by 1`

export const tableNames = async (execute: Execute): Promise<string[]> => {
  const names = await execute<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
      and relname not like 'registry\\_%' order by 1`,
  )
  return names.map(({ name }) => name)
}

/**
 * What has a name that a table cannot have too, or cannot be served; null for an ordinary table. Rows that reach a partition or
 * a child of a table through its parent fire no trigger for each statement.
 */
const otherThanTableSql = `select case
    when relkind = 'p' then 'a partitioned table' when relispartition then 'a partition of another table'
    when relkind = 'v' then 'a view' when relkind = 'm' then 'a materialized view' when relkind = 'f' then 'a foreign table'
    when relkind = 'S' then 'a sequence' when relkind in ('i', 'I') then 'an index' when relkind <> 'r' then 'a type'
    when exists (select 1 from pg_inherits where oid in (inhrelid, inhparent)) then 'a table that takes part in inheritance'
  end as words, relkind in ('r', 'p', 'v', 'm', 'f') as "hasRows" from pg_class where oid = to_regclass($1)
  union all select 'a type', false from pg_type where to_regclass($1) is null and typrelid = 0
    and typnamespace = current_schema()::regnamespace and typname = trim($1, '"')`

/** Whether a query about the rows of a table finds one; undefined if they cannot be read. The transaction goes on. */
const sample = async (execute: Execute, sql: string): Promise<boolean | undefined> => {
  await execute('savepoint sample')
  try {
    return (await execute(sql)).length > 0
  } catch {
    await execute('rollback to savepoint sample')
    return undefined
  }
}

/** The column `id` of a view, if no two of its rows have the same. A view that cannot be read has none. */
const readViewKey = async (
  execute: Execute,
  view: string,
  columns: readonly { name: string; type: string }[],
): Promise<string[]> => {
  const id = columns.find(({ name }) => name.toLowerCase() === 'id')
  if (!id || !idKinds.some((kind) => kind === kindOfType(id.type)?.kind)) return []
  return (await sample(execute, repeatedIdSql(view, quoted(id.name)))) === false ? [id.name] : []
}

/** Reads a table; `isSampled` if what no type says is to be read from its rows. */
export const readCatalogue = async (
  execute: Execute,
  table: string,
  isSampled = false,
): Promise<CatalogueTable | undefined> => {
  const named = [quoted(table)]
  const [relation] = await execute<{ words: string | null; hasRows: boolean }>(otherThanTableSql, named)
  if (!relation) return undefined
  const columns = await execute<Omit<CatalogueColumn, 'kind' | 'foreignKey'>>(columnsSql, named)
  const keys = await execute<ForeignKey & { column: string }>(foreignKeysSql, named)
  const ownKey = (await execute<{ name: string }>(primaryKeySql, named)).map(({ name }) => name)
  const isView = isSampled && /view/.test(relation.words ?? '')
  const primaryKey = isView ? await readViewKey(execute, quoted(table), columns) : ownKey
  const kindIn = async ({ name, type }: { name: string; type: string }) => {
    const isLong = isSampled && type === 'bigint' && primaryKey.includes(name) && primaryKey.length === 1
    if (isLong && (await sample(execute, largeKeySql(quoted(table), quoted(name))))) return { kind: 'text' } as const
    return kindOfType(type) ?? { kind: undefined }
  }
  const kinds = new Map<string, Awaited<ReturnType<typeof kindIn>>>()
  for (const column of columns) kinds.set(column.name, await kindIn(column))
  return {
    name: table,
    relationKind: relation.words ?? undefined,
    hasRows: relation.hasRows,
    isReadOnly: (await execute<{ is: boolean }>(isReadOnlySql, named))[0]?.is === true,
    isOwn: (await execute(ownObjectsSql, named)).length > 0,
    columns: columns.map((column) => ({
      ...column,
      ...(kinds.get(column.name) ?? { kind: undefined }),
      foreignKey: keys.find((key) => key.column === column.name),
    })),
    unique: (await execute<{ columns: string[] }>(uniqueSql, named)).map((index) => index.columns),
    indexed: (await execute<{ name: string }>(indexedSql, named)).map(({ name: column }) => column),
    primaryKey,
    otherConstraints: (await execute<{ sql: string }>(otherConstraintsSql, named)).map(({ sql }) => sql),
  }
}

/** Converts the values of a column to those of another kind. */
export const convertColumn = (table: string, { name, ...from }: CatalogueColumn, to: KindSpec): string[] => {
  const alter = `alter table ${quoted(table)} alter column ${quoted(name)}`
  const { type, convert } = typeOf(to)
  const value = convert?.(quoted(name), typeOf(from as KindSpec)) ?? `${quoted(name)}::${type}`
  return [`${alter} drop default`, `${alter} type ${type} using ${value}`]
}

const alterColumn = (table: string, column: ColumnDefinition): string[] => {
  const { name, isNotNull, foreignKey: wanted, from, convertTo, fill } = column
  const alter = `alter table ${quoted(table)}`
  const alterOwn = `${alter} alter column ${quoted(name)}`
  const [key, keyName] = [from.foreignKey, foreignKeyName(table, name)]
  const isKept = key?.target === wanted?.target && key?.onDelete === wanted?.onDelete
  const sql: string[] = []
  if (key && !isKept && (!wanted || key.name !== keyName))
    sql.push(`${alter} drop constraint ${quoted(String(key.name))}`)
  if (from.name !== name) {
    sql.push(`${alter} rename column ${quoted(from.name)} to ${quoted(name)}`)
    const former = foreignKeyName(table, from.name)
    if (isKept && key?.name === former) sql.push(`${alter} rename constraint ${former} to ${keyName}`)
  }
  if (convertTo !== undefined) sql.push(...convertColumn(table, { ...from, name }, convertTo))
  if (fill !== undefined) {
    const value = literal(boundValue(typeOf(convertTo ?? (from as KindSpec)), fill) as GivenValue)
    sql.push(`update ${quoted(table)} set ${quoted(name)} = ${value} where ${quoted(name)} is null`)
  }
  if (from.isNotNull !== isNotNull) sql.push(`${alterOwn} ${isNotNull ? 'set' : 'drop'} not null`)
  // A constraint that is not validated is left from an interrupted migration.
  if (wanted && !isKept) sql.push(...addForeignKey(table, name, wanted, true))
  return sql
}

export const alterTable = (current: CatalogueTable, shape: TableDefinition): Reshaping => {
  const dropped = droppedColumns(current, shape)
  const drops = dropped.map(({ name }) => `alter table ${quoted(current.name)} drop column ${quoted(name)}`)
  return {
    sql: [...drops, ...shape.flatMap((column) => alterColumn(current.name, column))],
    // Derived objects may use a column that is renamed, retyped or dropped.
    isRebuilding:
      dropped.length > 0 || shape.some(({ name, from, convertTo }) => name !== from.name || convertTo !== undefined),
    differences: [],
  }
}
