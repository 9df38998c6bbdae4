/** The lease of the process that delivers: one has it, another takes over, and whoever has lost it stores nothing. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { openStorage } from '../../engine/storage/open.js'
import { createLease } from '../../engine/webhooks/lease.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl } from '../support/database.js'
import { registryFrom } from '../support/registryFrom.js'
import { onClose } from '../support/service.js'

const registry = registryFrom({
  tags: {
    name: 'Tag',
    area: 'Test',
    table: 'tags',
    required: [],
    create: true,
    changes: true,
    fields: { label: text() },
  },
})

const openDatabase = async () => {
  const url = await freshUrl()
  const [storage, other] = [
    await openStorage(registry, url, storageOptions),
    await openStorage(registry, url, storageOptions),
  ]
  onClose(async () => {
    await Promise.all([storage.close(), other.close()])
  })
  let now = 0
  const [first, second] = [storage, other].map(({ webhooks }) => createLease(webhooks, () => now))
  return {
    stores: [storage.webhooks, other.webhooks] as const,
    leases: [first, second] as [ReturnType<typeof createLease>, ReturnType<typeof createLease>],
    wait: (seconds: number) => {
      now += seconds * 1_000
    },
  }
}

const key = { subscriber: 'erp', resource: 'tags' }

const test = suite('lease of webhooks')

test('one process has it for as long as it renews it', async () => {
  const { leases, wait } = await openDatabase()
  const [first, second] = leases
  await first.renew()
  for (let n = 0; n < 30; n++) {
    wait(1)
    await first.renew()
    await second.renew()
    assert.equal([first.isHeld(), second.isHeld()], [true, false])
  }
})

test('another takes over within 30 seconds when it is no longer renewed, and at once when it is released', async () => {
  const { leases, wait } = await openDatabase()
  const [first, second] = leases
  await first.renew()
  let seconds = 0
  for (; !second.isHeld() && seconds < 60; seconds++) {
    wait(1)
    await second.renew()
    assert.not(first.isHeld() && second.isHeld())
  }
  assert.ok(seconds > 12 && seconds < 30, `${seconds} s`)
  await first.renew()
  assert.not(first.isHeld())
  await second.release()
  wait(1)
  await first.renew()
  assert.ok(first.isHeld())
})

test('whoever has lost it stores nothing', async () => {
  const { stores, leases, wait } = await openDatabase()
  const [first, second] = leases
  const [store, other] = stores
  await first.renew()
  await store.subscribe(key, 'here')
  const before = await store.read(key)
  if (!before) throw new Error('the subscription is not stored')
  const there = { ...before, position: 'there' }
  await second.renew()
  wait(20)
  await second.renew()
  assert.ok(second.isHeld())
  assert.not(await store.store(first.token, key, before, there))
  assert.not(await store.end(first.token, 'erp', 'digest'))
  assert.equal(await store.read(key), before)
  assert.ok(await other.store(second.token, key, before, there))
  assert.is((await store.read(key))?.position, 'there')
  assert.not(await other.store(second.token, key, before, before), 'it is not as it was read')
})

test('what was being sent when a subscriber ended all its subscriptions does not begin one again', async () => {
  const { stores, leases } = await openDatabase()
  const [store] = stores
  const [{ token, renew }] = leases
  await renew()
  await store.subscribe(key, 'here')
  const before = await store.read(key)
  if (!before) throw new Error('the subscription is not stored')
  assert.ok(await store.end(token, 'erp', 'digest'))
  assert.not(await store.store(token, key, before, { ...before, position: 'there' }))
  const ended = await store.read(key)
  assert.equal(ended, { ...before, isEnded: true, entry: 'digest' })
})

test('a subscription that exists stays as it is', async () => {
  const { stores } = await openDatabase()
  const [store, other] = stores
  await Promise.all([store.subscribe(key, 'first'), other.subscribe(key, 'first')])
  await other.subscribe(key, 'second')
  assert.is((await store.read(key))?.position, 'first')
})

test.run()
