/** Requests that repeat a read share one run of it, and never one that is older than what was stored when they came. */
import { EventEmitter } from 'node:events'
import { setImmediate as tick } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { singleFlight } from '../../engine/storage/responseCache.js'
import type { Caller } from '../../engine/storage/storage.js'

/** A table whose reads end when told, and give the version that they began with. */
const newTable = () => {
  const share = singleFlight<string>()
  const ends: ((error?: Error) => void)[] = []
  const table = { version: '1', runs: 0 }
  const read = () => {
    const version = table.version
    table.runs++
    return new Promise<string>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve(version))))
  }
  const request = (key = 'list', caller?: Caller) =>
    share(key, caller, read, async () => {
      const now = table.version
      return (found) => found === now
    })
  return { table, ends, request }
}
const client = (closed = false) => Object.assign(new EventEmitter(), { closed })

const test = suite('single flight')

test('the same read at the same time runs once; another one, or a later one, runs again', async () => {
  const { table, ends, request } = newTable()
  const all = [request(), request(), request(), request('other')]
  await tick()
  for (const end of ends) end()
  assert.equal(await Promise.all(all), ['1', '1', '1', '1'])
  assert.is(table.runs, 2)
  const later = request()
  ends.at(-1)?.()
  await later
  assert.is(table.runs, 3)
})

test('after a change, those that came later share the next run', async () => {
  const { table, ends, request } = newTable()
  const before = request()
  table.version = '2'
  const after = [request(), request(), request()]
  await tick()
  ends[0]?.()
  assert.is(await before, '1')
  await tick()
  assert.is(ends.length, 2)
  ends[1]?.()
  assert.equal(await Promise.all(after), ['2', '2', '2'])
})

test('an error is that of all, unless the client of the run has left', async () => {
  const { table, ends, request } = newTable()
  const failed = [request(), request()].map((found) => found.catch((error: Error) => error.message))
  await tick()
  ends[0]?.(new Error('too slow'))
  assert.equal(await Promise.all(failed), ['too slow', 'too slow'])
  const leaving = client()
  const left = request('list', leaving).catch((error: Error) => error.message)
  const other = request('list', client())
  await tick()
  leaving.closed = true
  ends[1]?.(new Error('gone'))
  assert.is(await left, 'gone')
  await tick()
  ends[2]?.()
  assert.is(await other, '1')
  assert.is(table.runs, 3)
})

test.run()
