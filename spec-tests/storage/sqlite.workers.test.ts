/** Worker threads that die or hang: every task gets its own result or an error, and a successor takes over. */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Executor, WorkerDied, workerThread } from '../../engine/storage/sqlite/thread.js'
import { writeQueue } from '../../engine/storage/sqlite/writes.js'
import type { WritePlan } from '../../engine/storage/writeData.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { startOffice } from '../support/office.js'

const module = new URL('../support/testWorker.js', import.meta.url)
const outcome = (task: Promise<unknown>): Promise<unknown> => task.catch((error: Error) => error)

const threads = suite('worker threads')

const newThread = () => {
  const causes: string[] = []
  const thread = workerThread(module, undefined, (cause) => causes.push(cause))
  const echo = (n: number, timeoutMs?: number) => outcome(thread.run({ echo: `task ${n}` }, timeoutMs))
  return { thread, causes, echo }
}

threads('every task gets its own result, and a failed one its own error', async () => {
  const { thread, echo } = newThread()
  const results = await Promise.all([echo(1), outcome(thread.run({ fail: 'no' })), echo(2), echo(3)])
  assert.equal(results[0], { echo: 'task 1' })
  const { name, message, code } = results[1] as Error & { code: string }
  assert.equal({ name, message, code }, { name: 'TypeError', message: 'no', code: 'E_TEST' })
  assert.equal(results.slice(2), [{ echo: 'task 2' }, { echo: 'task 3' }])
  await thread.close()
})

threads('a commit has one long write at most, so that short ones wait for no second one', async () => {
  const commits: string[][] = []
  const executor: Executor = {
    lastMs: 0,
    async run(writes) {
      const texts = (writes as () => WritePlan[])().map(({ change }) => String(change.values['name']))
      commits.push(texts.map((text) => text.slice(0, 5)))
      return texts.map(() => ({ mismatch: true })) as never
    },
    close: async () => {},
  }
  const queue = writeQueue(executor, () => {})
  const statement = { name: '', sql: '', parameters: [] }
  const write = (text: string) =>
    queue.write({
      kind: 'insert',
      path: 'things',
      change: { statement, values: { name: text } },
      read: { statement, values: {} },
    })
  const long = ['long1', 'long2', 'long3'].map((text) => text.padEnd(1_000_000))
  await Promise.all([...long, 'new 1', 'new 2'].map(write))
  assert.equal(commits, [['long1', 'new 1', 'new 2'], ['long2'], ['long3']])
  await queue.close()
})

for (const death of ['die', 'throw later'] as const) {
  threads(`a worker that dies (${death}) fails the task it ran; those that wait are run by its successor`, async () => {
    const { thread, causes, echo } = newThread()
    for (let round = 0; round < 5; round++) {
      const results = await Promise.all([echo(1), outcome(thread.run(death)), echo(2), echo(3)])
      assert.equal(results[0], { echo: 'task 1' })
      assert.instance(results[1], WorkerDied)
      assert.equal(results.slice(2), [{ echo: 'task 2' }, { echo: 'task 3' }])
    }
    assert.is(causes.length, 5)
    assert.match(causes[0] ?? '', death === 'die' ? /exited with code 3/ : /thrown outside a task/)
    await thread.close()
  })
}

threads('a worker that cannot open its file reports SQLite’s error', async () => {
  const causes: string[] = []
  const folder = temporaryFolder('missing')
  const data = { file: { path: join(folder.path, 'missing.sqlite') } }
  const reader = new URL('../../engine/storage/sqlite/worker.js', import.meta.url)
  const thread = workerThread(reader, data, (cause) => causes.push(cause))
  assert.instance(await outcome(thread.run('any')), WorkerDied)
  assert.is(causes.length, 1)
  // better-sqlite3 12 passes only the code on, 13 only the message.
  assert.match(causes[0] ?? '', /^(?:SQLITE_CANTOPEN|unable to open database file)$/)
  await thread.close()
  folder.remove()
})

threads('a worker that hangs past a deadline is replaced; those that wait have their whole time', async () => {
  const { thread, causes, echo } = newThread()
  const results = await Promise.all([outcome(thread.run('hang', 5_000)), echo(1, 4_000), echo(2, 60_000), echo(3)])
  assert.instance(results[0], WorkerDied)
  assert.equal(results.slice(1), [{ echo: 'task 1' }, { echo: 'task 2' }, { echo: 'task 3' }])
  assert.equal(causes, ['it did not end a task in time'])
  await thread.close()
})

threads.run()

/** The worker threads of the service, recorded when they receive messages, so that tests can terminate them. */
const workers = new Map<string, Worker>()
const post = Worker.prototype.postMessage
Worker.prototype.postMessage = function (this: Worker & { kind?: string }, message, ...rest) {
  workers.set(Array.isArray(message?.message) ? 'writer' : 'reader', this)
  return post.call(this, message, ...(rest as []))
}
const endWorker = (kind: string): void => {
  void workers.get(kind)?.terminate()
}

const folder = temporaryFolder('workers').path
const office = await startOffice({ url: `sqlite:${join(folder, 'workers.sqlite')}` })
const { get } = office
const service = suite('a service whose workers die')

const create = (key: string) =>
  office.create('leave', { leave_type: 'Worker', reason: key }, { 'idempotency-key': key })

service('each create returns its own row, and a retry with the same key returns that row', async () => {
  let interrupted = 0
  let from = 0
  // On a busy machine the thread may always end between two commits.
  for (; from < 300 || (interrupted === 0 && from < 3_000); from += 30) {
    const batch = Array.from({ length: 30 }, (_, n) => `worker-${from + n}`)
    const pending = batch.map((key, n) => new Promise((go) => setTimeout(go, n)).then(() => create(key)))
    setTimeout(endWorker, 5 + (from % 25), 'writer')
    for (const [index, response] of (await Promise.all(pending)).entries()) {
      if (response.status === 201) assert.is(response.body.reason, batch[index])
      else {
        interrupted++
        assert.is(response.status, 503)
        assert.match(response.body.error.message, /may or may not have been stored/)
      }
      const retried = await create(batch[index] ?? '')
      assert.is(retried.status, 201)
      assert.is(retried.body.reason, batch[index])
    }
  }
  assert.ok(interrupted > 0, 'no create was interrupted')
  assert.is((await get('/v1/leave?q=worker-&limit=1')).body.meta.total, from)
})

service('a read gets its own page or 503', async () => {
  let interrupted = 0
  for (let round = 0; round < 10; round++) {
    const pending = Array.from({ length: 40 }, (_, n) => get(`/v1/leave?q=worker-${n}&limit=${n + 1}&offset=${round}`))
    setTimeout(endWorker, round, 'reader')
    for (const [n, { status, body }] of (await Promise.all(pending)).entries()) {
      if (status === 503) interrupted++
      else {
        assert.equal(
          { status, limit: body.meta.limit, offset: body.meta.offset },
          { status: 200, limit: n + 1, offset: round },
        )
        for (const row of body.data) assert.ok(row.reason.startsWith(`worker-${n}`), row.reason)
      }
    }
  }
  assert.ok(interrupted > 0, 'no read was interrupted')
})

service.after(() => {
  Worker.prototype.postMessage = post
})
service.run()
