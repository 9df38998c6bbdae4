/** Statements of PostgreSQL: knex builds them, and each connection prepares them once. */
import createKnex, { type Knex } from 'knex'
import { compile, parameter, type Statement } from '../bindings.js'

/** Builds SQL and never connects: statements run on the driver directly. */
export const knex = createKnex({ client: 'pg' })

export type Query = Knex.QueryBuilder | Knex.Raw

export type Prepared = Statement

export const prepared = compile

/** A parameter, with its type where the server cannot infer it. */
export const named = (name: string, type?: string): Knex.Raw => parameter(knex, name, type)

export const insertFrom = (table: string, columns: readonly string[], rows: Query): Knex.QueryBuilder =>
  knex(knex.raw('?? (??)', [table, [...columns]] as never)).insert(rows)
