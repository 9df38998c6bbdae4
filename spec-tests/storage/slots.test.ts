/** How reads and writes share a bounded number of slots: who is next, which reads are slow, and which are refused. */
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Busy, TimedOut, Unavailable } from '../../engine/storage/failures.js'
import { createSlots, type Place, quickMs, type Slots, type Task } from '../../engine/storage/slots.js'
import type { Caller } from '../../engine/storage/storage.js'

const minute = 60_000

const client = (remoteAddress: string) =>
  Object.assign(new EventEmitter(), { closed: false, socket: { remoteAddress } }) satisfies Caller

const kinds: Record<string, Partial<Task>> = { slow: { isLong: true }, quick: {}, write: { isWrite: true } }

/** Enters tasks such as `slow table caller`; `order` has those that run. */
const enterAll = async (slots: Slots, tasks: readonly string[], more: Partial<Task> = {}) => {
  const order: string[] = []
  const places = new Map<string, Place>()
  const entered = tasks.map(async (text) => {
    const [kind = '', table = '', caller = ''] = text.split(' ')
    const place = await slots.enter({ table, caller: client(caller), ...kinds[kind], ...more })
    order.push(text)
    places.set(text, place)
    return place
  })
  for (const place of entered) place.catch(() => {})
  await sleep(0)
  const leave = async (text: string): Promise<void> => {
    places.get(text)?.leave()
    await sleep(0)
  }
  return { order, leave, entered }
}
const repeated = (text: string, count: number): string[] => Array.from({ length: count }, () => text)

/** Takes so many milliseconds. */
const spend = async (slots: Slots, task: Task, ms: number): Promise<void> => (await slots.enter(task)).leave(ms)

const test = suite('slots')

const limits: [name: string, size: number, tasks: string[], running: number][] = [
  ['slow reads take half of the slots', 10, [...repeated('slow a', 9), ...repeated('slow b', 9)], 5],
  ['slow reads of one table take one fewer', 10, repeated('slow a', 9), 4],
  ['quick reads leave one slot', 10, [...repeated('quick a', 9), ...repeated('quick b', 9)], 9],
  ['one table takes two thirds', 10, [...repeated('slow a', 9), ...repeated('quick a', 9)], 7],
  ['writes take two thirds', 10, [...repeated('write a', 9), ...repeated('write b', 9)], 7],
  ['writes into one table take half', 10, repeated('write a', 9), 5],
  ['of two slots, slow reads take one', 2, repeated('slow a', 5), 1],
  ['of two slots, quick reads take both', 2, repeated('quick a', 9), 2],
  ['one slot serves everything', 1, ['slow a', 'quick a', 'write a'], 1],
]
for (const [name, size, tasks, running] of limits) {
  test(name, async () => {
    const slots = createSlots(size, minute)
    const { order } = await enterAll(slots, tasks)
    assert.is(order.length, running)
    assert.is(slots.waiting(), tasks.length - running)
  })
}

test('beside slow reads, quick reads and writes run at once', async () => {
  const slots = createSlots(10, minute)
  await enterAll(slots, repeated('slow a', 100))
  const { order } = await enterAll(slots, ['quick a', 'write a', 'quick b'])
  assert.is(order.length, 3)
})

test('callers take turns: one with many reads delays itself', async () => {
  // biome-ignore format: one list
  const { order, leave } = await enterAll(createSlots(1, minute), [
    'quick 1 one', 'quick 2 one', 'quick 3 one', 'quick 4 two', 'quick 5 three', 'quick 6 two',
  ])
  for (const text of ['quick 1 one', 'quick 2 one', 'quick 4 two', 'quick 5 three', 'quick 3 one']) await leave(text)
  assert.equal(order, ['quick 1 one', 'quick 2 one', 'quick 4 two', 'quick 5 three', 'quick 3 one', 'quick 6 two'])
})

