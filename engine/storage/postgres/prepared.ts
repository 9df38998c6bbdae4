/** Statements of PostgreSQL, which each connection prepares once. */
import createKnex from 'knex'
import { compiler, type Statement } from '../sql.js'

/** Builds the SQL of indexes and migrations, and never connects. */
export const knex = createKnex({ client: 'pg' })

export type Prepared = Statement

export const prepared = compiler((place) => `$${place}`)
