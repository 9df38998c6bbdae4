/** Loads the demo rows into a database that has none, in one transaction. */
import type { Database } from 'better-sqlite3'
import type { Knex } from 'knex'
import type { Registry } from '../descriptor/registry.js'
import { compile, slot } from './slots.js'

/** Whether the rows were loaded: never into a database that has a row in any table. */
export const loadDemo = (database: Database, knex: Knex, registry: Registry): boolean =>
  database
    .transaction(() => {
      const isEmpty = ({ table }: Registry[number]) =>
        database.prepare(compile(knex.raw('select 1 from ?? limit 1', [table])).sql).get() === undefined
      if (!registry.every(isEmpty)) return false
      // Rows refer to one another in both directions, so the references are checked once all are there.
      database.pragma('defer_foreign_keys = ON')
      for (const { table, fields, demo } of registry) {
        const row = Object.fromEntries(fields.map(({ name }) => [name, slot(knex, name)]))
        const { sql, slots } = compile(knex(table).insert(row))
        const insert = database.prepare(sql)
        for (const values of demo) insert.run(slots.map((name) => values[name] ?? null))
      }
      return true
    })
    .immediate()
