/** Which of the two reader threads runs a list: slow reads never hold up quick ones. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { planRead } from '../../engine/storage/plan.js'
import { createReaders } from '../../engine/storage/sqlite/readers.js'
import { DeadlineExceeded } from '../../engine/storage/sqlite/search.js'
import type { Executor } from '../../engine/storage/sqlite/worker.js'
import { listQuery } from '../support/listQuery.js'

/** Readers whose tasks take a given time; `used` has the threads that ran one, with its group. */
const newReaders = () => {
  const used: string[] = []
  const times = { ms: 0 }
  const executor = (name: string): Executor => ({
    async run(task, { group = '' } = {}) {
      used.push(`${name}: ${group}`)
      if (times.ms > ((task as { maxMs?: number }).maxMs ?? 15_000)) throw new DeadlineExceeded()
      return { version: '1', bytes: new Uint8Array(), ms: times.ms } as never
    },
    close: async () => {},
  })
  const reader = createReaders(executor('quick'), executor('slow'), 15_000)('things')
  const read = async (ms: number, q: string, filters = {}, { rows = 300_000, offset = 0n } = {}) => {
    times.ms = ms
    const query = listQuery({ offset, q, filters })
    const plan = planRead(query, (text) => text.length > 2)
    await reader.page(plan, query.page, rows)
    return used.splice(0)
  }
  return read
}

const test = suite('reader threads')

test('a scan of a large table goes to the slow reader at once, one of a small table or of a filter does not', async () => {
  const read = newReaders()
  assert.equal(await read(200, 'a'), ['slow: things scan'])
  assert.equal(await read(1, 'a', {}, { rows: 1_000 }), ['quick: things scan'])
  assert.equal(await read(1, 'a', { status: 'x' }), ['quick: things scan'])
})

test('a query that was slow goes to the slow reader directly, whatever its page, until it is quick again', async () => {
  const read = newReaders()
  assert.equal(await read(200, 'abc'), ['quick: things search', 'slow: things search'])
  assert.equal(await read(200, 'abc', {}, { offset: 50n }), ['slow: things search'])
  assert.equal(await read(1, 'abd'), ['quick: things search'])
  assert.equal(await read(1, '', { status: 'x' }), ['quick: things filter'])
  assert.equal(await read(1, 'abc'), ['slow: things search'])
  assert.equal(await read(1, 'abc'), ['quick: things search'])
})

test.run()
