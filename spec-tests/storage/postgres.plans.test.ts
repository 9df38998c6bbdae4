/** PostgreSQL finds the few rows of a range by its index, in a table with many rows. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultListQuery } from '../../engine/descriptor/listQuery.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { readStatements } from '../../engine/storage/list.js'
import { openStorage } from '../../engine/storage/open.js'
import { managedSource, postgresDialect } from '../../engine/storage/postgres/dialect.js'
import { withSampleRows } from '../../support/samples.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, sessionOn } from '../support/database.js'
import { kitchenSink } from '../support/kitchenSink.js'

const registry = withSampleRows(kitchenSink)
const url = await freshUrl()
await (await openStorage(registry, url, storageOptions)).close()
const index = { isAvailable: true, isAscii: false }

const test = suite('plans of a table with many rows')

test('what few rows a range matches are found by its index', async () => {
  const client = await sessionOn(url)
  await client.query(`insert into sink_kinds (title, state, done, created, created_on, level, due, at)
    select n::text, 'open', false, now(), now(), n % 10 - 5, '2030-01-01', now() from generate_series(1, 30000) as n;
    analyze sink_kinds; set plan_cache_mode = force_generic_plan`)
  const resource = registry.find(({ table }) => table === 'sink_kinds') as Resource
  const statements = readStatements(postgresDialect(index), managedSource(index, resource))
  for (const { name } of resource.fields.filter(({ range }) => range))
    for (const operators of [['gte'], ['lt'], ['gt', 'lte']] as const)
      for (const order of [defaultListQuery.order, { field: 'title', descending: true }]) {
        const where = operators.map((operator) => ({ field: name, operator, value: 'x' }))
        const { sql, parameters } = statements.page(
          { where, search: '', order, strategy: 'filter' },
          undefined,
          undefined,
          true,
        )
        await client.query(`prepare range as ${sql}`)
        const { rows } = await client.query({
          text: `explain execute range(${parameters.map(() => 'null').join(', ')})`,
          rowMode: 'array',
        })
        await client.query('deallocate range')
        const plan = rows.map(([line]) => line).join('\n')
        const few = /CTE registry_few\n.*?\n +CTE /s.exec(plan)?.[0] ?? ''
        assert.match(few, new RegExp(`Index (Only )?Scan (using|on) \\S+_order_${name} `), plan)
        assert.not.match(few, /Seq Scan/)
      }
  await client.end()
})

test.run()
