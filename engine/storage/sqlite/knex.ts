/** The query builder of SQLite. */
import createKnex from 'knex'

/** Builds SQL and never connects: statements run on better-sqlite3 directly. */
export const knex = createKnex({ client: 'better-sqlite3', useNullAsDefault: true })
