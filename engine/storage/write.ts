/** A change of one row: its statements, and the steps that make it, the same for every kind of write and every database. */
import { createHash } from 'node:crypto'
import { idField, type Registry, type Resource, type RowId, type RowValues } from '../descriptor/registry.js'
import { buildOnce } from '../process/buildOnce.js'
import { compile, parameter, type Statement, sqlTag, toBuffer, type Values } from './bindings.js'
import { conflictsQuery, parseConflicts } from './conflicts.js'
import type { Cell, Dialect, RowCondition, Source } from './dialect.js'
import { findReferencing, referrersTo, type Walk } from './referencing.js'
import { rowsWithin } from './restricted.js'
import { boundValue, escapedName, findField, quoted } from './schema.js'
import type {
  BoundStatement,
  Forbidden,
  IdempotencyKey,
  KeyStatements,
  Outcome,
  Refused,
  Write,
  WritePlan,
} from './writeData.js'

export const forbidden: Forbidden = { isForbidden: true, isUndone: true }

/** The tag of a row: a digest of its JSON, so that it changes with this row alone. */
export const rowTag = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url').slice(0, 22)

/** The table does not take the row; nothing was changed. */
export class RowRefused extends Error {
  readonly refused: Refused

  constructor(reason: string) {
    super(reason)
    this.refused = { reason }
  }
}

/** The id in the JSON of a row; of an empty body, after a delete, none. */
const idIn = (body: Cell): RowId => {
  const { id } = JSON.parse(String(toBuffer(body)) || '{}') as { id?: RowId | number }
  return String(id ?? '')
}

const replayed = (
  [digest, body]: readonly unknown[],
  given: IdempotencyKey,
): { id: RowId; body: Cell; replayed: true } | { mismatch: true } =>
  digest === given.digest ? { id: idIn(body as Cell), body: body as Cell, replayed: true } : { mismatch: true }

/** What a create in one statement returns: conflicts, id and JSON of the new row, and digest and JSON of an earlier one with its key. */
const createdBy = (row: readonly unknown[], given: IdempotencyKey | undefined): Outcome<Cell> => {
  const [conflicts, id, body, ...stored] = row
  if (given && stored[0]) return replayed(stored, given)
  if (conflicts) return { conflicts: parseConflicts(conflicts) }
  return { id: String(id), body: body as Cell, replayed: false }
}

/** The outcome of an earlier write with the same key, if there is one. */
export function* findReplay(key: WritePlan['key']): Walk<ReturnType<typeof replayed> | undefined> {
  if (!key) return undefined
  const [stored] = yield { statement: key.statements.find, values: { $key: key.given.key } }
  return stored && replayed(stored, key.given)
}

/** Stores the key of a write with what it made. */
export function* storeKey(key: WritePlan['key'], body: Cell): Walk<void> {
  if (!key) return
  const { prune, store } = key.statements
  if (prune) yield { statement: prune, values: {} }
  yield { statement: store, values: { $key: key.given.key, $digest: key.given.digest, body } }
}

function* isAllowed({ allowed }: WritePlan, id: Cell): Walk<boolean> {
  if (!allowed) return true
  return (yield { ...allowed, values: { ...allowed.values, id } }).length > 0
}

/** Makes a write within a transaction; throws if the database refuses it. */
export function* makeWrite(plan: WritePlan): Walk<Outcome<Cell>> {
  const { kind, id: given, ifMatch, key } = plan
  if (plan.create) {
    const [made] = yield plan.create
    return createdBy(made ?? [], key?.given)
  }
  const [current] = plan.current ? yield plan.current : []
  // After the row is locked, which waits for another request with the same key.
  const replay = yield* findReplay(key)
  if (replay) return replay
  if (plan.current && !current) return { isMissing: true }
  const [before = null, isChanged = 1] = (current ?? []) as Cell[]
  if (given !== undefined && !(yield* isAllowed(plan, given))) return forbidden
  if (ifMatch && !ifMatch.includes(rowTag(toBuffer(before)))) return { current: before }
  if (plan.unchanged !== undefined && plan.unchanged !== rowTag(toBuffer(before))) return { changed: before }
  if (plan.refused) return { refused: plan.refused }
  const [conflicting] = plan.conflicts ? yield plan.conflicts : []
  if (conflicting?.[0]) return { conflicts: parseConflicts(conflicting[0]) }
  if (plan.referrers && given !== undefined) {
    for (const statement of plan.beforeDelete ?? []) yield { statement, values: {} }
    // Before the cascades of a delete, which would be made and undone.
    const references = yield* findReferencing(plan.referrers, plan.path, given, plan.scope)
    const { referencing, isTooMany, isPrevented, changes } = references
    if (isPrevented) return { referencing, isTooMany }
    for (const query of changes) yield query
  }
  let [id, body]: [Cell | undefined, Cell] = [given, kind === 'delete' ? '' : before]
  if (Number(isChanged) === 1) {
    const [made] = yield plan.change
    id ??= made?.[0] as Cell
    if (kind !== 'delete') {
      const [row] = yield { ...plan.read, values: { ...plan.read.values, id } }
      if (!row && plan.isRestricted) return forbidden
      if (!row) throw new RowRefused('the row would not be one of the view')
      if (!(yield* isAllowed(plan, id as Cell))) return forbidden
      body = row[1] as Cell
    }
  }
  yield* storeKey(key, body)
  return { id: String(id), body, replayed: false }
}

/** Stands for the id that is assigned to the row of an earlier write of a batch, by its place; only in values that are bound. */
export interface AssignedId {
  readonly $operation: number
}

export const isAssignedId = (value: unknown): value is AssignedId =>
  typeof value === 'object' && value !== null && '$operation' in value

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
