/** What a delete does to other rows: those that reference its row, or a row that is deleted with it, at any level. */
import type { Knex } from 'knex'
import type { OnDelete } from '../descriptor/options.js'
import {
  currentStamps,
  idField,
  maxOtherRows,
  type Registry,
  type Resource,
  type RowId,
  referencesTo,
} from '../descriptor/registry.js'
import { compile, parameter, sqlTag, type Values } from './bindings.js'
import type { Dialect } from './dialect.js'
import { boundValue, escapedName, findField, quoted } from './schema.js'
import type { BoundStatement, Referenced, Referrer } from './writeData.js'

/** More ids than this are not read: the row itself may be one of them. */
const maxFound = maxOtherRows + 2

/** The databases cascade through fewer levels than this; SQLite through 1,000. */
const maxLevels = 500

/** The SQL with a `?` that writes a value to a field. */
type WriteSql = (resource: Resource, field: string) => string

/**
 * Makes the function that returns the references which a delete follows, with the current values of `onUpdate`. Each reference is
 * followed by separate statements, because a distributed database does not support recursive queries.
 */
export const referrersTo = (
  { knex, columnOf, typeOf, isIn }: Dialect,
  registry: Registry,
  resource: Resource,
  writeSql: WriteSql,
  seen: (resource: Resource, field: string) => string | undefined = () => undefined,
): (() => Referrer[]) => {
  const sql = sqlTag(knex)
  const { path } = resource
  const statement = (sql: string, ...bindings: Knex.Raw[]) => compile(knex.raw(sql, bindings as never))

  const referrer = (target: string, resource: Resource, field: string, onDelete: OnDelete) => {
    const table = escapedName(resource.table)
    const column = (name: string) => escapedName(findField(resource, name).column)
    // The references have the kind of the ids that they reference.
    const ids = parameter(knex, '$ids', typeOf(findField(resource, field), true))
    const [ownIds, deleted] = ['$ids', '$deleted'].map((name) =>
      parameter(knex, name, typeOf(idField(resource), true)),
    ) as [Knex.Raw, Knex.Raw]
    const [others, given] =
      onDelete === 'cascade' ? ['', [ids]] : [` and not (${column('id')} ${isIn})`, [ids, deleted]]
    const where = `where ${column(field)} ${isIn}${others}`
    const stamps = resource.fields.filter(({ onUpdate }) => onUpdate).map(({ name }) => name)
    const stamped = stamps.map((name) => `, ${column(name)} = ${writeSql(resource, name)}`).join('')
    const shownSource = seen(resource, field)
    const shownOthers = onDelete === 'cascade' ? '' : sql` and not (id ${knex.raw(isIn, [deleted])})`
    const shownRows = sql`from ${shownSource ?? ''} as _t where ${quoted(field)} ${knex.raw(isIn, [ids])}${shownOthers}`
    const clear = `update ${table} set ${column(field)} = null${stamped} ${where}`
    return {
      resource: resource.path,
      field,
      target,
      onDelete,
      find: statement(`select ${column('id')} from ${table} ${where} limit ${maxFound}`, ...given),
      count: statement(`select count(*) from ${table} ${where}`, ...given),
      ...(shownSource && {
        shown: {
          find: compile(sql`select id ${shownRows} limit ${String(maxFound)}`),
          count: compile(sql`select count(*) ${shownRows}`),
        },
      }),
      ...(onDelete === 'cascade' && {
        remove: statement(`delete from ${table} where ${column('id')} ${isIn}`, ownIds),
      }),
      ...(onDelete === 'set null' && {
        clear: statement(clear, ...stamps.map((name) => parameter(knex, name)), ...given),
      }),
    }
  }
  const withStamps = (resource: Resource, made: Omit<Referrer, 'stamps'>): Referrer => {
    const stamps = Object.entries(made.clear ? currentStamps(resource) : {})
    const bound = stamps.map(([name, value]) => [name, boundValue(columnOf(findField(resource, name)), value)])
    return { ...made, stamps: Object.fromEntries(bound) }
  }

  const removed = new Set([path])
  const referrers: (readonly [Resource, Omit<Referrer, 'stamps'>])[] = []
  for (const target of removed) {
    for (const { resource, field } of referencesTo(registry, target)) {
      const { name, onDelete = 'restrict' } = field
      referrers.push([resource, referrer(target, resource, name, onDelete)])
      if (onDelete === 'cascade') removed.add(resource.path)
    }
  }
  return () => referrers.map((made) => withStamps(...made))
}

type Rows = readonly (readonly unknown[])[]

/** Asks the database by yielding, so that the same walk runs in a transaction of either database. */
export type Walk<R> = Generator<BoundStatement, R, Rows>

