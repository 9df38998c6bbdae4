/** Statements that are written by knex once, and bound to values at each request. */
import type { Knex } from 'knex'

/** Stands in a knex query for a value that only the request knows. */
class Slot {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** SQL with the names of the values it takes, in their order. */
export interface Statement {
  readonly sql: string
  readonly slots: readonly string[]
}

/** A slot as a fragment: knex would turn a bare object into JSON in some places. */
export const slot = (knex: Knex, name: string): Knex.Raw => knex.raw('?', [new Slot(name) as unknown as string])

/** Has knex write the query's SQL. */
export const compile = (query: Knex.QueryBuilder | Knex.Raw): Statement => {
  const { sql, bindings } = query.toSQL().toNative()
  const slots = bindings.map((binding) => {
    if (binding instanceof Slot) return binding.name
    throw new TypeError(`a statement binds ${String(binding)}, which is no slot`)
  })
  return { sql, slots }
}
