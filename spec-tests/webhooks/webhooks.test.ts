/** Webhooks: who is told what, in which order, and what becomes of deliveries that fail. */
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim, integer, text } from '../../engine/descriptor/index.js'
import { openStorage } from '../../engine/storage/open.js'
import type { Storage } from '../../engine/storage/storage.js'
import { createSender } from '../../engine/webhooks/sender.js'
import { parseSubscribers, type Subscriber } from '../../engine/webhooks/subscribers.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server, sharedDatabase } from '../support/database.js'
import { isSignedBy, type Received, secretOf, startReceiver } from '../support/receiver.js'
import { registryFrom } from '../support/registryFrom.js'
import { onClose } from '../support/service.js'
import { until } from '../support/until.js'

const open = { area: 'Test', required: [], create: true, update: true, delete: true, changes: true } as const
const registry = registryFrom({
  tasks: {
    ...open,
    name: 'Task',
    table: 'tasks',
    fields: { title: text(), owner: integer({ filter: true }), note: text({ readBy: ['hr'] }) },
    access: { read: ['hr', { owner: claim('owner') }] },
  },
  tags: { ...open, name: 'Tag', table: 'tags', fields: { label: text() }, id: 'text', history: true },
})

const secret = secretOf('the secret of the first receiver')
const another = secretOf('the secret that follows the first')

type Run = SharedDatabase['run']

const openDatabase = async (): Promise<{ storage: Storage; url: string; run: Run }> => {
  const { url, run } = await sharedDatabase()
  const storage = await openOn(url)
  // SQLite would wait in the thread of the sender, which may have to end its transaction first.
  if (!server) await run('pragma busy_timeout = 0')
  const patiently: Run = async (sql, ...values) => {
    for (;;)
      try {
        return await run(sql, ...values)
      } catch (error) {
        if (!/database is locked/.test((error as Error).message)) throw error
        await sleep(5)
      }
  }
  return { storage, url, run: patiently }
}

const openOn = async (url: string): Promise<Storage> => {
  const storage = await openStorage(registry, url, storageOptions)
  onClose(() => storage.close())
  return storage
}

const entry = (url: string, more: object = {}) => ({ name: 'erp', url, secret, resources: ['tags'], ...more })

const startSender = async (storage: Storage, ...entries: object[]) => {
  const parse = (some: readonly object[]) => parseSubscribers(JSON.stringify(some), registry, true)
  let subscribers: readonly Subscriber[] = parse(entries)
  const messages: string[] = []
  const warn = (message: string) => messages.push(message)
  const sender = createSender({ storage, registry, subscribers: () => subscribers, allowPrivate: true, warn })
  await sender.start()
  onClose(() => sender.stop())
  return {
    ...sender,
    messages,
    change(...others: object[]) {
      subscribers = parse(others)
      sender.refresh()
    },
  }
}

const addTag = (run: Run, id: string, label = id) => run('insert into tags (id, label) values (?, ?)', id, label)
const addTask = (run: Run, id: number, owner: number | null, title = `Task ${id}`, note = 'private') =>
  run('insert into tasks (id, title, owner, note) values (?, ?, ?, ?)', id, title, owner, note)

/** What a delivery says, without times. */
const told = ({ body }: Pick<Received, 'body'>): string[] =>
  body.data?.changes.map(({ op, id, row }: Record<string, unknown>) => `${op} ${id} ${JSON.stringify(row)}`) ?? [
    body.type,
  ]
const outcomes = (sender: Awaited<ReturnType<typeof startSender>>) =>
  Object.fromEntries([...sender.stats().attempts].map(([{ outcome }, count]) => [outcome, count]))

const retryAfter = (seconds: number): readonly [number, Record<string, string>] => [
  503,
  { 'retry-after': `${seconds}` },
]

const test = suite('webhooks')

