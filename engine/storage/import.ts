/** Plans the imports of one table: the statements that store many rows. */
import type { Knex } from 'knex'
import { isWhole } from '../descriptor/kinds/index.js'
import { idField, type Registry, type RowId, type RowValues } from '../descriptor/registry.js'
import { inTurns } from '../process/batchPerTick.js'
import { buildOnce } from '../process/buildOnce.js'
import { compile, jsonList, parameter, type Statement, sqlTag, type Values } from './bindings.js'
import { conflictsQuery } from './conflicts.js'
import type { Dialect, Source } from './dialect.js'
import { selectRows } from './list.js'
import { rowsWithin } from './restricted.js'
import { boundValue, escapedName, findField } from './schema.js'
import { hidesRows, type Restriction } from './write.js'
import type { BoundStatement, Import, ImportPlan, KeyStatements, RowConflict } from './writeData.js'

/** The most rows of one statement. */
const maxStatementRows = 2_000

/** Plans the imports of one table. */
export const importPlanner = (
  dialect: Dialect,
  registry: Registry,
  source: Source,
  sources: (path: string) => Source,
  keys: KeyStatements | undefined,
  restriction?: Restriction,
) => {
  const seen = restriction?.seen ?? source
  const readable = restriction?.isBlind ? source.from : seen.from
  const { knex } = dialect
  const { resource } = source
  const isNumbered = isWhole(idField(resource))
  const sql = sqlTag(knex)
  const table = escapedName(resource.table)
  const column = (name: string) => escapedName(findField(resource, name).column)
  const elements = knex.raw(dialect.elements, [parameter(knex, '$rows')])
  /** The value of a field in the row `_e`, whose first element is its place. */
  const cells = (names: readonly string[]) => {
    const cell = (name: string, type?: string) => dialect.element(names.indexOf(name) + 1, type)
    const served = (name: string) => cell(name, dialect.columnOf(findField(resource, name)).type)
    // A cast to a text of limited length would cut it, which storing it does not.
    const stored = (name: string) => {
      const type = source.typeOf?.(name)
      return type === undefined ? served(name) : cell(name, /^char/i.test(type) ? 'text' : type)
    }
    const template = (name: string) => source.write(name)
    const isId = (name: string) => name === 'id' && source.idOf !== undefined
    return {
      /** As the columns of the source have it. */
      given: (name: string) => knex.raw(isId(name) ? (source.idOf?.(cell(name, 'text')) as string) : served(name)),
      written: (name: string): Knex.Raw =>
        knex.raw(template(name), [knex.raw(template(name) === '?' ? stored(name) : cell(name))]),
    }
  }
  const place = dialect.element(0, 'integer')
  /** The places of rows that have conflicts, and these as JSON. */
  const conflictsOf = (
    names: readonly string[],
    changed: readonly string[] | 'all',
    unsent: readonly string[] = [],
  ) => {
    const referenced = (path: string, field: string) =>
      restriction && !unsent.includes(field) ? restriction.sources(path) : sources(path)
    const toId = (target: Source, id: Knex.Raw) => (target.idOf ? knex.raw(target.idOf(`cast(${id} as text)`)) : id)
    const { given } = cells(names)
    // The rows of several servers are not looked up for each element.
    const isApart = source.isSpread && names.includes('id') && changed === 'all'
    const taken = sql`with registry_taken as materialized (select id from ${source.from} as _t
      where id ${knex.raw(dialect.isAmong(`select ${given('id')} from ${dialect.elements} as _e`), [parameter(knex, '$rows')])}) `
    const query = conflictsQuery(
      dialect,
      registry,
      referenced,
      source,
      changed,
      given,
      toId,
      isApart ? 'registry_taken' : source.from,
    )
    return compile(sql`${isApart ? taken : ''}select n, conflicts from (select ${place} as n, (${query as unknown as Knex.Raw}) as conflicts
      from ${elements} as _e) as _c where conflicts <> ''`)
  }
  // The database sets a managed field without a value.
  const inserted = resource.fields.filter(({ managed }) => managed !== true).map(({ name }) => name)
  // A statement that several servers carry out returns the ids in any order: they are taken before, or the rows stored one by one.
  const isUnordered = source.isSpread === true && !inserted.includes('id')
  const { takeIds } = source
  const isAssigned = isUnordered && takeIds !== undefined
  const assignedId = knex.raw(`(?)[row_number() over (order by ${place})]`, [
    parameter(knex, '$assigned', dialect.typeOf(idField(resource), true)),
  ])
  const ownReferences = resource.fields.filter(({ references }) => references === resource.path)
  const once = buildOnce<{ conflicts: Statement; change: Statement }>()
  const insert = (unsent: readonly string[] = []) =>
    once(`insert ${unsent}`, () => ({
      conflicts: conflictsOf(inserted, 'all', unsent),
      change: isAssigned
        ? compile(sql`insert into ${table} (${['id', ...inserted].map(column).join(', ')})
            select ${sql.join([assignedId, ...inserted.map(cells(inserted).written)], ', ')} from ${elements} as _e returning ${column('id')}`)
        : compile(sql`insert into ${table} (${inserted.map(column).join(', ')})
        select ${sql.join(inserted.map(cells(inserted).written), ', ')} from ${elements} as _e order by ${place}
        returning ${column('id')}`),
    }))
  const update = (changed: readonly string[], stamps: readonly string[]) => {
    const names = ['id', ...changed, ...stamps]
    const { given, written } = cells(names)
    return once(`update ${names} ${stamps.length}`, () => {
      const setNames = [...changed, ...stamps]
      const returning = sql`returning ${table}.${column('id')}`
      const change = () => {
        const set = sql.join(
          setNames.map((name) => sql`${column(name)} = ${written(name)}`),
          ', ',
        )
        return sql`update ${table} set ${set} from ${elements} as _e where ${table}.${column('id')} = ${given('id')} ${returning}`
      }
      // Several servers take values, not how these are made.
      const spreadChange = () => {
        const values = [
          sql`${given('id')} as _id`,
          ...setNames.map((name, n) => sql`${written(name)} as _v${String(n)}`),
        ]
        const set = setNames.map((name, n) => `${column(name)} = _v${n}`).join(', ')
        return sql`with registry_new as materialized (select ${sql.join(values, ', ')} from ${elements} as _e)
          update ${table} set ${set} from registry_new where ${table}.${column('id')} = _id ${returning}`
      }
      return {
        conflicts: conflictsOf(names, changed),
        change: compile(source.isSpread ? spreadChange() : change()),
      }
    })
  }
  const isIn = () => knex.raw(dialect.isIn, [parameter(knex, '$ids', dialect.typeOf(idField(resource), true))])
  const onceCurrent = buildOnce<Statement>()
  const current = () =>
    onceCurrent('', () =>
      compile(
        selectRows(
          dialect,
          source,
          `cast(id as text), ${dialect.bytes(seen.json)}`,
          seen.from,
          sql`id ${isIn()}`,
          source.isSpread ? '' : ` order by id${dialect.forUpdate}`,
        ),
      ),
    )
  const lock = () =>
    onceCurrent('lock', () => {
      const id = parameter(knex, 'id', dialect.typeOf(idField(resource)))
      return compile(sql`select 1 from ${table} where ${column('id')} = ${id}${dialect.forUpdate}`)
    })
  const countIn = (from: string) =>
    onceCurrent(from, () => compile(sql`select count(*) from ${from} as _t where id ${isIn()}`))
  const allowed = (kind: 'insert' | 'update', scope: Values): BoundStatement | undefined => {
    const condition = restriction?.rows[kind]
    return condition && { statement: countIn(rowsWithin(source.from, condition)), values: scope }
  }
  const bound = (name: string, value: unknown) =>
    boundValue(dialect.columnOf(findField(resource, name)), value ?? null) ?? null
  const boundId = (id: RowId) => (isNumbered ? BigInt(id) : id)
  const jsonId = (id: RowId) => (isNumbered ? id : JSON.stringify(id))

  return async ({ rows, mode, created, idempotencyKey: given }: Import, scope: Values): Promise<ImportPlan> => {
    const pause = inTurns()
    const expected = new Set<string>()
    const refused: RowConflict[] = []
    const counts = { insert: 0, update: 0, keep: 0 }
    const tags: Record<RowId, string> = {}
    type ImportGroupPart = { readonly statements: ReturnType<typeof insert>; readonly rows: string[] }
    type Group = ImportGroupPart & { readonly isInsert: boolean; readonly checked: Map<string, ImportGroupPart> }
    const groups = new Map<string, Group>()
    for (const [n, row] of rows.entries()) {
      await pause()
      counts[row.kind]++
      if (row.kind !== 'insert') tags[row.id] = row.tag
      if (row.kind === 'keep') continue
      const isInsert = row.kind === 'insert'
      const [changed, stamps] = isInsert ? [inserted, []] : [Object.keys(row.values), Object.keys(row.stamps)]
      const values: RowValues = isInsert ? row.values : { ...row.values, ...row.stamps }
      // Bounded, because a database parses all rows of a statement at once.
      const maxRows = isInsert && isUnordered && !isAssigned ? 1 : maxStatementRows
      const key = `${Math.floor(n / maxRows)} ${isInsert ? '' : `${changed} ${stamps}`}`
      for (const { name } of ownReferences) {
        const id = values[name]
        if (typeof id === 'string' && created.has(id)) expected.add(`${n} ${name}`)
      }
      const rounded = source.findRounded?.(values)
      if (rounded) refused.push({ ...rounded, row: n })
      const unsent: readonly string[] = (isInsert && restriction && row.unsent) || []
      const statements = isInsert ? insert(unsent) : update(changed, stamps)
      const group: Group = groups.get(key) ?? { isInsert, statements, rows: [], checked: new Map() }
      const part: ImportGroupPart = group.checked.get(`${unsent}`) ?? { statements, rows: [] }
      const fields = [...changed, ...stamps].map((name) => bound(name, values[name]))
      const json = jsonList([n, ...(isInsert ? [] : [boundId(row.id)]), ...fields])
      group.rows.push(json)
      part.rows.push(json)
      group.checked.set(`${unsent}`, part)
      groups.set(key, group)
    }
    const key = given && keys && mode === 'store' && { given, statements: keys }
    return {
      kind: 'import',
      mode,
      tags,
      expected,
      refused,
      ...(expected.size > 0 && { defer: { statement: dialect.deferReferences, values: {} } }),
      counts,
      ids: rows.map((row) => {
        if (row.kind !== 'insert') return jsonId(row.id)
        const { id = null } = row.values
        return id === null ? null : JSON.stringify(id)
      }),
      groups: [...groups.values()].map(({ isInsert, statements, rows: groupRows, checked }) => {
        const given = (some: readonly string[]) => ({ ...scope, $rows: `[${some.join(',')}]` })
        const values = given(groupRows)
        const conflicts = [...checked.values()].map((part) => ({
          statement: part.statements.conflicts,
          values: checked.size === 1 ? values : given(part.rows),
        }))
        return {
          isInsert,
          rows: groupRows.length,
          conflicts,
          ...(isInsert && isAssigned && { assign: { statement: takeIds, values: { $count: groupRows.length } } }),
          change: { statement: statements.change, values },
        }
      }),
      changed: rows.flatMap((row) => (row.kind === 'update' ? [row.id] : [])),
      ...((resource.existing || restriction) && { visible: { statement: countIn(readable), values: scope } }),
      ...(restriction && {
        isRestricted: hidesRows(restriction),
        allowed: { insert: allowed('insert', scope), update: allowed('update', scope) },
      }),
      ...(source.isSpread && {
        locks: rows.flatMap((row) =>
          row.kind === 'update' ? [{ statement: lock(), values: { id: boundId(row.id) } }] : [],
        ),
      }),
      ...(Object.keys(tags).length > 0 && {
        current: { statement: current(), values: { ...scope, $ids: dialect.bindList(Object.keys(tags).map(boundId)) } },
      }),
      ...(key && { key }),
    }
  }
}

export type ImportPlanner = ReturnType<typeof importPlanner>
