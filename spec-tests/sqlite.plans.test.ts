/** The indexes are used: the database is asked for the plan of every statement, and a scan that is not meant is a failure. */
import createKnex from 'knex'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Statement } from '../engine/storage/slots.js'
import { connect } from '../engine/storage/sqlite/connection.js'
import { insertRows, setUp } from '../engine/storage/sqlite/setUp.js'
import { statementsOf } from '../engine/storage/sqlite/statements.js'
import { registry } from './support/service.js'

const knex = createKnex({ client: 'better-sqlite3', useNullAsDefault: true })
const database = connect(':memory:', 0)
setUp(database, knex, registry, () => {})
database.pragma('foreign_keys = OFF')
for (const resource of registry) insertRows(database, knex, resource, resource.demo)

const planOf = ({ sql, slots }: Statement): string[] =>
  (database.prepare(`explain query plan ${sql}`).all(slots.map(() => null)) as { detail: string }[]).map(
    ({ detail }) => detail,
  )

/** A row made up of constants, what a part of the same statement has just found, and matches of the search index. */
const isMeant = /^SCAN (CONSTANT ROW|\(subquery-\d+\)|registry_(?:found|candidates)|\S+ VIRTUAL TABLE INDEX \d+:M\d+)$/
const unmeant = (plan: readonly string[]): string[] =>
  plan.filter((step) => (step.startsWith('SCAN') && !isMeant.test(step)) || step.includes('TEMP B-TREE'))

for (const resource of registry) {
  const test = suite(`plans of ${resource.path}`)
  const statements = statementsOf(knex, registry, resource)
  const named = (what: string, byField: ReadonlyMap<string, Statement>): [string, Statement][] =>
    [...byField].map(([field, statement]) => [`${what} ${field}`, statement])
  const checks = statements.checks.map(({ type, field, statement }): [string, Statement] => [
    `${type} of ${field}`,
    statement,
  ])
  const { state, get, all, search, searchFurther, fewFound, sample } = statements
  for (const [name, statement] of [
    ...Object.entries({ state, get, all, search, searchFurther, fewFound, sample }),
    ...named('filter by', statements.filtered),
    ...named('filter alone by', statements.filteredAlone),
    ...named('filter for few by', statements.fewFiltered),
    ...checks,
  ]) {
    test(`${name} scans nothing`, () => {
      const plan = planOf(statement)
      assert.ok(plan.length > 0)
      assert.equal(unmeant(plan), [], plan.join('\n'))
    })
  }

  test('rows are read from the index that holds their JSON', () => {
    for (const statement of [
      get,
      all,
      search,
      fewFound,
      ...statements.filtered.values(),
      ...statements.fewFiltered.values(),
    ]) {
      assert.ok(planOf(statement).some((step) => step.includes(`USING COVERING INDEX registry_${resource.table}_json`)))
    }
  })

  test('a text that no index finds is scanned for, once', () => {
    assert.is(unmeant(planOf(statements.scan)).length, 2)
  })

  test.run()
}
