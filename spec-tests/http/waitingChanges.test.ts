/** Clients that wait for changes share what they cost; the storage is a list here, whose calls are counted. */
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Rights, rightsOf } from '../../engine/descriptor/access.js'
import { claim } from '../../engine/descriptor/define.js'
import { integer, text } from '../../engine/descriptor/fields.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { type Followed, waitingChanges } from '../../engine/http/waitingChanges.js'
import type { Caller, ChangesPage, ChangesQuery } from '../../engine/storage/storage.js'
import { registryFrom } from '../support/registryFrom.js'
import { until } from '../support/until.js'

const registry = registryFrom({
  rooms: {
    name: 'Room',
    area: 'Test',
    table: 'rooms',
    required: [],
    create: false,
    changes: true,
    fields: { title: text({ filter: true }) },
  },
  notes: {
    name: 'Note',
    area: 'Test',
    table: 'notes',
    required: [],
    create: false,
    changes: true,
    fields: { owner: integer({ filter: true }), room_id: integer({ references: 'rooms', filter: true }) },
    access: { read: ['all', { owner: claim('owner') }, { 'room_id.title': claim('room') }] },
  },
})
const [rooms, notes] = registry as [Resource, Resource]

const everything = rightsOf({ roles: ['all'], claims: {} })
const ofOwner = (owner: number): Rights => rightsOf({ name: `owner ${owner}`, roles: [], claims: { owner } })

/** Changes as a list: the position is how many of them somebody has read. */
const listStorage = () => {
  const list: { readonly resource: Resource; readonly owner: number }[] = []
  const calls = { changes: 0, running: 0, mostRunning: 0, versions: [] as (readonly Resource[])[] }
  let failure: Error | undefined
  return {
    calls,
    change: (resource: Resource, owner = 0) => list.push({ resource, owner }),
    fail: (error: Error | undefined) => {
      failure = error
    },
    async changes(resource: Resource, { rights, after, limit }: ChangesQuery): Promise<Followed> {
      calls.changes++
      calls.mostRunning = Math.max(calls.mostRunning, ++calls.running)
      await sleep(5)
      calls.running--
      if (failure) throw failure
      const { read } = rights.of(resource)
      if (after === 'old') return 'resync'
      const from = Number(after ?? list.length)
      const seen = list
        .slice(from)
        .filter((one) => one.resource === resource)
        .filter(({ owner }) => read === 'all' || read.some((rule) => rule['owner']?.includes(BigInt(owner))))
      const changes = seen.slice(0, limit).map(({ owner }) => ({ op: 'remove' as const, id: String(owner), at: 0 }))
      return { changes, next: String(list.length), more: seen.length > limit }
    },
    async versions(resources: readonly Resource[]) {
      calls.versions.push(resources)
      if (failure) throw failure
      return new Map(
        resources.map((resource) => [resource, String(list.filter((one) => one.resource === resource).length)]),
      )
    },
  }
}

const clientOf = () => Object.assign(new EventEmitter(), { closed: false }) satisfies Caller

