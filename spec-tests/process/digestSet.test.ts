/** A set of digests has what was added to it, and nothing else, however often it grows. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { digestSet } from '../../engine/process/digestSet.js'

const test = suite('digestSet')

test('texts that were added, and others', () => {
  const set = digestSet()
  const texts = Array.from({ length: 50_000 }, (_, n) => `text ${n}`)
  assert.ok(texts.every((text) => !set.has(text) && set.add(text)))
  assert.ok(texts.every((text) => set.has(text) && !set.add(text)))
  assert.not(texts.some((text) => set.has(`${text}.`)))
  assert.equal([set.has(''), set.add(''), set.add('')], [false, true, false])
})

test.run()
