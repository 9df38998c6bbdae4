/** The rows that `npm run seed` adds, to every shape of resource, twice. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Resource } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { addBulkRows } from '../../support/bulkRows.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl } from '../support/database.js'
import { registry } from '../support/tested.js'

const storage = await openStorage(registry, await freshUrl(), storageOptions)
const add = (resource: Resource, rows: number) => addBulkRows(storage, registry, resource, rows, () => {})
const countOf = async (resource: Resource) => (await storage.counts()).get(resource) as number

const test = suite('seed')

for (const resource of registry) {
  test(`${resource.path} can be seeded twice`, async () => {
    const before = await countOf(resource)
    const isLimited = resource.fields.some((field) => field.references && field.unique && field.required)
    const rows = isLimited ? 1 : 20
    for (let time = 1; time <= 2; time++) {
      await add(resource, rows).catch((error: Error) => {
        // A deployment may have no more rows to reference; the kitchen sink has.
        if (!isLimited || !error.message.startsWith('Only 0 rows') || resource.path.startsWith('sink-')) throw error
      })
    }
    if (!isLimited || resource.path.startsWith('sink-')) assert.is(await countOf(resource), before + 2 * rows)
  })
}

test('more rows than there are rows to reference are refused, and none is added', async () => {
  const bowls = registry.find(({ path }) => path === 'sink-bowls') as Resource
  const before = await countOf(bowls)
  const message = await add(bowls, 1000).catch((error: Error) => error.message)
  assert.match(
    String(message),
    /^Only \d+ rows can be added: each must reference a row of sink-basins in basin_id that no other does\. Add rows to sink-basins first\.$/,
  )
  assert.is(await countOf(bowls), before)
})

test.after(() => storage.close())
test.run()
