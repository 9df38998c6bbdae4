/** How the reader threads are shared: any of them reads a list, and one is always free for quick reads. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { latencyKeys } from '../../engine/storage/slots.js'
import { DeadlineExceeded } from '../../engine/storage/sqlite/search.js'
import { createReaders, type Executor } from '../../engine/storage/sqlite/thread.js'

/** Readers whose tasks take a given time; `limits` has that of each run, and `isRunning` what runs. */
const newReaders = () => {
  const limits: (number | undefined)[] = []
  const running = new Set<string>()
  const newExecutor = (): Executor => ({
    lastMs: 0,
    async run(message) {
      const { maxMs, search } = message as { maxMs?: number; search: string }
      const [, name = '', ms = ''] = /^(\w+) (\d+)$/.exec(search) ?? []
      limits.push(maxMs)
      running.add(name)
      await new Promise((resolve) => setTimeout(resolve, Math.min(Number(ms), maxMs ?? Number.POSITIVE_INFINITY)))
      running.delete(name)
      Object.assign(this, { lastMs: Math.min(Number(ms), (maxMs ?? 15_000) + 1) })
      if (Number(ms) > (maxMs ?? 15_000)) throw new DeadlineExceeded()
      return [] as never
    },
    close: async () => {},
  })
  const readers = createReaders([newExecutor(), newExecutor()], 15_000)
  const read = async (search: string, isIndexed = true) => {
    const isScan = !isIndexed
    const keys = latencyKeys('select', { values: search, isScan }).slice(0, 1)
    await readers({ table: 'things', keys, isLong: isScan }, { sql: '', values: [], search })
    return limits.splice(0)
  }
  return { read, running }
}

const test = suite('reader threads')

test('a scan has its whole time at once, until a scan was quick', async () => {
  const { read } = newReaders()
  assert.equal(await read('a 1', false), [undefined])
  assert.equal(await read('b 1', false), [50])
})

test('a search that turns out to be slow begins again with its whole time, and has it the next time', async () => {
  const { read } = newReaders()
  assert.equal(await read('common 80'), [50, undefined])
  assert.equal(await read('common 80'), [undefined])
  assert.equal(await read('rare 1'), [50])
})

test('while a slow read runs and others wait for it, quick ones go to the other reader', async () => {
  const { read, running } = newReaders()
  const slow = Promise.all(['a', 'b', 'c'].map((name) => read(`${name} 100`, false)))
  const found: boolean[] = []
  for (let n = 0; n < 10; n++) {
    await read(`quick${n} 1`)
    found.push([...running].filter((name) => !name.startsWith('quick')).length <= 1)
  }
  await slow
  assert.ok(found.every(Boolean))
})

test.run()
