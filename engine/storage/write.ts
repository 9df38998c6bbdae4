/** Plans the writes of one table: the statements of a create, an update and a delete. */
import { idField, type Registry, type Resource, type RowId, type RowValues } from '../descriptor/registry.js'
import { buildOnce } from '../process/buildOnce.js'
import { compile, parameter, type Statement, sqlTag, type Values } from './bindings.js'
import { conflictsQuery } from './conflicts.js'
import type { Dialect, RowCondition, Source } from './dialect.js'
import { isAssignedId } from './makeWrite.js'
import { findReferencing } from './referencing.js'
import { referrersTo } from './referrers.js'
import { rowsWithin } from './restricted.js'
import { boundValue, escapedName, findField, quoted } from './schema.js'
import type { BoundStatement, KeyStatements, Write, WritePlan } from './writeData.js'

/** What a caller may write: the rows that it sees, those that each write is allowed for, and those that it may reference. */
export interface Restriction {
  readonly seen: Source
  /** Whether it may read no row at all: it then gets the id of a row that it creates. */
  readonly isBlind: boolean
  readonly rows: Readonly<Partial<Record<Write['kind'], RowCondition | undefined>>>
  readonly sources: (path: string) => Source
  /** The rows that it may see a reference of; undefined if all. */
  readonly shown: (resource: Resource, field: string) => string | undefined
}

/** Whether a row that was written may be one that the caller does not see; otherwise it is none of a view. */
export const hidesRows = ({ seen, isBlind }: Restriction): boolean => seen.rowRule !== undefined && !isBlind

export interface WriteOptions {
  readonly keys?: KeyStatements | undefined
  /** Reads `$id`; its second column is the JSON. */
  readonly read: Statement
  readonly restriction?: Restriction | undefined
  /** Whether a delete locks its row although it compares nothing, which needs the right to update. */
  readonly isDeleteLocked?: boolean
  readonly beforeDelete?: readonly Statement[] | undefined
  /** The statements that do everything a create needs, without and with a key. */
  readonly create?: { readonly plain: Statement; readonly withKey: Statement } | undefined
}

