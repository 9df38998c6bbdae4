/** Batching per tick of the event loop. */
import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { batchPerTick, oncePerTick, spreadOverTicks } from '../../engine/process/batchPerTick.js'

const test = suite('batchPerTick')

test('items of one tick are one batch, in order, processed at its end', async () => {
  const batches: (readonly number[])[] = []
  const add = batchPerTick<number>((items) => batches.push(items))
  add(1)
  await Promise.resolve()
  add(2)
  assert.equal(batches, [])
  await setImmediate()
  assert.equal(batches, [[1, 2]])
})

test('an item added while a batch is processed goes into the next batch', async () => {
  const batches: (readonly string[])[] = []
  const add = batchPerTick<string>((items) => {
    batches.push(items)
    if (items.includes('first')) add('second')
  })
  add('first')
  await setImmediate()
  assert.equal(batches, [['first']])
  await setImmediate()
  assert.equal(batches, [['first'], ['second']])
})

test('oncePerTick is true for the first call of every tick', async () => {
  const isFirst = oncePerTick()
  assert.equal([isFirst(), isFirst()], [true, false])
  await Promise.resolve()
  assert.not.ok(isFirst())
  await setImmediate()
  assert.equal([isFirst(), isFirst()], [true, false])
})

test('long pieces of work have one turn after another, with ticks for others in between', async () => {
  const turn = spreadOverTicks({ ticks: 100, ms: Number.POSITIVE_INFINITY })
  const order: string[] = []
  const pieces = ['first', 'second'].map(async (name) => {
    await turn()
    order.push(name)
  })
  const others = (async () => {
    while (!order.includes('first')) await setImmediate()
    for (let n = 0; n < 20; n++) await setImmediate()
    order.push('another request')
  })()
  await Promise.all([...pieces, others])
  assert.equal(order, ['first', 'another request', 'second'])
})

test.run()
