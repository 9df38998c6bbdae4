/** The references that a delete follows, with the statements that find and change the rows that have them. */
import { boundValue } from '../descriptor/kinds/index.js'
import type { OnDelete } from '../descriptor/options.js'
import { currentStamps, idField, type Registry, type Resource, referencesTo } from '../descriptor/registry.js'
import { rowOfParameters } from './conflicts.js'
import type { Dialect, Source } from './dialect.js'
import { maxFound } from './referencing.js'
import { findField, quoted } from './schema.js'
import { type Fragment, joinSql, parameter, sql } from './sql.js'
import type { Referrer } from './writeData.js'

/**
 * Makes the function that returns the references which a delete follows, with the current values of `onUpdate`. Each reference is
 * followed by separate statements, because a distributed database does not support recursive queries.
 */
export const referrersTo = (
  { compile, columnOf, typeOf, isIn }: Dialect,
  registry: Registry,
  { path }: Resource,
  sources: (path: string) => Source,
  shown: (resource: Resource, field: string) => Fragment | undefined = () => undefined,
): (() => Referrer[]) => {
  const referrer = (target: string, resource: Resource, field: string, onDelete: OnDelete) => {
    const table = quoted(resource.table)
    const column = (name: string) => quoted(findField(resource, name).column)
    // The references have the kind of the ids that they reference.
    const isReferring = isIn(parameter('$ids', typeOf(findField(resource, field), true)))
    const [isGiven, isDeleted] = ['$ids', '$deleted'].map((name) =>
      isIn(parameter(name, typeOf(idField(resource), true))),
    ) as [Fragment, Fragment]
    const isOther = (id: string) => (onDelete === 'cascade' ? '' : sql` and not (${id} ${isDeleted})`)
    const rows = sql`${table} where ${column(field)} ${isReferring}${isOther(column('id'))}`
    const input = rowOfParameters(typeOf, sources(resource.path))
    const stamped = resource.fields.filter(({ onUpdate }) => onUpdate)
    const stamps = stamped.map((stamp) => sql`${column(stamp.name)} = ${input.written(stamp)}`)
    const seenTable = shown(resource, field)
    const seenRows = sql`${seenTable ?? ''} as _t where ${quoted(field)} ${isReferring}${isOther('id')}`
    return {
      resource: resource.path,
      field,
      target,
      onDelete,
      find: compile(sql`select ${column('id')} from ${rows} limit ${String(maxFound)}`),
      count: compile(sql`select count(*) from ${rows}`),
      ...(seenTable && {
        shown: {
          find: compile(sql`select id from ${seenRows} limit ${String(maxFound)}`),
          count: compile(sql`select count(*) from ${seenRows}`),
        },
      }),
      ...(onDelete === 'cascade' && { remove: compile(sql`delete from ${table} where ${column('id')} ${isGiven}`) }),
      ...(onDelete === 'set null' && {
        clear: compile(sql`update ${table} set ${joinSql([`${column(field)} = null`, ...stamps], ', ')}
          where ${column(field)} ${isReferring}${isOther(column('id'))}`),
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
