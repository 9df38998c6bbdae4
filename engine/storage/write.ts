/** Plans the writes of one table, of a row and of many: the statements that check, change and read rows. */
import { boundValue, type Column, isWhole } from '../descriptor/kinds/index.js'
import {
  type Field,
  idField,
  type Registry,
  type Resource,
  type RowId,
  type RowValues,
} from '../descriptor/registry.js'
import { leadsBack } from '../descriptor/rulePaths.js'
import { inTurns } from '../process/batchPerTick.js'
import { buildOnce } from '../process/buildOnce.js'
import { conflictsQuery, type RowInput, rowOfParameters, rowsOfElements } from './conflicts.js'
import type { Dialect, RowCondition, Source } from './dialect.js'
import { selectRows } from './list.js'
import { callerPlan } from './log.js'
import { isAssignedId } from './makeWrite.js'
import { pathLocks } from './pathLocks.js'
import { findReferencing } from './referencing.js'
import { referrersTo } from './referrers.js'
import { findField, quoted } from './schema.js'
import { rowsWithin } from './source.js'
import { type Fragment, joinSql, jsonList, parameter, type Sql, type Statement, sql, type Values } from './sql.js'
import type {
  BoundStatement,
  Import,
  ImportedRow,
  ImportPlan,
  KeyStatements,
  PathLocks,
  RowConflict,
  Write,
  WritePlan,
} from './writeData.js'

/** What a caller may write: the rows that it sees, those that each write is allowed for, and those that it may reference. */
export interface Restriction {
  readonly seen: Source
  /** Whether it may read no row at all: it then gets the id of a row that it creates. */
  readonly isBlind: boolean
  readonly rows: Readonly<Partial<Record<Write['kind'], RowCondition | undefined>>>
  /** The references that these rules follow. */
  readonly paths: Readonly<Record<Write['kind'], readonly (readonly Field[])[]>>
  readonly sources: (path: string) => Source
  /** The rows that it may see a reference of; undefined if all. */
  readonly shown: (resource: Resource, field: string) => Fragment | undefined
}

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

/** The most rows of one statement: a database parses all of them at once. */
const maxStatementRows = 2_000

/** What a row changes: all fields that a create stores, or some and what an update of them sets. */
interface Change {
  readonly kind: 'insert' | 'update'
  readonly names: readonly string[]
  readonly stamps: readonly string[]
  /** The fields whose references the caller chose, of all rows; others may be any. */
  readonly sent: readonly string[]
  readonly isIdGiven?: boolean
}

/** Rows of an import as JSON, which one statement takes. */
interface Part {
  readonly change: Change
  readonly rows: string[]
}

/** The rows that are stored together; of these, those that may reference the same rows are looked at for conflicts together. */
interface Group extends Part {
  readonly checked: Map<string, Part>
}