const lanes: [name: string, tasks: string[], waiting: number][] = [
  ['of one caller, 16 slow reads wait for each of their slots', repeated('slow a one', 20), 16],
  ['a full caller leaves room to others', [...repeated('slow a one', 20), ...repeated('slow a two', 3)], 19],
  ['of all callers, 32 slow reads wait', ['one', 'two', 'six'].flatMap((name) => repeated(`slow a ${name}`, 16)), 32],
  ['of one caller, 250 quick reads wait', repeated('quick a one', 300), 250],
  ['of all callers, 1,000 quick reads wait', [1, 2, 3, 4, 5].flatMap((n) => repeated(`quick a ${n}`, 249)), 1_000],
  ['writes are not refused', repeated('write a one', 1_200), 1_199],
]
for (const [name, tasks, waiting] of lanes) {
  test(`${name}; further ones are refused at once`, async () => {
    const slots = createSlots(1, minute)
    const { order, entered } = await enterAll(slots, tasks)
    assert.is(order.length, 1)
    assert.is(slots.waiting(), waiting)
    const refused = tasks.length - 1 - waiting
    const errors: unknown[] = []
    for (const place of entered) place.catch((error) => errors.push(error))
    await sleep(0)
    assert.is(errors.length, refused)
    assert.ok(errors.every((error) => error instanceof Busy))
  })
}

test('a full lane does not refuse reads of the other one', async () => {
  const slots = createSlots(2, minute)
  await enterAll(slots, repeated('slow a one', 20))
  const { order } = await enterAll(slots, ['quick a one'])
  assert.is(order.length, 1)
})

test('callers with names take turns although they have one address', async () => {
  const slots = createSlots(1, minute)
  const named = (callerName: string) => Object.assign(client('proxy'), { callerName })
  const enter = (name: string) => slots.enter({ table: 'a', isLong: true, caller: named(name) })
  await enter('one')
  const entered = [...repeated('one', 17), 'two'].map(enter)
  const refused = await Promise.race(entered.map((place, n) => place.catch(() => n)))
  assert.is(refused, 16)
  assert.is(slots.waiting(), 17)
})

test('a read that waits for long is refused; quick reads and writes blame the server, if there is one', async () => {
  const slots = createSlots(1, 1_200, 20)
  await enterAll(slots, ['slow a'])
  const { entered } = await enterAll(slots, ['quick a', 'write a', 'slow a'])
  const [read, write, slow] = (await Promise.allSettled(entered)).map(
    (result) => (result as PromiseRejectedResult).reason,
  )
  for (const reason of [read, write]) {
    assert.not.instance(reason, Busy)
    assert.instance(reason, Unavailable)
    assert.match(String(reason), /no connection was free within 20 ms/)
  }
  assert.instance(slow, Busy)
  assert.is(slots.waiting(), 0)
})

test('what belongs to a response that has begun is never refused', async () => {
  const slots = createSlots(1, 1)
  const { leave } = await enterAll(slots, ['slow a first'])
  const { order } = await enterAll(slots, ['slow a second'], { isBegun: true })
  await sleep(20)
  await leave('slow a first')
  assert.equal(order, ['slow a second'])
})

test('a read whose client leaves is dropped, and leaves once', async () => {
  const slots = createSlots(1, minute)
  const first = await slots.enter({ table: 'a' })
  const leaving = client('any')
  const dropped = slots.enter({ table: 'a', caller: leaving })
  const { order } = await enterAll(slots, ['quick a third', 'quick a fourth'])
  leaving.emit('close')
  assert.instance(await dropped.catch((error) => error), TimedOut)
  first.leave()
  first.leave()
  await sleep(0)
  assert.equal(order, ['quick a third'])
  assert.is(slots.waiting(), 1)
})

test('a read is as slow as it was; one of other values, as the average', async () => {
  const slots = createSlots(4, minute)
  const read = (values: string): Task => ({ table: 'a', keys: [values, 'all'] })
  const isSlow = async (task: Task): Promise<boolean> => {
    const place = await slots.enter(task)
    place.leave()
    return place.isSlow
  }
  await spend(slots, read('rare'), 1)
  await spend(slots, read('common'), 2 * quickMs)
  assert.is(await isSlow(read('new')), false)
  await spend(slots, read('common'), 20 * quickMs)
  assert.is(await isSlow({ ...read('newer'), keys: ['newer', 'all'] }), true)
  await spend(slots, read('common'), 2 * quickMs)
  assert.is(await isSlow(read('rare')), false)
})

test('a scan is slow until it was quick', async () => {
  const slots = createSlots(4, minute)
  const scan: Task = { table: 'a', keys: ['scan'], isLong: true }
  const first = await slots.enter(scan)
  first.leave(1)
  const second = await slots.enter(scan)
  second.leave()
  assert.equal([first.isSlow, second.isSlow], [true, false])
})

test.run()