/** Walks the references to a row, level by level. Stops after the level with more rows than a delete may concern. */
function* walkReferences(referrers: readonly Referrer[], path: string, id: RowId, scope: Values) {
  // By resource, as text, whatever the kind of the id.
  const deleted = new Map([[path, new Set([String(id)])]])
  const changed: typeof deleted = new Map()
  const counts = new Map<Referrer, number>()
  const idsOf = (resource: string, rows = deleted): Set<string> => {
    const ids = rows.get(resource) ?? new Set()
    rows.set(resource, ids)
    return ids
  }
  const isTooMany = () => {
    const sizes = [...deleted.values(), ...changed.values()].map(({ size }) => size)
    return sizes.reduce((sum, size) => sum + size) > maxOtherRows + 1
  }
  const values = ({ resource, onDelete }: Referrer, ids: Iterable<string>) => ({
    $ids: [...ids],
    ...(onDelete !== 'cascade' && { $deleted: [...idsOf(resource)] }),
  })
  function* look(referrer: Referrer, ids: Iterable<string>): Walk<string[]> {
    const given = { ...scope, ...values(referrer, ids) }
    const rows = yield { statement: referrer.find, values: given }
    const [counted] = rows.length < maxFound ? [] : yield { statement: referrer.count, values: given }
    counts.set(referrer, (counts.get(referrer) ?? 0) + Number(counted?.[0] ?? rows.length))
    return rows.map(([one]) => String(one))
  }

  const levels: [target: string, ids: readonly string[], by?: Referrer][] = [[path, [String(id)]]]
  for (const [target, ids] of levels) {
    for (const referrer of referrers.filter((one) => one.target === target && one.onDelete === 'cascade')) {
      const known = idsOf(referrer.resource)
      const added = (yield* look(referrer, ids)).filter((one) => !known.has(one))
      for (const one of added) known.add(one)
      if (added.length > 0) levels.push([referrer.resource, added, referrer])
    }
    if (isTooMany()) break
  }
  for (const referrer of referrers.filter(({ target, onDelete }) => onDelete !== 'cascade' && deleted.has(target))) {
    const referring = yield* look(referrer, idsOf(referrer.target))
    if (referrer.onDelete === 'set null') for (const one of referring) idsOf(referrer.resource, changed).add(one)
  }
  return {
    concerned: referrers.filter((referrer) => counts.get(referrer)),
    countOf: (referrer: Referrer) => counts.get(referrer) as number,
    clearValues: (referrer: Referrer) => values(referrer, idsOf(referrer.target)),
    isTooMany: isTooMany(),
    levels,
  }
}

/** Finds what references a row; `scope` has the values of the caller's rules. */
export function* findReferencing(
  referrers: readonly Referrer[],
  path: string,
  id: RowId,
  scope: Values = {},
): Walk<Referenced> {
  const stored = yield* walkReferences(referrers, path, id, {})
  // Walked again as the caller sees it: rows behind a hidden one are not told.
  const isShown = referrers.every(({ shown }) => !shown)
  const shownReferrers = referrers.map((one) => ({ ...one, ...one.shown }))
  const visible = isShown ? stored : yield* walkReferences(shownReferrers, path, id, scope)
  return {
    referencing: visible.concerned.map((referrer) => {
      const { resource, field, onDelete } = referrer
      return { resource, field, onDelete, count: visible.countOf(referrer) }
    }),
    isTooMany: visible.isTooMany,
    isPrevented: stored.isTooMany || stored.concerned.some(({ onDelete }) => onDelete === 'restrict'),
    changes: [
      ...stored.concerned.flatMap((referrer) => {
        const { clear: statement, stamps } = referrer
        return statement ? [{ statement, values: { ...stamps, ...stored.clearValues(referrer) } }] : []
      }),
      // The deepest first, until the foreign keys can delete the rest.
      ...stored.levels
        .slice(maxLevels)
        .reverse()
        .flatMap(([, ids, by]) => (by?.remove ? [{ statement: by.remove, values: { $ids: [...ids] } }] : [])),
    ],
  }
}

/** An error of the database is thrown where the walk asked. */
export const runAtOnce = <R>(walk: Walk<R>, ask: (query: BoundStatement) => Rows): R => {
  const next = (query: BoundStatement): (() => IteratorResult<BoundStatement, R>) => {
    try {
      const rows = ask(query)
      return () => walk.next(rows)
    } catch (error) {
      return () => walk.throw(error)
    }
  }
  let step = walk.next()
  while (!step.done) step = next(step.value)()
  return step.value
}

export const runInTurn = async <R>(walk: Walk<R>, ask: (query: BoundStatement) => Promise<Rows>): Promise<R> => {
  const next = (query: BoundStatement): Promise<() => IteratorResult<BoundStatement, R>> =>
    ask(query).then(
      (rows) => () => walk.next(rows),
      (error) => () => walk.throw(error),
    )
  let step = walk.next()
  while (!step.done) step = (await next(step.value))()
  return step.value
}
