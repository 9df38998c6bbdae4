/** What comes in one turn of the event loop is dealt with together. */
import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { byTurn, onceATurn } from '../engine/byTurn.js'

const test = suite('by turn')

test('what comes in one turn is one list, in its order, and nothing is dealt with before its end', async () => {
  const dealt: (readonly number[])[] = []
  const give = byTurn<number>((items) => dealt.push(items))
  give(1)
  await Promise.resolve()
  give(2)
  assert.equal(dealt, [])
  await setImmediate()
  assert.equal(dealt, [[1, 2]])
})

test('what comes while others are dealt with waits for the next turn', async () => {
  const dealt: (readonly string[])[] = []
  const give = byTurn<string>((items) => {
    dealt.push(items)
    if (items.includes('first')) give('meanwhile')
  })
  give('first')
  await setImmediate()
  assert.equal(dealt, [['first']])
  await setImmediate()
  assert.equal(dealt, [['first'], ['meanwhile']])
})

test('the first who asks in a turn is told yes, in every turn', async () => {
  const isFirst = onceATurn()
  assert.equal([isFirst(), isFirst()], [true, false])
  await Promise.resolve()
  assert.not.ok(isFirst())
  await setImmediate()
  assert.equal([isFirst(), isFirst()], [true, false])
})

test.run()
