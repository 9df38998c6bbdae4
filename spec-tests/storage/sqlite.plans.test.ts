/** SQLite uses the indexes: no statement scans a table where an index could find the rows. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultListQuery, type Position } from '../../engine/descriptor/listQuery.js'
import { filterFields, orderedFields, type Resource } from '../../engine/descriptor/registry.js'
import { migrate } from '../../engine/storage/migration/migrate.js'
import { type Plan, planRead as planQuery } from '../../engine/storage/plan.js'
import { objectName } from '../../engine/storage/schema.js'
import { connect } from '../../engine/storage/sqlite/connection.js'
import { listReader } from '../../engine/storage/sqlite/lists.js'
import { migrationDialect } from '../../engine/storage/sqlite/migration.js'
import { insertRows } from '../../engine/storage/sqlite/rows.js'
import { jsonIndex, longRowsIndex } from '../../engine/storage/sqlite/schema.js'
import { resourceStatements } from '../../engine/storage/sqlite/statements.js'
import { storageOptions } from '../../support/storageOptions.js'
import { listQuery } from '../support/listQuery.js'
import { registry, testedResources } from '../support/tested.js'

const database = connect(':memory:', { timeout: 0 })
await migrate(migrationDialect(database), registry, storageOptions)
database.pragma('foreign_keys = OFF')
for (const resource of registry) insertRows(database, resource, resource.demo)
const statements = new Map(registry.map((resource) => [resource.path, resourceStatements(registry, resource)]))

/** The statements that a read prepares, recorded by a proxy around the connection. */
const sqlOf = (read: (reader: ReturnType<typeof listReader>) => void): string[] => {
  const prepared: string[] = []
  const recording = new Proxy(database, {
    get: (target, name) => {
      const member = Reflect.get(target, name) as unknown
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        if (name === 'prepare') prepared.push(String(args[0]))
        return Reflect.apply(member, target, args)
      }
    },
  })
  read(listReader(recording, new Map([...statements].map(([path, { lists }]) => [path, lists]))))
  return prepared
}

const planRead = (sql: string): string[] => {
  const parameters = (sql.match(/\?/g) ?? []).map(() => null)
  return (database.prepare(`explain query plan ${sql}`).all(parameters) as { detail: string }[]).map(
    ({ detail }) => detail,
  )
}

/** Scans of constants, subqueries, ids passed as JSON, and matches of the search index. */
const isExpected =
  /^SCAN (CONSTANT ROW|\(subquery-\d+\)|(?:json_each|registry_given) VIRTUAL TABLE INDEX 1:|\S+ VIRTUAL TABLE INDEX \d+:\S*M\d+\S*)$/
const unexpected = (resource: Resource, plan: readonly string[]): string[] => {
  const scanned = [` USING INDEX ${longRowsIndex(resource)}`, `SCAN ${objectName(resource, 'blocks')}`]
  const isScan = (step: string) =>
    step.startsWith('SCAN') &&
    !isExpected.test(step) &&
    // An order is that of its index.
    !/ USING COVERING INDEX \S+_order_/.test(step) &&
    !scanned.some((end) => step.endsWith(end))
  return plan.filter((step) => isScan(step) || step.includes('TEMP B-TREE'))
}

const planned = (q: string, filters: Record<string, string | bigint>) =>
  planQuery(listQuery({ q, filters }), () => true)

for (const resource of testedResources) {
  const test = suite(`plans of ${resource.path}`)
  const { get, all, conflicts, lists } = statements.get(resource.path) as ReturnType<typeof resourceStatements>
  const pageOf = (plan: Plan, after?: Position) =>
    sqlOf((read) => read({ resource: resource.path, read: 'page', plan, page: { ...listQuery().page, after } }, 10_000))
  const page = (q: string, filters: Record<string, string | bigint>, order = defaultListQuery.order) =>
    pageOf({ ...planned(q, filters), order })
  const someValue = (name: string) =>
    resource.fields.find((field) => field.name === name)?.kind === 'integer' ? 1n : 'x'

  const cases: [string, () => readonly string[]][] = [
    ['single statements', () => [get.sql, all.sql, conflicts.sql]],
    ['a page of all rows', () => page('', {})],
    ['a search', () => page('engineer', {})],
    ...orderedFields(resource).flatMap(({ name: field }): typeof cases =>
      [false, true].flatMap((descending): typeof cases =>
        [undefined, { id: 1n, value: someValue(field) }, { id: 1n, value: null }].map((after) => [
          `in ${descending ? 'descending ' : ''}order of ${field}, after ${after ? after.value : 'nothing'}`,
          () => pageOf({ ...planned('', {}), order: { field, descending } }, after),
        ]),
      ),
    ),
    ...filterFields(resource).flatMap(({ name }): typeof cases => [
      [`filter ${name}`, () => page('', { [name]: someValue(name) })],
      [`filter ${name} with a search`, () => page('engineer', { [name]: someValue(name) })],
    ]),
  ]
  for (const [name, sql] of cases) {
    test(`${name}: no unexpected scan`, () => {
      assert.ok(sql().length > 0)
      for (const one of sql())
        assert.equal(unexpected(resource, planRead(one)), [], `${one}\n${planRead(one).join('\n')}`)
    })
  }

  for (const { name, kind } of resource.fields.filter(({ range }) => range)) {
    const isNumber = kind === 'integer' || kind === 'number'
    const [least, most] = isNumber ? [-1e300, 1e300] : ['', '\u{10ffff}']
    for (const [operators, value] of [
      [['gte'], most],
      [['gt'], most],
      [['lte'], least],
      [['lt'], least],
      [['gt', 'lt'], least],
    ] as const)
      for (const q of ['', 'engineer'])
        test(`${operators.join(' and ')} ${name}${q && ' with a search'}: few matches are found by the index`, () => {
          const where = operators.map((operator) => ({ field: name, operator, value }))
          for (const order of [defaultListQuery.order, { field: name, descending: true }])
            for (const sql of pageOf({ ...planned(q, {}), strategy: 'filter', where, order })) {
              // The ids of the matches are sorted.
              const steps = unexpected(resource, planRead(sql)).filter((step) => !step.includes('TEMP B-TREE'))
              assert.equal(steps, [], sql)
            }
        })
  }

  test('rows are read from the index with their JSON', () => {
    // Rows whose numbers have many digits are read from the table, so the index does not cover it.
    const hasNumbers = resource.fields.some(({ kind, redacted }) => kind === 'number' && !redacted)
    const index = `USING ${hasNumbers ? '' : 'COVERING '}INDEX ${jsonIndex(resource)}`
    for (const sql of [get.sql, all.sql, lists.rows, lists.rowsBetween])
      assert.ok(
        planRead(sql).some((step) => step.includes(index)),
        sql,
      )
  })

  test.run()
}
