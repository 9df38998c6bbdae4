/** The references that a delete follows, with the statements that find and change the rows that have them. */
import type { Knex } from 'knex'
import type { OnDelete } from '../descriptor/options.js'
import { currentStamps, idField, type Registry, type Resource, referencesTo } from '../descriptor/registry.js'
import { compile, parameter, sqlTag } from './bindings.js'
import type { Dialect } from './dialect.js'
import { maxFound } from './referencing.js'
import { boundValue, escapedName, findField, quoted } from './schema.js'
import type { Referrer } from './writeData.js'

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
