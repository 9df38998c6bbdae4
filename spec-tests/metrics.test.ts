/** The metrics of one and of several processes, and the dashboard and the documentation that name them. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { Middleware } from 'koa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createApp } from '../engine/http/app.js'
import { listen } from '../engine/http/listen.js'
import { createLogger } from '../engine/log.js'
import type { Storage } from '../engine/storage/storage.js'
import { folders, product } from '../product.js'
import { type RunningService, startProcess } from '../support/process.js'
import { freshUrl, server } from './support/database.js'

const root = dirname(folders.seeds)
const API_TOKEN = 'a-token-of-some-length'
const start = async (more: Record<string, string> = {}) =>
  startProcess({ DATABASE_URL: await freshUrl(), API_TOKEN, METRICS_PORT: '0', ...more })

const scrape = async (running: RunningService): Promise<string> => {
  const response = await fetch(/Metrics at ([^\s"]+)/.exec(running.output())?.[1] ?? '')
  assert.is(response.status, 200)
  return response.text()
}
const escaped = (name: string): string => name.replaceAll(/[{}]/g, '\\$&')
const sample = (metrics: string, name: string): number =>
  Number(new RegExp(`^${escaped(name)} (\\S+)$`, 'm').exec(metrics)?.[1])

/** The labels of each metric in a scrape; of one without samples, nothing. */
const labelsOf = (metrics: string): Map<string, Set<string>> => {
  const found = new Map<string, Set<string>>()
  for (const line of metrics.split('\n')) {
    const [, declared] = /^# TYPE (\S+)/.exec(line) ?? []
    if (declared !== undefined) found.set(declared, new Set())
    const [, name, labels = ''] = /^([a-z]\w*)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    if (name === undefined) continue
    const known = found.get(name) ?? new Set()
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(String(label))
    found.set(name, known)
  }
  return found
}

/** Uses every kind of operation, and one page often enough to cache it. */
const exercise = async ({ address }: RunningService): Promise<void> => {
  const get = async (path: string) => (await fetch(`${address}${path}`)).text()
  for (let n = 0; n < 3; n++) await get('/api/v1/employees?limit=7')
  for (const path of ['/api', '/api/v1/health', '/api/v1/employees/3', '/api/v1/employees?q=a', '/nowhere'])
    await get(path)
  const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' }
  await fetch(`${address}/api/v1/leave`, { method: 'POST', headers, body: '{"leave_type":"Annual"}' })
}

const until = async (isMet: () => Promise<boolean>): Promise<void> => {
  while (!(await isMet())) await setTimeout(50)
}

const single = await start()
await exercise(single)
const ofOne = await scrape(single)

const test = suite('metrics')

test('the build, the cache and the workers have metrics', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const [info = ''] = /^registry_build_info\{.*\} 1$/m.exec(ofOne) ?? []
  for (const label of [
    `version="${version}"`,
    `node="${process.version}"`,
    `database="${server ? 'postgres' : 'sqlite'}"`,
  ]) {
    assert.ok(info.includes(label), info)
  }
  assert.match(info, /build="[0-9a-f]{12}"/)
  assert.is(sample(ofOne, 'registry_cache_hits_total'), 1)
  assert.is(sample(ofOne, 'registry_cache_misses_total'), 4)
  assert.is(sample(ofOne, 'registry_cache_entries'), 1)
  assert.ok(sample(ofOne, 'registry_cache_bytes') > 512)
  assert.is(sample(ofOne, 'registry_workers'), 1)
  assert.is(sample(ofOne, 'registry_worker_restarts_total{kind="process"}'), 0)
  assert.is(sample(ofOne, 'registry_worker_restarts_total{kind="thread"}'), 0)
})