/** Plans the writes of one table. */
export const writePlanner = (
  dialect: Dialect,
  registry: Registry,
  source: Source,
  sources: (path: string) => Source,
  { keys, read, isDeleteLocked, beforeDelete, create, restriction }: WriteOptions,
) => {
  const { compile, elements } = dialect
  const { resource, isSpread = false, takeIds } = source
  const { seen = source, rows: allowedRows = {} } = restriction ?? {}
  const { path } = resource
  const id = idField(resource)
  const isNumbered = isWhole(id)
  const table = quoted(resource.table)
  const column = (name: string) => quoted(findField(resource, name).column)
  const rowId = parameter('id', dialect.typeOf(id))
  const isGivenId = sql`id ${dialect.isIn(parameter('$ids', dialect.typeOf(id, true)))}`
  const isRow = sql`${column('id')} = ${rowId}`
  const returningId = `returning ${table}.${column('id')}`
  const place = dialect.element(0, 'integer')
  const oneRow = rowOfParameters(dialect.typeOf, source)
  const writtenBy = (input: RowInput) => (name: string) => input.written(findField(resource, name))
  // The database sets a managed field without a value.
  const inserted = resource.fields.filter(({ managed }) => managed !== true).map(({ name }) => name)
  const references = resource.fields.filter(({ references }) => references).map(({ name }) => name)
  // A statement that several servers carry out returns the ids in any order: they are taken before, or the rows stored one by one.
  const isUnordered = isSpread && !inserted.includes('id')
  const isAssigned = isUnordered && takeIds !== undefined
  const hidesRows = restriction !== undefined && seen.rowRule !== undefined && !restriction.isBlind

  const keep = buildOnce<Statement>()
  const once = (name: string, build: () => Sql): Statement => keep(name, () => compile(build()))

  /** The conflicts of a change, of the row that the parameters have or, with their places, of those that `$rows` has. */
  const conflicts = ({ kind, names, sent, isIdGiven = false }: Change, input: RowInput, taken?: Fragment): Sql =>
    conflictsQuery(registry, source, {
      input,
      // A caller does not learn about rows that it may not reference, but it does not choose defaults.
      referenced: (path, field) => (restriction && sent.includes(field) ? restriction.sources(path) : sources(path)),
      ...(kind === 'update' && { changed: names }),
      isIdGiven,
      ...(taken && { taken }),
    })
  const assignments = (names: readonly string[], written: (name: string) => Fragment): Sql =>
    joinSql(
      names.map((name) => sql`${column(name)} = ${written(name)}`),
      ', ',
    )
  const insertInto = (names: readonly string[]): string => `insert into ${table} (${names.map(column).join(', ')})`

  /** The statements for one row. */
  const single = (change: Change) => {
    const { kind, names, stamps, sent, isIdGiven } = change
    const written = writtenBy(oneRow)
    const key = `${kind} ${names} ${stamps}${isIdGiven ? ' again' : ''}`
    const insert = () =>
      names.length > 0
        ? sql`${insertInto(names)} values (${joinSql(names.map(written), ', ')}) returning ${column('id')}`
        : sql`insert into ${table} default values returning ${column('id')}`
    const update = () => {
      const set = [...names, ...stamps]
      return sql`update ${table} set ${set.length > 0 ? assignments(set, written) : sql`${column('id')} = ${column('id')}`} where ${isRow}`
    }
    return {
      conflicts: once(`conflicts of ${key} ${references.filter((name) => sent.includes(name))}`, () =>
        conflicts(change, oneRow),
      ),
      change: once(key, kind === 'insert' ? insert : update),
    }
  }
  const insertOne = (sent: readonly string[] = inserted) =>
    single({ kind: 'insert', names: inserted, stamps: [], sent })
  const insertAgain = (sent: readonly string[] = inserted) =>
    single({ kind: 'insert', names: [...new Set(['id', ...inserted])], stamps: [], sent, isIdGiven: true })
  const updateOne = (values: RowValues, stamps: RowValues = {}) => {
    const names = Object.keys(values)
    return single({ kind: 'update', names, stamps: Object.keys(stamps), sent: names })
  }
  /** The JSON of a row, and whether some values would change it. */
  const current = (lock: string, names?: readonly string[]): Statement =>
    once(`current ${lock} ${names}`, () => {
      const differs = (names ?? []).map((name) => {
        const field = findField(resource, name)
        const isOther = (stored: string) =>
          dialect.columnOf(field).isComparedAsText
            ? sql`cast(${stored} as text) is distinct from cast(${oneRow.written(field)} as text)`
            : sql`${stored} is distinct from ${oneRow.given(field)}`
        // What is read of a table that the service does not manage has no redacted fields.
        return field.redacted
          ? sql`exists (select 1 from ${table} where ${isRow} and ${isOther(column(name))})`
          : isOther(quoted(name))
      })
      const isChanged = differs.length > 0 ? sql`case when ${joinSql(differs, ' or ')} then 1 else 0 end` : '0'
      return sql`select ${dialect.bytes(seen.json)}, ${names ? isChanged : '1'} from ${seen.from} as _t where id = ${rowId}${lock}`
    })

  /** The statements for many rows; those of an import. */
  const many = (change: Change) => {
    const { kind, names, stamps, sent } = change
    const isInsert = kind === 'insert'
    const set = [...names, ...stamps]
    const cells = isInsert ? set : ['id', ...set]
    const input = rowsOfElements(dialect, source, cells)
    const written = writtenBy(input)
    const key = `${kind} ${names} ${stamps}`
    const givenId = () => input.given(id)
    const conflictsOfAll = () => {
      // The rows of several servers are not looked up for each element.
      const isApart = isSpread && isInsert && inserted.includes('id')
      const taken = sql`with registry_taken as materialized (select id from ${source.from} as _t
        where id ${dialect.isAmong(sql`select ${givenId()} from ${elements} as _e`)}) `
      const conflictsOfRow = conflicts(change, input, isApart ? 'registry_taken' : undefined)
      return sql`${isApart ? taken : ''}select n, conflicts from (select ${place} as n, (${conflictsOfRow}) as conflicts from ${elements} as _e) as _c
        where conflicts <> ''`
    }
    const insert = () => {
      if (!isAssigned)
        return sql`${insertInto(names)} select ${joinSql(names.map(written), ', ')} from ${elements} as _e order by ${place} returning ${column('id')}`
      const assigned = sql`(${parameter('$assigned', dialect.typeOf(id, true))})[row_number() over (order by ${place})]`
      return sql`${insertInto(['id', ...names])} select ${joinSql([assigned, ...names.map(written)], ', ')} from ${elements} as _e returning ${column('id')}`
    }
    const update = () =>
      sql`update ${table} set ${assignments(set, written)} from ${elements} as _e where ${table}.${column('id')} = ${givenId()} ${returningId}`
    // Several servers take values, not how these are made.
    const spreadUpdate = () => {
      const values = [sql`${givenId()} as _id`, ...set.map((name, n) => sql`${written(name)} as _v${String(n)}`)]
      return sql`with registry_new as materialized (select ${joinSql(values, ', ')} from ${elements} as _e)
        update ${table} set ${assignments(set, (name) => `_v${set.indexOf(name)}`)} from registry_new where ${table}.${column('id')} = _id ${returningId}`
    }
    return {
      conflicts: once(`conflicts of all ${key} ${references.filter((name) => sent.includes(name))}`, conflictsOfAll),
      change: once(`all ${key}`, isInsert ? insert : isSpread ? spreadUpdate : update),
    }
  }

  const remove = compile(sql`delete from ${table} where ${isRow}`)
  /** Locks the row with `$id`. */
  const lock = () => once('lock', () => sql`select 1 from ${table} where ${isRow}${dialect.forChange}`)
  const countIn = (from: Fragment, name: string): Statement =>
    once(`count ${name}`, () => sql`select count(*) from ${from} as _t where ${isGivenId}`)
  /** The query of a row, or the number of rows with `$ids`, that the caller may write; always allowed if there is none. */
  const allowed = (kind: Write['kind'], scope: Values, isMany = false): BoundStatement | undefined => {
    const condition = allowedRows[kind]
    if (!condition) return undefined
    const within = rowsWithin(source.from, condition)
    const statement = isMany
      ? countIn(within, kind)
      : once(`allowed ${kind}`, () => sql`select 1 from ${within} as _t where id = ${rowId}`)
    return { statement, values: scope }
  }

  const onceLocks = buildOnce<PathLocks>()
  /** Locks what the rules for these writes depend on. */
  const locksFor = (kinds: readonly Write['kind'][], isOneOfMany = false): { pathLocks?: PathLocks } => {
    const paths = kinds.flatMap((kind) => restriction?.paths[kind] ?? [])
    if (paths.length === 0) return {}
    return {
      pathLocks: onceLocks(`${kinds} ${isOneOfMany}`, () => ({
        locks: pathLocks(dialect, sources, source, paths, isOneOfMany),
        turn: leadsBack(registry, resource) ? dialect.takeTurn : undefined,
        exists: once('exists', () => sql`select 1 from ${source.from} as _t where id = ${rowId}`),
      })),
    }
  }

  const referrers = referrersTo(dialect, registry, resource, sources, restriction?.shown)
  const columns = new Map(resource.fields.map((field) => [field.name, dialect.columnOf(field)]))
  const boundTo = (name: string, value: unknown) => boundValue(columns.get(name) as Column, value)
  const bound = (given: RowValues) =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, isAssignedId(value) ? value : boundTo(name, value)]),
    )

  const boundId = (id: RowId) => (isNumbered ? BigInt(id) : id)

  const plan = (write: Write, scope: Values, isOneOfMany = false): WritePlan => {
    const { kind, idempotencyKey: given } = write
    const key = given && keys && { given, statements: keys }
    const refused = write.kind === 'delete' ? undefined : source.findRounded?.(write.values)
    const common = {
      kind,
      path,
      read: { statement: read, values: scope },
      ...(restriction && { isRestricted: hidesRows, allowed: allowed(kind, scope), ...locksFor([kind], isOneOfMany) }),
      ...(key && { key }),
      ...(refused && { refused }),
      ...callerPlan(registry, dialect.callerIs, write.by),
    }
    if (write.kind === 'insert') {
      const { id: former } = write
      const values = { ...scope, ...bound(write.values), ...(former !== undefined && { id: boundId(former) }) }
      const withKey = { ...values, ...(given && { $key: given.key, $digest: given.digest }) }
      const statements = former === undefined ? insertOne(write.sent) : insertAgain(write.sent)
      return {
        ...common,
        conflicts: { statement: statements.conflicts, values },
        change: { statement: statements.change, values },
        ...(create &&
          former === undefined && {
            create: { statement: given ? create.withKey : create.plain, values: { ...withKey, $by: write.by } },
            caller: undefined,
          }),
      }
    }
    const { id, ifMatch } = write
    if (write.kind === 'delete') {
      // What its rules were evaluated for must still be so.
      const lock = isDeleteLocked || ifMatch || restriction ? dialect.forUpdate : ''
      return {
        ...common,
        id,
        ifMatch,
        current: { statement: current(lock), values: { ...scope, id } },
        referrers: referrers(),
        scope,
        change: { statement: remove, values: { id } },
        ...(beforeDelete && { beforeDelete }),
      }
    }
    const statements = updateOne(write.values, write.stamps)
    const values = { ...scope, ...bound({ ...write.values, ...write.stamps }), id }
    return {
      ...common,
      id,
      ifMatch,
      unchanged: write.unchanged,
      current: { statement: current(dialect.forChange, Object.keys(write.values)), values },
      conflicts: { statement: statements.conflicts, values },
      change: { statement: statements.change, values },
    }
  }

  /** What is to be done with a row of an import, and its values in the order of the statements. */
  const changeOf = (row: Exclude<ImportedRow, { kind: 'keep' }>) => {
    const isInsert = row.kind === 'insert'
    const values: RowValues = isInsert ? row.values : { ...row.values, ...row.stamps }
    const [names, stamps] = isInsert ? [inserted, []] : [Object.keys(row.values), Object.keys(row.stamps)]
    const unsent = (isInsert && restriction && row.unsent) || []
    const sent = names.filter((name) => !unsent.includes(name))
    const stored = [...names, ...stamps].map((name) => boundTo(name, values[name] ?? null))
    return {
      change: { kind: row.kind, names, stamps, sent },
      values,
      cells: isInsert ? stored : [boundId(row.id), ...stored],
    }
  }
  const ownReferences = resource.fields.filter(({ references }) => references === path)

  const planImport = async (
    { rows, mode, created, idempotencyKey: given, by }: Import,
    scope: Values,
  ): Promise<ImportPlan> => {
    const pause = inTurns()
    const expected = new Set<string>()
    const refused: RowConflict[] = []
    const counts = { insert: 0, update: 0, keep: 0 }
    const tags: Record<RowId, string> = {}
    const groups = new Map<string, Group>()
    const maxRows = (kind: Change['kind']) => (kind === 'insert' && isUnordered && !isAssigned ? 1 : maxStatementRows)
    for (const [n, row] of rows.entries()) {
      await pause()
      counts[row.kind]++
      if (row.kind !== 'insert') tags[row.id] = row.tag
      if (row.kind === 'keep') continue
      const { change, values, cells } = changeOf(row)
      for (const { name } of ownReferences) {
        const id = values[name]
        if (typeof id === 'string' && created.has(id)) expected.add(`${n} ${name}`)
      }
      const rounded = source.findRounded?.(values)
      if (rounded) refused.push({ ...rounded, row: n })
      const json = jsonList([n, ...cells])
      const key = `${Math.floor(n / maxRows(row.kind))} ${row.kind === 'insert' ? '' : `${change.names} ${change.stamps}`}`
      const group: Group = groups.get(key) ?? { change, rows: [], checked: new Map() }
      const part: Part = group.checked.get(`${change.sent}`) ?? { change, rows: [] }
      group.rows.push(json)
      part.rows.push(json)
      group.checked.set(`${change.sent}`, part)
      groups.set(key, group)
    }
    const withRows = (some: readonly string[]) => ({ ...scope, $rows: `[${some.join(',')}]` })
    const ids = Object.keys(tags)
    const key = given && keys && mode === 'store' && { given, statements: keys }
    return {
      kind: 'import',
      ...callerPlan(registry, dialect.callerIs, by),
      mode,
      tags,
      expected,
      refused,
      ...(expected.size > 0 && { defer: { statement: dialect.deferReferences, values: {} } }),
      counts,
      ids: rows.map((row) => {
        if (row.kind !== 'insert') return isNumbered ? row.id : JSON.stringify(row.id)
        const { id = null } = row.values
        return id === null ? null : JSON.stringify(id)
      }),
      groups: [...groups.values()].map(({ change, rows: groupRows, checked }) => {
        const values = withRows(groupRows)
        const isInsert = change.kind === 'insert'
        return {
          isInsert,
          rows: groupRows.length,
          conflicts: [...checked.values()].map((part) => ({
            statement: many(part.change).conflicts,
            values: checked.size === 1 ? values : withRows(part.rows),
          })),
          ...(isInsert && isAssigned && { assign: { statement: takeIds, values: { $count: groupRows.length } } }),
          change: { statement: many(change).change, values },
        }
      }),
      changed: rows.flatMap((row) => (row.kind === 'update' ? [row.id] : [])),
      ...((resource.existing || restriction) && {
        visible: { statement: countIn(restriction?.isBlind ? source.from : seen.from, 'seen'), values: scope },
      }),
      ...(restriction && {
        isRestricted: hidesRows,
        allowed: { insert: allowed('insert', scope, true), update: allowed('update', scope, true) },
        ...locksFor(['insert', 'update']),
      }),
      ...(isSpread && {
        locks: rows.flatMap((row) => {
          if (row.kind !== 'update') return []
          return [{ statement: lock(), values: { id: boundId(row.id) } }]
        }),
      }),
      ...(ids.length > 0 && {
        current: {
          statement: once('current of all', () => {
            const columns = sql`cast(id as text), ${dialect.bytes(seen.json)}`
            return selectRows(source, columns, seen.from, isGivenId, isSpread ? '' : ` order by id${dialect.forChange}`)
          }),
          values: { ...scope, $ids: dialect.bindList(ids.map(boundId)) },
        },
      }),
      ...(key && { key }),
    }
  }

  return {
    keys,
    lock,
    allowed,
    /**
     * The query of the conflicts that some values would meet, in a new row or in the row with the id; `scope` has the values of the
     * caller's rules.
     */
    conflicts: (given: RowValues, id: RowId | undefined, scope: Values, sent?: readonly string[]): BoundStatement => ({
      statement: (id === undefined ? insertOne(sent) : updateOne(given)).conflicts,
      values: { ...scope, ...bound(given), id },
    }),
    referencing: (id: RowId, scope: Values) => findReferencing(referrers(), path, id, scope),
    plan,
    planImport,
  }
}

export type WritePlanner = ReturnType<typeof writePlanner>
