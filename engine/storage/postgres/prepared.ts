/** Statements of PostgreSQL: knex builds them, and each connection prepares them once. */
import { createHash } from 'node:crypto'
import createKnex, { type Knex } from 'knex'
import { compile, parameter, type Statement } from '../bindings.js'

/** Builds SQL and never connects: statements run on the driver directly. */
export const knex = createKnex({ client: 'pg' })

export type Query = Knex.QueryBuilder | Knex.Raw

/** A statement with the name under which a connection prepares it. */
export interface Prepared extends Statement {
  readonly name: string
}

export const withName = (statement: Statement): Prepared => {
  const name = createHash('sha256').update(statement.sql).digest('base64url').slice(0, 20)
  return { ...statement, name }
}

export const prepared = (query: Query): Prepared => withName(compile(query))

/** A parameter, with its type where the server cannot infer it. */
export const named = (name: string, type?: string): Knex.Raw => parameter(knex, name, type)

export const insertFrom = (table: string, columns: readonly string[], rows: Query): Knex.QueryBuilder =>
  knex(knex.raw('?? (??)', [table, [...columns]] as never)).insert(rows)