test('a subscriber is told of what changes from now on, with the headers and the signature of the standard', async () => {
  const { storage, run } = await openDatabase()
  await addTag(run, 'before')
  const receiver = await startReceiver()
  const sender = await startSender(storage, entry(receiver.url, { resources: ['tags', 'tasks'], roles: ['hr'] }))
  await addTag(run, 'a', 'A "quoted" label')
  await receiver.count(1)
  const [first] = receiver.received as [Received]
  assert.equal(Object.keys(first.body), ['type', 'timestamp', 'data'])
  assert.is(first.body.type, 'tags.changed')
  assert.match(first.body.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const { at, ...change } = first.body.data.changes[0]
  assert.equal(change, { op: 'put', id: 'a', row: { id: 'a', label: 'A "quoted" label' } })
  assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.is(first.headers['content-type'], 'application/json')
  assert.ok(Math.abs(Number(first.headers['webhook-timestamp']) - Date.now() / 1000) < 60)
  assert.ok(isSignedBy(secret, first))
  assert.not(isSignedBy(another, first))
  await addTask(run, 7, null)
  await receiver.count(2)
  assert.equal(told(receiver.received[1] as Received), [
    'put 7 {"id":7,"title":"Task 7","owner":null,"note":"private"}',
  ])
  assert.is(receiver.received[1]?.body.data.changes[0].id, 7)
  await run("delete from tags where id = 'a'")
  await receiver.count(3)
  assert.equal(told(receiver.received[2] as Received), ['remove a undefined'])
  assert.is(new Set(receiver.received.map(({ id }) => id)).size, 3)
  await until(() => outcomes(sender)['delivered'] === 3)
  assert.equal(outcomes(sender), { delivered: 3, failed: 0, ended: 0 })
  await until(() => [...sender.stats().lags][0]?.[1] === 0)
  assert.equal(sender.messages, [])
})

test('a subscriber sees the rows and fields of its roles and claims, and of what leaves its view that it is gone', async () => {
  const { storage, run } = await openDatabase()
  const receiver = await startReceiver()
  await startSender(storage, entry(receiver.url, { resources: ['tasks'], claims: { owner: 1 } }))
  await addTask(run, 1, 2)
  await addTask(run, 2, 1)
  await receiver.count(1)
  assert.equal(told(receiver.received[0] as Received), ['put 2 {"id":2,"title":"Task 2","owner":1,"note":null}'])
  await run('update tasks set owner = 2')
  await receiver.count(2)
  assert.equal(told(receiver.received[1] as Received), ['remove 2 undefined'])
})

test('what fails is sent again with the same id and body, newly signed, and what follows waits', async () => {
  const { storage, run } = await openDatabase()
  const receiver = await startReceiver()
  const sender = await startSender(storage, entry(receiver.url))
  receiver.answers.push([302, { location: '/elsewhere' }], retryAfter(2), 200)
  await addTag(run, 'a')
  await receiver.count(1)
  await addTag(run, 'b')
  await run("update tags set label = 'later' where id = 'a'")
  await receiver.count(2)
  assert.ok(([...sender.stats().lags][0]?.[1] as number) >= 1.5)
  const [first, second] = receiver.received as [Received, Received]
  assert.equal([second.id, second.text], [first.id, first.text])
  // The first pause of a receiver that asks for none.
  assert.ok(second.at - first.at >= 4_900, `${second.at - first.at} ms`)
  assert.is.not(second.headers['webhook-timestamp'], first.headers['webhook-timestamp'])
  assert.ok(isSignedBy(secret, second))
  assert.equal(told(second), ['put a {"id":"a","label":"a"}'])
  await receiver.count(4)
  const [, , third, fourth] = receiver.received as [Received, Received, Received, Received]
  assert.is(third.id, first.id)
  assert.ok(third.at - second.at >= 1_900, `${third.at - second.at} ms`)
  assert.is.not(fourth.id, first.id)
  assert.equal(told(fourth).sort(), ['put a {"id":"a","label":"later"}', 'put b {"id":"b","label":"b"}'])
  assert.equal(sender.messages, [
    'The subscriber "erp" cannot be told of tags, which is tried again: its response was 302.',
    'The subscriber "erp" is told of tags again.',
  ])
  assert.not.match(sender.messages.join(), /not-for-logs|whsec/)
})

test('after a restart, a pending delivery is sent with the same id and body', async () => {
  const { storage, url, run } = await openDatabase()
  const receiver = await startReceiver()
  const first = await startSender(storage, entry(receiver.url))
  receiver.answers.push('hang', retryAfter(1))
  await addTag(run, 'a')
  await receiver.count(1)
  const before = performance.now()
  await first.stop()
  assert.ok(performance.now() - before < 2_000, 'what hangs is given up')
  assert.equal(outcomes(first), { delivered: 0, failed: 0, ended: 0 })
  await addTag(run, 'b')
  await startSender(await openOn(url), entry(receiver.url))
  await receiver.count(4)
  const [one, two, three, four] = receiver.received as [Received, Received, Received, Received]
  assert.equal([two.id, two.text, three.id, three.text], [one.id, one.text, one.id, one.text])
  assert.equal(told(four), ['put b {"id":"b","label":"b"}'])
})

test('two secrets give two signatures, and what was sent with the first alone is still told', async () => {
  const { storage, run } = await openDatabase()
  const receiver = await startReceiver()
  const sender = await startSender(storage, entry(receiver.url))
  receiver.answers.push(retryAfter(3_600))
  await addTag(run, 'a')
  await receiver.count(1)
  // Nobody waits for an hour who has changed the entry.
  sender.change(entry(receiver.url, { secret: `${another} ${secret}` }))
  await receiver.count(2)
  const [one, two] = receiver.received as [Received, Received]
  assert.equal([two.id, two.text], [one.id, one.text])
  assert.ok(isSignedBy(secret, two) && isSignedBy(another, two))
  sender.change(entry(receiver.url, { secret: another }))
  await sleep(1_500)
  await addTag(run, 'b')
  await receiver.count(3)
  assert.not(isSignedBy(secret, receiver.received[2] as Received))
  assert.ok(isSignedBy(another, receiver.received[2] as Received))
})

test('410 ends a subscription, over restarts too, until its entry changes; then it goes on where it was', async () => {
  const { storage, url, run } = await openDatabase()
  const receiver = await startReceiver()
  const both = { resources: ['tags', 'tasks'], roles: ['hr'] }
  const sender = await startSender(storage, entry(receiver.url, both))
  receiver.answers.push(410)
  await addTag(run, 'a')
  await receiver.count(1)
  await until(() => outcomes(sender)['ended'] === 1)
  await addTag(run, 'b')
  await addTask(run, 1, 1)
  await sleep(2_500)
  await sender.stop()
  const again = await startSender(await openOn(url), entry(receiver.url, both))
  await sleep(2_500)
  assert.is(receiver.received.length, 1)
  assert.match(sender.messages.join(), /"erp" answered 410, and is told of nothing until its entry/)
  again.change(entry(receiver.url, { ...both, secret: another }))
  await receiver.count(4)
  const [first, ...others] = receiver.received as [Received, ...Received[]]
  const ofTags = others.filter(({ body }) => body.type === 'tags.changed')
  assert.is(ofTags[0]?.id, first.id)
  assert.equal(told(ofTags[1] as Received), ['put b {"id":"b","label":"b"}'])
})

test('a delivery is made again from the same place when the rights have changed', async () => {
  const { storage, run } = await openDatabase()
  const receiver = await startReceiver()
  const tasks = { resources: ['tasks'] }
  const sender = await startSender(storage, entry(receiver.url, { ...tasks, roles: ['hr'] }))
  receiver.answers.push(retryAfter(3_600))
  await addTask(run, 1, 1)
  await addTask(run, 2, 2)
  await receiver.count(1)
  sender.change(entry(receiver.url, { ...tasks, claims: { owner: 2 } }))
  await receiver.count(2)
  const [one, two] = receiver.received as [Received, Received]
  assert.is.not(two.id, one.id)
  assert.equal(told(two), ['put 2 {"id":2,"title":"Task 2","owner":2,"note":null}'])
  assert.not.match(two.text, /private/)
})

test('an erased value is left in no pending delivery, which is made again', async () => {
  const { storage, run } = await openDatabase()
  const receiver = await startReceiver()
  await startSender(storage, entry(receiver.url))
  receiver.answers.push(retryAfter(2))
  await addTag(run, 'a', 'to be erased')
  await receiver.count(1)
  await run("update tags set label = 'harmless' where id = 'a'")
  const pending = async () => JSON.stringify(await run('select * from registry_subscriptions'))
  await until(async () => (await pending()).includes('to be erased'))
  assert.ok(await storage.eraseHistory(registry[1] as never, 'a'))
  assert.not.match(await pending(), /to be erased/)
  await receiver.count(2)
  const [one, two] = receiver.received as [Received, Received]
  assert.is.not(two.id, one.id)
  assert.equal(told(two), ['put a {"id":"a","label":"harmless"}'])
})

test('a body has at most 100 entries and 1 MiB, but at least one entry', async () => {
  const { storage, run } = await openDatabase()
  const receiver = await startReceiver()
  const sender = await startSender(storage, entry(receiver.url))
  receiver.answers.push(retryAfter(2))
  await addTag(run, 'first')
  await receiver.count(1)
  const addMany = (name: string, count: number, bytes: number) =>
    run(
      `with recursive _n (i) as (select 1 union all select i + 1 from _n where i < ${count})
        insert into tags (id, label) select '${name} ' || i, cast(? as text) from _n`,
      'x'.repeat(bytes),
    )
  await addMany('many', 250, 1)
  await addMany('long', 3, 400_000)
  await addMany('longer', 2, 1_200_000)
  await until(() => receiver.received.some(({ text: sent }) => sent.includes('longer 2')))
  const deliveries = [...new Map(receiver.received.map((one) => [one.id, one])).values()]
  const counts = deliveries.map(({ body }) => body.data.changes.length)
  assert.equal(counts, [1, 100, 100, 52, 1, 1, 1])
  for (const [n, { text: sent }] of deliveries.entries())
    assert.ok(counts[n] === 1 || Buffer.byteLength(sent) <= 1024 * 1024)
  await until(() => outcomes(sender)['delivered'] === deliveries.length)
})

test('a subscriber further behind than what is kept is told to begin again, and goes on from now', async () => {
  const { storage, url, run } = await openDatabase()
  const receiver = await startReceiver()
  const sender = await startSender(storage, entry(receiver.url))
  await addTag(run, 'a')
  await receiver.count(1)
  await until(() => outcomes(sender)['delivered'] === 1)
  await sender.stop()
  await addTag(run, 'b')
  await run("delete from registry_log where name = 'tags' and id in ('a', 'b')")
  await addTag(run, 'c')
  receiver.answers.push(retryAfter(1))
  const again = await startSender(await openOn(url), entry(receiver.url))
  await receiver.count(3)
  const [, two, three] = receiver.received as [Received, Received, Received]
  assert.is(two.text, '{"type":"tags.resync"}')
  assert.equal([three.id, three.text], [two.id, two.text])
  assert.ok(isSignedBy(secret, two))
  await until(() => outcomes(again)['delivered'] === 1)
  await addTag(run, 'd')
  await receiver.count(4)
  assert.equal(told(receiver.received[3] as Received), ['put d {"id":"d","label":"d"}'])
})

test('a receiver that hangs holds up no other, and another url keeps the position', async () => {
  const { storage, run } = await openDatabase()
  const [slow, quick] = [await startReceiver(), await startReceiver()]
  slow.answers.push('hang')
  const sender = await startSender(storage, entry(slow.url, { name: 'slow' }), entry(quick.url, { name: 'quick' }))
  await addTag(run, 'a')
  await Promise.all([slow.count(1), quick.count(1)])
  await addTag(run, 'b')
  await quick.count(2)
  assert.is(slow.received.length, 1)
  sender.change(entry(quick.url, { name: 'slow' }))
  await quick.count(4)
  assert.equal(quick.received.slice(2).map(told), [['put a {"id":"a","label":"a"}'], ['put b {"id":"b","label":"b"}']])
  assert.is(quick.received[2]?.id, slow.received[0]?.id)
})

test.run()