/** Plans the writes of one table. */
export const writePlanner = (
  dialect: Dialect,
  registry: Registry,
  source: Source,
  sources: (path: string) => Source,
  { keys, read, isDeleteLocked, beforeDelete, create, restriction }: WriteOptions,
) => {
  const { knex } = dialect
  const { resource } = source
  const { seen = source, rows = {} } = restriction ?? {}
  const { path } = resource
  const sql = sqlTag(knex)
  const table = escapedName(resource.table)
  const column = (name: string) => escapedName(findField(resource, name).column)
  const named = (name: string, type?: string) => parameter(knex, name, type)
  const rowId = named('id', dialect.typeOf(idField(resource)))
  const written = (name: string) => knex.raw(source.write(name), [named(name)])
  const json = dialect.bytes(seen.json)
  // The database sets a managed field without a value.
  const inserted = resource.fields.filter(({ managed }) => managed !== true).map(({ name }) => name)
  const values =
    inserted.length > 0
      ? sql`(${inserted.map(column).join(', ')}) values (${sql.join(inserted.map(written), ', ')})`
      : 'default values'
  /** The rows that the fields of a write may reference: a caller does not learn about others, but it does not choose defaults. */
  const referenced = (names: readonly string[]) => (path: string, field: string) =>
    restriction && names.includes(field) ? restriction.sources(path) : sources(path)
  const allNames = resource.fields.map(({ name }) => name)
  const onceConflicts = buildOnce<Statement>()
  const conflictsOf = (sentNames: readonly string[] = allNames) => {
    const names = resource.fields
      .filter(({ name, references }) => references && sentNames.includes(name))
      .map(({ name }) => name)
    return onceConflicts(`${names}`, () => compile(conflictsQuery(dialect, registry, referenced(names), source)))
  }
  const insert = compile(sql`insert into ${table} ${values} returning ${column('id')}`)
  const remove = compile(sql`delete from ${table} where ${column('id')} = ${rowId}`)
  const current = (lock: string, isChanged: ReturnType<typeof sql> | string = '1') =>
    compile(sql`select ${json}, ${isChanged} from ${seen.from} as _t where id = ${rowId}${lock}`)
  const [unlocked, locked] = [current(''), current(dialect.forUpdate)]
  const referrers = referrersTo(
    dialect,
    registry,
    resource,
    (target, field) => sources(target.path).write(field),
    restriction?.shown,
  )
  const onceAllowed = buildOnce<Statement>()
  const allowed = (kind: Write['kind'], values: Values): BoundStatement | undefined => {
    const condition = rows[kind]
    if (!condition) return undefined
    const within = rowsWithin(source.from, condition)
    return {
      statement: onceAllowed(kind, () => compile(sql`select 1 from ${within} as _t where id = ${rowId}`)),
      values,
    }
  }

  const once = buildOnce<Readonly<Record<'current' | 'conflicts' | 'change', Statement>>>()
  const update = (names: readonly string[], stamps: readonly string[]) =>
    once(`${names} ${stamps}`, () => {
      const differs = names.map((name) => {
        const field = findField(resource, name)
        const isOther = (stored: string) =>
          dialect.columnOf(field).isComparedAsText
            ? sql`cast(${stored} as text) is distinct from cast(${written(name)} as text)`
            : sql`${stored} is distinct from ${named(name, dialect.typeOf(field))}`
        // What is read of a table that the service does not manage has no redacted fields.
        return field.redacted
          ? sql`exists (select 1 from ${table} where ${column('id')} = ${rowId} and ${isOther(column(name))})`
          : isOther(quoted(name))
      })
      const isChanged = differs.length > 0 ? sql`case when ${sql.join(differs, ' or ')} then 1 else 0 end` : '0'
      const changed = [...names, ...stamps].map((name) => sql`${column(name)} = ${written(name)}`)
      const set = changed.length > 0 ? sql.join(changed, ', ') : `${column('id')} = ${column('id')}`
      return {
        current: current(dialect.forUpdate, isChanged),
        conflicts: compile(conflictsQuery(dialect, registry, referenced(names), source, names)),
        change: compile(sql`update ${table} set ${set} where ${column('id')} = ${rowId}`),
      }
    })
  const bound = (given: RowValues) =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        isAssignedId(value) ? value : boundValue(dialect.columnOf(findField(resource, name)), value),
      ]),
    )

  return {
    keys,
    /** Whether a row is one that may be written; always if there is no query. */
    allowed,
    /**
     * The query of the conflicts that some values would meet, in a new row or in the row with the id; `scope` has the values of the
     * caller's rules.
     */
    conflicts: (given: RowValues, id: RowId | undefined, scope: Values, sent?: readonly string[]): BoundStatement => ({
      statement: id === undefined ? conflictsOf(sent) : update(Object.keys(given), []).conflicts,
      values: { ...scope, ...bound(given), id },
    }),
    referencing: (id: RowId, scope: Values) => findReferencing(referrers(), path, id, scope),
    plan(write: Write, scope: Values): WritePlan {
      const { kind, idempotencyKey: given } = write
      const key = given && keys && { given, statements: keys }
      const refused = write.kind === 'delete' ? undefined : source.findRounded?.(write.values)
      const common = {
        kind,
        path,
        read: { statement: read, values: scope },
        ...(restriction && { isRestricted: hidesRows(restriction), allowed: allowed(kind, scope) }),
        ...(key && { key }),
        ...(refused && { refused }),
      }
      if (write.kind === 'insert') {
        const stored = bound(write.values)
        const withKey = { ...stored, ...(given && { $key: given.key, $digest: given.digest }) }
        return {
          ...common,
          conflicts: { statement: conflictsOf(write.sent), values: { ...scope, ...stored } },
          change: { statement: insert, values: stored },
          ...(create && { create: { statement: given ? create.withKey : create.plain, values: withKey } }),
        }
      }
      const { id, ifMatch } = write
      if (write.kind === 'delete')
        return {
          ...common,
          id,
          ifMatch,
          // What its rules were evaluated for must still be so.
          current: {
            statement: isDeleteLocked || ifMatch || restriction ? locked : unlocked,
            values: { ...scope, id },
          },
          referrers: referrers(),
          scope,
          change: { statement: remove, values: { id } },
          ...(beforeDelete && { beforeDelete }),
        }
      const statements = update(Object.keys(write.values), Object.keys(write.stamps))
      const changeValues = { ...scope, ...bound({ ...write.values, ...write.stamps }), id }
      return {
        ...common,
        id,
        ifMatch,
        unchanged: write.unchanged,
        current: { statement: statements.current, values: changeValues },
        conflicts: { statement: statements.conflicts, values: changeValues },
        change: { statement: statements.change, values: changeValues },
      }
    },
  }
}

export type WritePlanner = ReturnType<typeof writePlanner>
