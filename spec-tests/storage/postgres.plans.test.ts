/** PostgreSQL uses the indexes: no statement scans a table where an index could find the rows. */
import { Client } from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultListQuery } from '../../engine/descriptor/listQuery.js'
import { filterFields, orderedFields, type Resource } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import type { Plan } from '../../engine/storage/plan.js'
import type { Prepared } from '../../engine/storage/postgres/prepared.js'
import { readStatements } from '../../engine/storage/postgres/statements.js'
import { writeStatements } from '../../engine/storage/postgres/writes.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { registry } from '../support/tested.js'

const url = await freshUrl()
await (await openStorage(registry, url, storageOptions)).close()
// The test tables are small enough for sequential scans: with those disabled, one shows that no index applies.
const client = new Client({
  connectionString: url,
  options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off',
})
await client.connect()
// Without fixed statistics, plans depend on when autovacuum last ran.
await client.query('vacuum analyze')

const planOf = async ({ name, sql, parameters }: Prepared): Promise<string> => {
  await client.query(`prepare "${name}" as ${sql}`)
  const nulls = parameters.length > 0 ? `(${parameters.map(() => 'null').join(', ')})` : ''
  const { rows } = await client.query({ text: `explain execute "${name}"${nulls}`, rowMode: 'array' })
  await client.query(`deallocate "${name}"`)
  return rows.map(([line]) => line).join('\n')
}

for (const resource of registry) {
  const test = suite(`PostgreSQL’s plans of ${resource.path}`)
  const statements = readStatements(resource)
  const { version, get, atOffset } = statements
  const { conflicts, create, createWithKey } = writeStatements(registry, resource)
  const filters = filterFields(resource).map(({ name }) => name)
  const planned = (strategy: Plan['strategy'], names: readonly string[]) => {
    const filters = Object.fromEntries(names.map((name) => [name, 'x']))
    return statements.matching(
      { ...listQuery({ q: strategy === 'filter' ? '' : 'ana', filters }), strategy },
      undefined,
    )
  }

  for (const [name, statement] of Object.entries({
    version,
    get,
    first: statements.matching({ ...defaultListQuery, strategy: 'all' }, undefined),
    atOffset,
    conflicts,
    create,
    createWithKey,
  })) {
    test(`${name} scans no table`, async () => {
      assert.not.match(await planOf(statement), /Seq Scan|Disabled: true/)
    })
  }

  test('a filter reads page and count from its index', async () => {
    // With few rows the planner prefers sorting to reading the index in order.
    await client.query('set enable_bitmapscan = off')
    for (const name of filters) {
      const plan = await planOf(planned('filter', [name]))
      assert.is(plan.match(/Index Only Scan using "?registry_[\w$]+/g)?.length, 2, plan)
      // The rows of a page are sorted again, to find the last.
      assert.not.match(plan, /Seq Scan|Sort Key: (?!_)/)
    }
    await client.query('set enable_bitmapscan = on')
    assert.not.match(await planOf(planned('search', filters)), /Seq Scan/)
  })

  test('an order reads its page from its index', async () => {
    for (const { name } of orderedFields(resource)) {
      for (const descending of [false, true]) {
        const plan = { ...listQuery(), order: { field: name, descending }, strategy: 'all' as const }
        for (const after of [undefined, { id: 1n, value: null }, { id: 1n, value: 'x' }])
          assert.not.match(await planOf(statements.matching(plan, after)), /Disabled: true/)
      }
    }
  })

  test('a search uses the trigram index once, for page and count', async () => {
    const plan = await planOf(planned('search', []))
    assert.is(plan.match(/Bitmap Index Scan on "?registry_[\w$]+/g)?.length, 1, plan)
    assert.not.match(plan, /Seq Scan/)
  })

  test('a search without an index scans the table once', async () => {
    const plan = await planOf(planned('scan', []))
    assert.is(plan.match(new RegExp(`Seq Scan on "?${resource.table}\\b`, 'g'))?.length, 1, plan)
  })

  test.run()
}

const test = suite('PostgreSQL’s plans of a table with many rows')

test('what few rows a range matches are found by its index', async () => {
  await client.query(`set enable_seqscan = on; insert into sink_kinds (title, state, done, created, created_on, level, due, at)
    select n::text, 'open', false, now(), now(), n % 10 - 5, '2030-01-01', now() from generate_series(1, 30000) as n;
    analyze sink_kinds`)
  const resource = registry.find(({ table }) => table === 'sink_kinds') as Resource
  const statements = readStatements(resource)
  for (const { name } of resource.fields.filter(({ range }) => range))
    for (const operators of [['gte'], ['lt'], ['gt', 'lte']] as const)
      for (const order of [defaultListQuery.order, { field: 'title', descending: true }]) {
        const where = operators.map((operator) => ({ field: name, operator, value: 'x' }))
        const query = { ...listQuery(), where, order, strategy: 'filter' as const }
        for (const statement of [statements.matching(query, undefined), statements.ids(query, undefined)]) {
          const plan = await planOf(statement)
          const few = /CTE _few\n.*?\n +CTE /s.exec(plan)?.[0] ?? ''
          assert.match(few, new RegExp(`Index (Only )?Scan (using|on) \\S+_order_${name} `), plan)
          assert.not.match(few, /Seq Scan/)
        }
      }
})

test.run()
