/** How the reader threads are shared: any of them reads a list, and one is always free for quick reads. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { planRead } from '../../engine/storage/plan.js'
import { createReaders } from '../../engine/storage/sqlite/readers.js'
import { DeadlineExceeded } from '../../engine/storage/sqlite/search.js'
import type { Executor } from '../../engine/storage/sqlite/worker.js'
import { listQuery } from '../support/listQuery.js'

/** Readers whose tasks take a given time; `limits` has that of each run, and `isRunning` what runs. */
const newReaders = () => {
  const limits: (number | undefined)[] = []
  const running = new Set<string>()
  const newExecutor = (): Executor => ({
    lastMs: 0,
    async run(message) {
      const { maxMs, plan } = message as { maxMs?: number; plan: { search: string } }
      const [, name = '', ms = ''] = /^(\w+) (\d+)$/.exec(plan.search) ?? []
      limits.push(maxMs)
      running.add(name)
      await new Promise((resolve) => setTimeout(resolve, Math.min(Number(ms), maxMs ?? Number.POSITIVE_INFINITY)))
      running.delete(name)
      Object.assign(this, { lastMs: Math.min(Number(ms), (maxMs ?? 15_000) + 1) })
      if (Number(ms) > (maxMs ?? 15_000)) throw new DeadlineExceeded()
      return { version: '1', bytes: new Uint8Array(), ms: Number(ms) } as never
    },
    close: async () => {},
  })
  const reader = createReaders([newExecutor(), newExecutor()], 15_000)('things')
  const read = async (q: string, isIndexed = true) => {
    const query = listQuery({ q })
    const plan = planRead(query, () => isIndexed)
    await reader.page(plan, query.page)
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
