/** Copies that clients keep by following changes are what the list shows each of them, while several writers write. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { integer, text } from '../../engine/descriptor/index.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { seededRandom } from '../../support/random.js'
import { callersNamed } from '../support/callers.js'
import { sharedDatabase } from '../support/database.js'
import { registryFrom } from '../support/registryFrom.js'
import { closeServices, followPages, startService, type TestService } from '../support/service.js'
import { until } from '../support/until.js'

const writes = { create: 'staff', update: 'staff', delete: 'staff' }
const descriptor = { area: 'Test', required: [], create: true, update: true, delete: true, import: true, changes: true }
const registry = registryFrom({
  houses: { ...descriptor, name: 'House', table: 'houses', fields: { owner: integer({ filter: true }) } },
  items: {
    ...descriptor,
    name: 'Item',
    table: 'items',
    fields: {
      title: text(),
      owner: integer({ filter: true }),
      secret: text({ readBy: ['staff'] }),
      house_id: integer({ references: 'houses', filter: true, onDelete: 'cascade' }),
    },
    access: { ...writes, read: ['staff', { owner: claim('owner') }, { 'house_id.owner': claim('owner') }] },
  },
})

const callers = {
  staff: { roles: ['staff'] },
  one: { roles: [], claims: { owner: 1 } },
  two: { roles: [], claims: { owner: [2, 3] } },
}
const as = (name: string) => ({ authorization: `Bearer ${name}`, 'content-type': 'application/json' })

/** A copy of the items that a caller sees, kept by pages of changes. */
const keepCopy = async ({ send }: TestService, name: string, query: string) => {
  const get = (path: string) => send(`/api/v1/items${path}`, { headers: as(name) })
  const copy = { rows: new Map<number, RowValues>(), told: 0, resyncs: 0, isEnded: false, ended: Promise.resolve() }
  let after = ''
  const begin = async () => {
    after = (await get('/changes')).body.meta.next
    const rows = await followPages({ send } as TestService, '/api/v1/items?limit=200', { headers: as(name) })
    copy.rows = new Map(rows.map((row) => [row['id'] as number, row]))
  }
  await begin()
  const follow = async () => {
    while (!copy.isEnded) {
      const { status, body, text: answer } = await get(`/changes?after=${after}&${query}`)
      if (status === 410) {
        copy.resyncs++
        await begin()
        continue
      }
      assert.is(status, 200, answer)
      const ids = body.data.map(({ id }: { id: number }) => id)
      assert.is(new Set(ids).size, ids.length)
      for (const { op, id, row } of body.data) {
        if (op === 'put') copy.rows.set(id, row)
        else copy.rows.delete(id)
      }
      copy.told += ids.length
      after = body.meta.next
    }
  }
  copy.ended = follow()
  return copy
}

const test = suite('copies')

test('they are the list of each caller, whoever writes', async () => {
  const database = await sharedDatabase()
  const service = await startService({ registry, url: database.url, credentials: callersNamed(callers), batch: true })
  const { below } = seededRandom(7)
  const send = (method: string, path: string, body?: object) =>
    service.send(`/api/v1/${path}`, { method, headers: as('staff'), ...(body && { body: JSON.stringify(body) }) })
  for (const owner of [1, 2, 4]) await send('POST', 'houses', { owner })
  const copies = await Promise.all(
    [
      ['staff', 'limit=1000&wait=2'],
      ['staff', 'limit=3'],
      ['one', 'wait=5'],
      ['one', 'limit=1&wait=1'],
      ['two', 'limit=7&wait=3'],
      ['two', 'wait=5'],
    ].map(async ([name = '', query = '']) => ({ name, copy: await keepCopy(service, name, query) })),
  )
  const item = () => ({ title: `Item ${below(1_000)}`, owner: below(5), house_id: below(2) ? 1 + below(3) : null })
  const id = () => 1 + below(60)
  const steps = [
    () => send('POST', 'items', item()),
    () => send('POST', 'items', item()),
    () => send('PATCH', `items/${id()}`, { owner: below(5) }),
    () => send('PATCH', `items/${id()}`, { secret: String(below(100)) }),
    () => send('PATCH', `items/${id()}`, { house_id: 1 + below(3) }),
    () => send('DELETE', `items/${id()}`),
    () => send('PATCH', `houses/${1 + below(3)}`, { owner: below(5) }),
    () => send('POST', 'items/import', [item(), item(), item()]),
    () =>
      send('POST', 'batch', {
        operations: [
          { method: 'POST', path: '/v1/items', body: item() },
          { method: 'POST', path: '/v1/items', body: item() },
        ],
      }),
    () => database.run(`update items set title = 'elsewhere' where id % 7 = ${below(7)}`),
    () => database.run(`delete from items where id % 23 = ${below(23)}`),
    () => database.run(`insert into items (title, owner) values ('elsewhere', ${below(5)}), (null, 1)`),
  ]
  const writer = async () => {
    for (let n = 0; n < 40; n++) await steps[below(steps.length)]?.()
  }
  await Promise.all([writer(), writer(), writer()])
  for (const { name, copy } of copies) {
    const list = await followPages(service, '/api/v1/items?limit=200', { headers: as(name) })
    const isSame = () =>
      JSON.stringify([...copy.rows.values()].toSorted((a, b) => Number(a['id']) - Number(b['id']))) ===
      JSON.stringify(list)
    await until(isSame)
    assert.ok(copy.told > 0)
    assert.is(copy.resyncs, 0, name)
  }
  for (const { copy } of copies) copy.isEnded = true
  await Promise.all(copies.map(({ copy }) => copy.ended))
})

test.after(closeServices)
test.run()