const start = () => {
  const storage = listStorage()
  const inFlight = { count: 0, waiting: 0 }
  const waiting = waitingChanges({ storage, registry }, inFlight)
  const wait = (
    resource: Resource,
    rights: Rights,
    { after = '0', waitMs = 20_000, client = clientOf() as Caller } = {},
  ) => {
    const digest = JSON.stringify(rights.of(resource).read, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    return waiting.next({ resource, rights, digest, after, limit: 10 }, waitMs, client)
  }
  return { ...storage, inFlight, waiting, wait }
}

const idsOf = (page: Followed): string[] => (page as ChangesPage).changes.map(({ id }) => id)

const test = suite('waiting for changes')

test('what there is to tell is told at once', async () => {
  const { change, wait, calls } = start()
  change(notes, 7)
  const begun = performance.now()
  const page = (await wait(notes, everything)) as ChangesPage
  assert.equal([idsOf(page), page.next, page.more], [['7'], '1', false])
  assert.ok(performance.now() - begun < 500)
  assert.equal(calls.versions, [])
})

test('a thousand clients cost one read for a change, and one check a second', async () => {
  const { change, wait, calls, inFlight } = start()
  const pages = Array.from({ length: 1_000 }, () => wait(notes, everything))
  await sleep(1_500)
  assert.is(inFlight.waiting, 1_000)
  const before = calls.changes
  assert.ok(before <= 2, `${before} reads before the change`)
  change(notes, 7)
  const told = await Promise.all(pages)
  assert.ok(told.every((page) => page === told[0]))
  assert.equal(idsOf(told[0] as Followed), ['7'])
  assert.is(calls.changes, before + 1)
  assert.is(inFlight.waiting, 0)
  // They come back, and cost no read more.
  const again = Array.from({ length: 1_000 }, () => wait(notes, everything, { after: '1' }))
  await sleep(1_500)
  assert.is(calls.changes, before + 1)
  change(notes, 8)
  await Promise.all(again)
  assert.is(calls.changes, before + 2)
  assert.ok(calls.versions.length <= 4, `${calls.versions.length} checks`)
})

test('each of several rights costs a read of its own, and only some run at a time', async () => {
  const { change, wait, calls } = start()
  const pages = Array.from({ length: 300 }, (_, n) => wait(notes, ofOwner(n % 30)))
  await sleep(1_500)
  const before = calls.changes
  for (let owner = 0; owner < 30; owner++) change(notes, owner)
  const told = await Promise.all(pages)
  assert.equal(
    told.map((page) => idsOf(page)[0]),
    Array.from({ length: 300 }, (_, n) => String(n % 30)),
  )
  assert.is(calls.changes, before + 30)
  assert.ok(calls.mostRunning <= 4, `${calls.mostRunning} at a time`)
})

test('a change that a client may not see does not end its wait, and moves it on', async () => {
  const { change, wait } = start()
  let page: Followed | undefined
  const waiting = wait(notes, ofOwner(1), { waitMs: 4_500 }).then((one) => {
    page = one
  })
  await sleep(100)
  change(notes, 2)
  await sleep(1_500)
  change(rooms)
  await sleep(1_500)
  assert.is(page, undefined)
  await waiting
  assert.equal(page, { changes: [], next: '2', more: false })
})

test('where rules follow references, a change of a referenced table is looked at too', async () => {
  const { wait, calls, waiting } = start()
  const all = wait(notes, everything)
  await until(() => calls.versions.length > 0)
  assert.equal(calls.versions.at(-1), [notes])
  const some = wait(notes, ofOwner(1))
  const checked = calls.versions.length
  await until(() => calls.versions.length > checked)
  assert.equal(calls.versions.at(-1), [notes, rooms])
  waiting.close()
  await Promise.all([all, some])
})

test('a wait ends in its time, with an empty page', async () => {
  const { wait, inFlight } = start()
  const begun = performance.now()
  assert.equal(await wait(notes, everything, { waitMs: 300 }), { changes: [], next: '0', more: false })
  const waited = performance.now() - begun
  assert.ok(waited > 290 && waited < 1_000, String(waited))
  assert.is(inFlight.waiting, 0)
})

test('who has left is forgotten, and nothing is checked while nobody waits', async () => {
  const { wait, inFlight, calls } = start()
  const client = clientOf()
  const left = wait(notes, everything, { client })
  await sleep(100)
  client.emit('close')
  await left
  assert.is(inFlight.waiting, 0)
  assert.is(client.listenerCount('close'), 0)
  const { changes } = calls
  await sleep(2_200)
  assert.equal([calls.changes, calls.versions.length], [changes, 0])
  const gone = Object.assign(clientOf(), { closed: true })
  await wait(notes, everything, { client: gone })
})

test('at the end all waits end at once, and later ones do not begin', async () => {
  const { wait, waiting, inFlight, calls } = start()
  const pages = Array.from({ length: 100 }, (_, n) => wait(notes, ofOwner(n)))
  await sleep(50)
  const begun = performance.now()
  waiting.close()
  for (const page of await Promise.all(pages)) assert.equal(page, { changes: [], next: '0', more: false })
  assert.equal(await wait(notes, everything), { changes: [], next: '0', more: false })
  assert.ok(performance.now() - begun < 200)
  assert.is(inFlight.waiting, 0)
  await sleep(1_200)
  assert.equal(calls.versions, [])
})

test('a cursor that is too old ends the wait, and so does a database that fails', async () => {
  const { wait, fail } = start()
  assert.is(await wait(notes, everything, { after: 'old' }), 'resync')
  const waiting = wait(notes, everything).catch((error: Error) => error.message)
  await sleep(100)
  fail(new Error('The server is down.'))
  assert.is(await waiting, 'The server is down.')
  fail(undefined)
  assert.equal(await wait(notes, everything, { waitMs: 100 }), { changes: [], next: '0', more: false })
})

test.run()