test('all metrics have the prefix of the engine, or the standard names of a process', () => {
  for (const name of labelsOf(ofOne).keys()) assert.match(name, /^(?:registry|process|nodejs)_/)
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

test('a streamed response is in flight until its end', async () => {
  const inFlight = { count: 0 }
  const body = new PassThrough()
  const middleware: Middleware[] = [
    (ctx) => {
      ctx.body = body
    },
  ]
  const service = { product, registry: [], storage: {} as Storage, token: undefined, middleware }
  const app = createApp(service, createLogger('silent'), undefined, inFlight)
  const { address, stop } = await listen(app, { host: '127.0.0.1', port: 0 })
  body.write('a')
  const response = await fetch(address)
  assert.is(inFlight.count, 1)
  body.end('b')
  assert.is(await response.text(), 'ab')
  await until(async () => inFlight.count === 0)
  await stop()
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
  const running = await start({ WORKERS: '2' })
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
  const running = await start({ WORKERS: '2' })
  const [, pid] = /Worker (\d+) is ready/.exec(running.output()) ?? []
  await scrape(running)
  process.kill(Number(pid), 'SIGSTOP')
  const metrics = await scrape(running)
  process.kill(Number(pid), 'SIGCONT')
  assert.is(sample(metrics, 'registry_workers'), 2)
  assert.is(await running.end('SIGTERM'), 0)
})

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}
const dashboard = JSON.parse(readFileSync(join(root, 'deploy', 'grafana-dashboard.json'), 'utf8')) as {
  readonly panels: readonly (Panel & { readonly id: number })[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
}

/** Added by Prometheus when it scrapes. */
const scrapeLabels = ['job', 'instance']

/** The metrics and labels that a PromQL expression uses; throws if it has something else. */
const parseExpr = (expr: string) => {
  const grouping: string[] = []
  const metrics = new Map<string, string[]>()
  const labelsIn = (text: string) => text.match(/\w+/g) ?? []
  const rest = expr
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .replaceAll(/\[(?:\$__rate_interval|\d+[smhd])\]/g, '')
    .replaceAll(/\b(?:by|without)\s*\(([^)]*)\)/g, (_, names: string) => {
      grouping.push(...labelsIn(names))
      return ''
    })
    .replaceAll(/\b[a-z_]+(?=\s*\()/g, '')
    .replaceAll(/([a-z]\w*)(\{[^}]*\})?/g, (_, name: string, matchers = '') => {
      metrics.set(name, [...(metrics.get(name) ?? []), ...labelsIn(matchers)])
      return ''
    })
  assert.match(rest, /^[\s\d.,()+*/-]*$/, `cannot parse ${expr}`)
  return { metrics, grouping }
}

const targets = dashboard.panels.flatMap(({ title, targets: all = [] }) => all.map((target) => ({ title, ...target })))

for (const { title, expr, legendFormat } of targets) {
  test(`the dashboard's panel "${title}" uses metrics and labels that exist: ${expr}`, () => {
    const known = labelsOf(ofOne)
    const { metrics, grouping } = parseExpr(expr)
    assert.ok(metrics.size > 0)
    const legend = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => String(label))
    for (const [name, matched] of metrics) {
      assert.ok(known.has(name), `${name} does not exist`)
      const labels = known.get(name) ?? new Set()
      // SQLite has no pool, so its metrics have no sample; the tests on PostgreSQL check their labels.
      if (!server && name.startsWith('registry_pool_')) continue
      for (const label of [...matched, ...grouping, ...legend]) {
        assert.ok(labels.has(label) || scrapeLabels.includes(label), `${name} has no label ${label}`)
      }
    }
    if (/\b(?:sum|max)\b/.test(expr)) for (const label of legend) assert.ok(grouping.includes(label), label)
  })
}

test('the variables of the dashboard use metrics that exist', () => {
  const variables = dashboard.templating.list.flatMap(({ definition }) => definition ?? [])
  assert.is(variables.length, 2)
  for (const definition of variables) {
    const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? []
    const { metrics } = parseExpr(selector)
    for (const name of metrics.keys()) assert.ok(labelsOf(ofOne).has(name), name)
    assert.ok(scrapeLabels.includes(label), label)
  }
})

test('the panels of the dashboard have distinct ids', () => {
  const ids = dashboard.panels.map(({ id }) => id)
  assert.is(new Set(ids).size, ids.length)
})

test('the documentation lists exactly the metrics that exist', () => {
  const text = readFileSync(join(root, 'docs', 'operations.md'), 'utf8')
  const documented = [...text.matchAll(/^\| `(registry_\w+)`/gm)].map(([, name]) => name)
  const declared = [...ofOne.matchAll(/^# TYPE (registry_\w+)/gm)].map(([, name]) => name)
  assert.equal(documented.toSorted(), declared.toSorted())
})

test.after(async () => {
  assert.is(await single.end('SIGTERM'), 0)
})

test.run()
