/** How tasks share a bounded number of slots, and which statements count as slow. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fairQueue, type Task } from '../../engine/storage/fairQueue.js'
import { createPaces, createSlots } from '../../engine/storage/postgres/slots.js'

const test = suite('fair queue')

/** Enters tasks such as `slow table:statement`; returns which of them run, and their places by name. */
const enterAll = async <Class extends string>(queue: ReturnType<typeof fairQueue<Class>>, tasks: readonly string[]) => {
  const order: string[] = []
  const places = tasks.map((text) => {
    const [, of = '', group = '', name = ''] = /^(\w+) (\w+):(\w+)$/.exec(text) ?? []
    const place = queue.enter({ class: of, group, name } as Task<Class>)
    place.entered.then(() => order.push(text))
    return place
  })
  await Promise.resolve()
  return { order, places }
}
const repeated = (text: string, count: number): string[] => Array.from({ length: count }, () => text)

const limits: [name: string, size: number, tasks: string[], running: number][] = [
  ['slow reads take half of the slots', 10, [...repeated('slow a:x', 9), ...repeated('slow b:x', 9)], 5],
  ['slow reads of one table take one fewer', 10, repeated('slow a:x', 9), 4],
  ['quick reads leave one slot', 10, [...repeated('quick a:x', 9), ...repeated('quick b:x', 9)], 9],
  ['one table takes two thirds', 10, [...repeated('slow a:x', 9), ...repeated('quick a:y', 9)], 7],
  ['writes take two thirds', 10, [...repeated('write a:x', 9), ...repeated('write b:x', 9)], 7],
  ['writes into one table take half', 10, repeated('write a:x', 9), 5],
  ['one slot serves everything', 1, ['slow a:x', 'quick a:x', 'write a:x'], 1],
]
for (const [name, size, tasks, running] of limits) {
  test(name, async () => {
    const slots = createSlots(size)
    const { order } = await enterAll(slots, tasks)
    assert.is(order.length, running)
    assert.is(slots.waiting(), tasks.length - running)
  })
}

test('beside slow reads, quick reads and writes run at once', async () => {
  const slots = createSlots(10)
  await enterAll(slots, repeated('slow a:letters', 100))
  const { order } = await enterAll(slots, ['quick a:word', 'write a:create', 'quick b:page'])
  assert.is(order.length, 3)
})

test('the group with the fewest running tasks is next, and within it what runs least', async () => {
  const queue = fairQueue({ all: 2, ofGroup: 2 }, { any: { all: 2, ofGroup: 2 } })
  const { order, places } = await enterAll(queue, [
    'any busy:a',
    'any busy:a',
    'any busy:a',
    'any busy:b',
    'any idle:c',
  ])
  for (const index of [0, 4]) {
    places[index]?.leave()
    await Promise.resolve()
  }
  assert.equal(order, ['any busy:a', 'any busy:a', 'any idle:c', 'any busy:b'])
})

test('a task that nobody waits for any longer is dropped, and leaves once', async () => {
  const queue = fairQueue({ all: 1, ofGroup: 1 }, { any: { all: 1, ofGroup: 1 } })
  const { order, places } = await enterAll(queue, ['any a:first', 'any a:second', 'any a:third', 'any a:fourth'])
  places[1]?.leave()
  places[0]?.leave()
  places[0]?.leave()
  await Promise.resolve()
  assert.equal(order, ['any a:first', 'any a:third'])
  assert.is(queue.waiting(), 1)
})

test('a scan is slow until it was quick; what was slow is slow again, other values by the average', () => {
  const paces = createPaces()
  const [scan, word, other] = [
    { values: 'e', isScan: true },
    { values: 'common', isScan: false },
    { values: 'rare', isScan: false },
  ]
  assert.equal([paces.isSlow('scan', scan), paces.isSlow('search', word)], [true, false])
  paces.record('scan', scan, 5)
  assert.is(paces.isSlow('scan', { ...scan, values: 'f' }), false)
  paces.record('search', other, 5)
  paces.record('search', word, 450)
  assert.equal([paces.isSlow('search', word), paces.isSlow('search', { ...word, values: 'new' })], [true, false])
  for (let n = 0; n < 10; n++) paces.record('search', word, 450)
  assert.equal([paces.isSlow('search', other), paces.isSlow('search', { ...word, values: 'new' })], [false, true])
})

test.run()
