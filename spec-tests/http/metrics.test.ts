/** The metrics of one and of several processes; the Grafana dashboard and the documentation name those that exist. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { root } from '../../support/root.js'
import { freshUrl, server } from '../support/database.js'
import { sample, scrape } from '../support/observed.js'
import { inOffice } from '../support/office.js'
import { type RunningService, startProcess } from '../support/process.js'
import { authorized, token } from '../support/service.js'
import { product } from '../support/testedProject.js'
import { unfinishedRequest } from '../support/unfinishedRequest.js'

const startMeasured = async (more: Record<string, string> = {}) =>
  startProcess({ DATABASE_URL: await freshUrl(), API_TOKEN: token, METRICS_PORT: '0', ...more })

/** Uses every kind of operation, and one page often enough to cache it. */
const exercise = async ({ address }: RunningService): Promise<void> => {
  const get = async (path: string) => (await fetch(`${address}${path}`)).text()
  for (let n = 0; n < 3; n++) await get('/api/v1/employees?limit=7')
  for (const path of ['/api', '/api/v1/health', '/api/v1/employees/3', '/api/v1/employees?q=a', '/nowhere', '/livez'])
    await get(path)
  await fetch(`${address}/api/v1/leave`, { method: 'POST', headers: authorized, body: '{"leave_type":"Annual"}' })
}

const until = async (isMet: () => Promise<boolean>): Promise<void> => {
  while (!(await isMet())) await setTimeout(50)
}

const single = await startMeasured()
await exercise(single)
const ofOne = await scrape(single)

const test = suite('metrics')

