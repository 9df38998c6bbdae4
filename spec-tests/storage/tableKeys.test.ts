/** Tables whose ids are UUIDs or texts: planned and changed like those with integers. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decimal, integer, number, text, uuid } from '../../engine/descriptor/index.js'
import type { Registry, Resource, RowValues } from '../../engine/descriptor/registry.js'
import { describeDifference } from '../../engine/storage/migration/difference.js'
import { openStorage, planStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, server } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { apply, open } from '../support/members.js'
import { resourceIn } from '../support/registryFrom.js'

const orderIds = ['0190d8a1-6f2e-7c3a-9b1d-000000000001', '0190d8a1-6f2e-7c3a-9b1d-000000000002']
const demoOrders: RowValues[] = orderIds.map((id, n) => ({ id, title: `Order ${n}`, country: 'AT', price: n + 0.5 }))
const demoCountries: RowValues[] = [
  { id: 'AT', name: 'Austria' },
  { id: 'a/b', name: "O'Slash" },
]

const registryWith = (orders: Parameters<typeof resourceIn>[1], id: 'uuid' | 'text' | 'integer' = 'uuid'): Registry => [
  resourceIn('countries', { name: text({ filter: true, sort: true }) }, { id: 'text', demo: demoCountries }),
  resourceIn('orders', orders, { id, demo: id === 'uuid' ? demoOrders : [] }),
]
const fields = {
  title: text({ maxLength: 20 }),
  country: text({ references: 'countries', filter: true }),
  parent_id: uuid({ references: 'orders', onDelete: 'cascade', filter: true }),
  price: number({ sort: true }),
}
/** A database with the tables and their demo rows, and what a migration with other fields of the orders does. */
const prepared = async () => {
  const url = await freshUrl()
  await (await openStorage(registryWith(fields), url, storageOptions)).close()
  return { url, plan: (registry: Registry) => planStorage(registry, url, 5_000, { withValues: true }) }
}

const rowsOf = async (registry: Registry, url: string, q = ''): Promise<RowValues[]> => {
  const storage = await open(registry, url)
  const page = await storage.table(registry[1] as Resource).list(listQuery({ q }))
  await storage.close()
  return JSON.parse(String(page.body)).data
}

const test = suite('tables with other ids')

test('a second start has nothing to do', async () => {
  const { url, plan } = await prepared()
  const { steps, differences } = await plan(registryWith(fields))
  assert.equal([steps.map(({ about }) => about), differences.map(describeDifference)], [[], []])
  assert.equal(
    (await rowsOf(registryWith(fields), url)).map(({ id }) => id),
    orderIds,
  )
})

test('a changed table keeps its ids, and its rows are found', async () => {
  const { url, plan } = await prepared()
  const { title: _, price: __, ...rest } = fields
  const changed = registryWith({
    ...rest,
    name: text({ renamedFrom: 'title' }),
    price: decimal({ digits: 8, places: 2, sort: true }),
    stock: integer(),
  })
  await apply(changed, url, 'rename:orders.title', 'retype:orders.price')
  const rows = await rowsOf(changed, url, 'order 1')
  assert.equal(
    rows.map(({ id, name, price: amount }) => [id, name, amount]),
    [[orderIds[1], 'Order 1', '1.50']],
  )
  assert.equal((await plan(changed)).steps, [])
})

test('values that should be unique, and are not, are found', async () => {
  const { plan } = await prepared()
  const unique = registryWith({ ...fields, country: text({ references: 'countries', unique: true }) })
  const messages = (await plan(unique)).differences.map(describeDifference).join('\n')
  assert.match(messages, `one value occurs more than once: 2 rows share that of id ${orderIds[0]}`)
})

test('the kind of the ids cannot change', async () => {
  const { plan } = await prepared()
  for (const id of ['integer', 'text'] as const) {
    const { parent_id: _, ...rest } = fields
    const { differences } = await plan(registryWith(rest, id))
    const messages = differences.filter(({ isBlocking }) => isBlocking).map(describeDifference)
    // SQLite stores UUIDs as texts, which they are too.
    if (id === 'integer' || server) assert.match(messages.join('\n'), `the descriptor says id: '${id}'`)
  }
})

test.run()
