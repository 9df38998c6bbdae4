import { assert, startTestService, test } from 'resource-registry-engine/testing'

const service = await startTestService()
const clerk = service.as({ name: 'ben', roles: ['clerk'] })
const customer = service.as({ name: 'eva', claims: { customer_id: 1 } })

const send = async (sender: typeof service, method: string, path: string, body?: object) => {
  const headers = { 'content-type': 'application/json' }
  const request = new Request(`http://localhost/api/v1/${path}`, { method, headers, body: JSON.stringify(body) })
  const response = await sender.fetch(request)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const stock = async (id: number) => (await send(service, 'GET', `products/${id}`)).body['stock'] as number

test('an order takes pieces out of the stock, and returns them when it is cancelled', async () => {
  const before = await stock(1)
  const { body: order } = await send(clerk, 'POST', 'orders', { customer_id: 2 })
  const added = await send(clerk, 'POST', `orders/${order['id']}/products/1`, { quantity: 3 })
  assert.is(added.status, 200)
  assert.is(await stock(1), before - 3)
  await send(clerk, 'PATCH', `orders/${order['id']}`, { status: 'cancelled' })
  assert.is(await stock(1), before)
})

test('no more is sold than there is', async () => {
  const { body: order } = await send(clerk, 'POST', 'orders', { customer_id: 2 })
  const pieces = await stock(2)
  const buy = () => send(clerk, 'POST', `orders/${order['id']}/products/2`, { quantity: pieces })
  const statuses = (await Promise.all([buy(), buy(), buy()])).map(({ status }) => status)
  assert.equal(statuses.sort(), [200, 409, 409])
  assert.is(await stock(2), 0)
})

test('customers see their own orders, and the lines of these', async () => {
  const { body } = await send(customer, 'GET', 'orders')
  const rows = body['data'] as { customer_id: number }[]
  assert.ok(rows.length > 0 && rows.every(({ customer_id }) => customer_id === 1))
  const lines = (await send(customer, 'GET', 'order-lines?expand=order_id')).body['data'] as {
    expanded: { order_id: { customer_id: number } }
  }[]
  assert.ok(lines.length > 0 && lines.every(({ expanded }) => expanded.order_id.customer_id === 1))
  assert.is((await send(customer, 'POST', 'orders', { customer_id: 1 })).status, 403)
})

test.run()