test('the build, the cache and the workers have metrics; probes have no part in those of requests', () => {
  const [info = ''] = /^registry_build_info\{.*\} 1$/m.exec(ofOne) ?? []
  const database = server ? 'postgres' : 'sqlite'
  for (const label of [`version="${product.version}"`, `node="${process.version}"`, `database="${database}"`])
    assert.ok(info.includes(label), info)
  assert.match(info, /build="[\w-]+"/)
  for (const [name, value] of Object.entries({
    ...{ cache_hits_total: 1, cache_misses_total: 4, cache_entries: 1, workers: 1 },
    ...{ 'worker_restarts_total{kind="process"}': 0, 'worker_restarts_total{kind="thread"}': 0 },
  }))
    assert.is(sample(ofOne, `registry_${name}`), value, name)
  assert.ok(sample(ofOne, 'registry_cache_bytes') > 512)
  assert.match(ofOne, /registry_http_requests_total\{operation="getIndex"/)
  assert.not.match(ofOne, /operation="probe"/)
})

test('a request is in flight until its response is complete', async () => {
  const inFlight = async () => sample(await scrape(single), 'registry_http_requests_in_flight')
  assert.is(await inFlight(), 0)
  const { complete, close } = await unfinishedRequest(single.address, token, '{"leave_type":"Annual"}')
  assert.is(await inFlight(), 1)
  complete()
  await until(async () => (await inFlight()) === 0)
  close()
})

test('the metrics of several workers are added up; one that dies takes nothing away, one that hangs is not waited for', async () => {
  const running = await startMeasured({ WORKERS: '2' })
  for (let n = 0; n < 5; n++) await exercise(running)
  const creates = (metrics: string) => sample(metrics, 'registry_creates_total{operation="createLeaveRequest"}')
  const before = await scrape(running)
  assert.is(creates(before), 5)
  assert.is(sample(before, 'registry_workers'), 2)
  assert.is(sample(before, 'registry_rows{resource="leave"}'), inOffice('leave').demo.length + 5)
  assert.is(sample(before, 'registry_worker_restarts_total{kind="process"}'), 0)
  assert.match(before, /^registry_build_info\{.*\} 1$/m)

  const workers = () => [...running.output().matchAll(/Worker (\d+) is ready/g)].map(([, pid]) => Number(pid))
  const killed = workers()
  for (const pid of killed) process.kill(pid, 'SIGKILL')
  await until(async () => workers().length === 4)
  for (const pid of killed)
    assert.ok(running.messages().includes(`Worker ${pid} was killed by SIGKILL; starting a new one.`))
  const after = await scrape(running)
  assert.is(creates(after), 5)
  assert.is(sample(after, 'registry_workers'), 2)
  assert.is(sample(after, 'registry_worker_restarts_total{kind="process"}'), 2)
  await exercise(running)
  assert.is(creates(await scrape(running)), 6)

  const [hanging = 0] = workers().slice(-1)
  process.kill(hanging, 'SIGSTOP')
  const metrics = await scrape(running)
  process.kill(hanging, 'SIGCONT')
  assert.is(sample(metrics, 'registry_workers'), 2)
  assert.is(await running.end('SIGTERM'), 0)
})

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')

test('every metric of the dashboard exists, and its legends are labels', () => {
  const dashboard = read('deploy', 'grafana-dashboard.json')
  const names = [...dashboard.matchAll(/\b(?:registry|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name)
  assert.ok(names.length > 20)
  for (const name of names) assert.match(ofOne, new RegExp(`^(?:# TYPE )?${name}[ {]`, 'm'))
  // Prometheus adds the first two, and only PostgreSQL has the pools with the third.
  const labels = new Set(['job', 'instance', 'part', ...[...ofOne.matchAll(/(\w+)="/g)].map(([, label]) => label)])
  for (const [, label] of dashboard.matchAll(/\{\{(\w+)\}\}/g)) assert.ok(labels.has(label), label)
})

test('every alert names metrics and labels that exist, and the documentation lists it', () => {
  const [group] = parse(read('deploy', 'prometheus-alerts.yaml')).groups
  const described = [...read('docs', 'operations.md').matchAll(/^\| `(Registry\w+)`/gm)].map(([, name]) => name)
  assert.equal(
    described,
    group.rules.map(({ alert }: { alert: string }) => alert),
  )
  // Only replicas and webhooks have the third and the fourth.
  const labels = new Set([
    'job',
    'instance',
    'server',
    'subscriber',
    ...[...ofOne.matchAll(/(\w+)="/g)].map(([, label]) => label),
  ])
  for (const { alert, expr, labels: given, annotations } of group.rules) {
    const names = [...expr.matchAll(/\b(?:registry|nodejs)_\w+/g)].map(([name]) => name)
    assert.ok(names.length > 0 || expr.startsWith('up{'), alert)
    for (const name of names) assert.match(ofOne, new RegExp(`^# TYPE ${name} `, 'm'), alert)
    const used = [
      ...[...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label]) => label),
      ...[...expr.matchAll(/(?:by|on) \(([^)]*)\)/g)].flatMap(([, list]) => list.split(', ')),
      ...[...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label),
    ]
    for (const label of used) assert.ok(labels.has(label), `${alert}: ${label}`)
    for (const [, reason] of expr.matchAll(/reason!?="(\w+)"/g)) assert.match(ofOne, `reason="${reason}"`)
    for (const [open, close] of ['()', '{}', '[]']) assert.is(expr.split(open).length, expr.split(close).length, alert)
    assert.match(given.severity, /^(?:critical|warning)$/)
    assert.match(annotations.description, /\w/)
  }
})

test('a response with 503 is counted by its reason, and an outage and the room of the disk are seen', async () => {
  const reasonOf = async (reason: string) =>
    sample(await scrape(withoutToken), `registry_unavailable_total{reason="${reason}"}`)
  const withoutToken = await startMeasured({ API_TOKEN: '' })
  assert.is(await reasonOf('writes_disabled'), 0)
  const refused = await fetch(`${withoutToken.address}/api/v1/leave`, {
    method: 'POST',
    headers: authorized,
    body: '{}',
  })
  assert.is(refused.status, 503)
  await until(async () => (await reasonOf('writes_disabled')) === 1)
  assert.is(await reasonOf('unavailable'), 0)
  assert.is(sample(ofOne, 'registry_database_up'), 1)
  if (!server) assert.ok(sample(ofOne, 'registry_disk_free_bytes') <= sample(ofOne, 'registry_disk_size_bytes'))
  assert.is(await withoutToken.end('SIGTERM'), 0)
})

test('the documentation lists exactly the metrics that exist', () => {
  const documented = [...read('docs', 'operations.md').matchAll(/^\| `(registry_\w+)`/gm)].map(([, name]) => name)
  const declared = [...ofOne.matchAll(/^# TYPE (registry_\w+)/gm)].map(([, name]) => name)
  assert.equal(documented.toSorted(), declared.toSorted())
})

test.after(async () => {
  assert.is(await single.end('SIGTERM'), 0)
})

test.run()
