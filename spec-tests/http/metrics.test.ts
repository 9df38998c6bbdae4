/** The metrics of one and of several processes. */
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { product } from '../../product.js'
import { server } from '../support/database.js'
import { API_TOKEN, exercise, sample, scrape, startMeasured } from '../support/metrics.js'

const until = async (isMet: () => Promise<boolean>): Promise<void> => {
  while (!(await isMet())) await setTimeout(50)
}

const single = await startMeasured()
await exercise(single)
const ofOne = await scrape(single)

const test = suite('metrics')

test('the build, the cache and the workers have metrics', () => {
  const [info = ''] = /^registry_build_info\{.*\} 1$/m.exec(ofOne) ?? []
  for (const label of [
    `version="${product.version}"`,
    `node="${process.version}"`,
    `database="${server ? 'postgres' : 'sqlite'}"`,
  ]) {
    assert.ok(info.includes(label), info)
  }
  assert.match(info, /build="\w+"/)
  assert.is(sample(ofOne, 'registry_cache_hits_total'), 1)
  assert.is(sample(ofOne, 'registry_cache_misses_total'), 4)
  assert.is(sample(ofOne, 'registry_cache_entries'), 1)
  assert.ok(sample(ofOne, 'registry_cache_bytes') > 512)
  assert.is(sample(ofOne, 'registry_workers'), 1)
  assert.is(sample(ofOne, 'registry_worker_restarts_total{kind="process"}'), 0)
  assert.is(sample(ofOne, 'registry_worker_restarts_total{kind="thread"}'), 0)
})

test('a request is in flight until its response is complete', async () => {
  const inFlight = async () => sample(await scrape(single), 'registry_http_requests_in_flight')
  assert.is(await inFlight(), 0)
  const body = '{"leave_type":"Annual"}'
  const head = `POST /api/v1/leave HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${API_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  const socket = connect(Number(new URL(single.address).port), '127.0.0.1')
  socket.write(head)
  await until(async () => (await inFlight()) === 1)
  socket.end(body)
  await until(async () => (await inFlight()) === 0)
})

if (server) {
  test('the connection pools have metrics, by part', () => {
    assert.is(sample(ofOne, 'registry_pool_size{part="requests"}'), 10)
    assert.is(sample(ofOne, 'registry_pool_size{part="checks"}'), 1)
    assert.ok(sample(ofOne, 'registry_pool_open{part="requests"}') >= 1)
    for (const part of ['requests', 'checks']) {
      assert.is(sample(ofOne, `registry_pool_in_use{part="${part}"}`), 0)
      assert.is(sample(ofOne, `registry_pool_waiting{part="${part}"}`), 0)
    }
  })
}

test('the metrics of several workers are added up, and a worker that dies takes nothing away', async () => {
  const running = await startMeasured({ WORKERS: '2' })
  for (let n = 0; n < 5; n++) await exercise(running)
  const creates = (metrics: string) => sample(metrics, 'registry_creates_total{operation="createLeaveRequest"}')
  const before = await scrape(running)
  assert.is(creates(before), 5)
  assert.is(sample(before, 'registry_workers'), 2)
  assert.is(sample(before, 'registry_rows{resource="leave"}'), 245)
  assert.is(sample(before, 'registry_worker_restarts_total{kind="process"}'), 0)
  assert.match(before, /^registry_build_info\{.*\} 1$/m)

  const pids = [...running.output().matchAll(/Worker (\d+) is ready/g)].map(([, pid]) => Number(pid))
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await until(async () => (running.output().match(/Worker \d+ is ready/g)?.length ?? 0) === 4)
  const after = await scrape(running)
  assert.is(creates(after), 5)
  assert.is(sample(after, 'registry_workers'), 2)
  assert.is(sample(after, 'registry_worker_restarts_total{kind="process"}'), 2)
  await exercise(running)
  assert.is(creates(await scrape(running)), 6)
  assert.is(await running.end('SIGTERM'), 0)
})

test('the metrics do not wait for a worker that hangs', async () => {
  const running = await startMeasured({ WORKERS: '2' })
  const [, pid] = /Worker (\d+) is ready/.exec(running.output()) ?? []
  await scrape(running)
  process.kill(Number(pid), 'SIGSTOP')
  const metrics = await scrape(running)
  process.kill(Number(pid), 'SIGCONT')
  assert.is(sample(metrics, 'registry_workers'), 2)
  assert.is(await running.end('SIGTERM'), 0)
})

test.after(async () => {
  assert.is(await single.end('SIGTERM'), 0)
})

test.run()
