/** `LOG_LEVEL=debug`: the cache, the plan and the time of each request, probes, and nothing private. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshUrl } from '../support/database.js'
import { logLines } from '../support/observed.js'
import { startProcess } from '../support/process.js'

const API_TOKEN = 'sh0rt'
const running = await startProcess({ DATABASE_URL: await freshUrl(), API_TOKEN, LOG_LEVEL: 'debug' })
const get = async (path: string, id: string) => {
  const response = await fetch(`${running.address}/api/v1/${path}`, { headers: { 'x-request-id': id } })
  assert.is(response.status, 200)
  await response.text()
}
for (const id of ['page-1', 'page-2', 'page-3']) await get('employees?limit=9', id)
for (const id of ['row-1', 'row-2', 'row-3']) await get('employees/3', id)
await get('employees?q=secret-text&status=secret-status', 'search')
await get('employees?status=Active', 'filter')
const created = await fetch(`${running.address}/api/v1/leave`, {
  method: 'POST',
  headers: { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json', 'x-request-id': 'create' },
  body: '{"leave_type":"secret-leave"}',
})
for (const path of ['livez', 'readyz', 'api']) await fetch(`${running.address}/${path}`)
const metrics = await fetch(`${running.address}/metrics`)
await running.end('SIGTERM')

const lines = logLines(running)
const debug = lines.filter(({ level }) => level === 20)
const of = (id: string, msg: string) => debug.filter((line) => line['id'] === id && line['msg'] === msg)

const test = suite('debug log')

test('each read has a line with its cache result, a miss with its plan and time', () => {
  for (const [kind, msg] of Object.entries({ page: 'list', row: 'get' })) {
    const found = [1, 2, 3].map((n) => of(`${kind}-${n}`, msg))
    const shown = found.map((all) => all.map(({ cache, resource }) => [resource, cache]))
    assert.equal(shown, [[['employees', 'miss']], [['employees', 'miss']], [['employees', 'hit']]])
    assert.type(found[0]?.[0]?.['ms'], 'number')
  }
  const plans = ['page-1', 'search', 'filter'].map((id) => of(id, 'list')[0]?.['plan'])
  assert.equal(plans, ['all', 'search', 'filter'])
  assert.equal(of('search', 'list')[0]?.['filters'], ['status'])
})

test('a create has a line with its time', () => {
  assert.is(created.status, 201)
  const [line] = of('create', 'insert')
  assert.type(line?.['ms'], 'number')
})

test('probes are logged at debug, other requests at info', () => {
  const levelOf = (path: string) => lines.find((line) => line['path'] === path)?.['level']
  assert.equal(['/livez', '/readyz', '/api'].map(levelOf), [20, 20, 30])
})

test('without METRICS_PORT there are no metrics', () => {
  assert.is(metrics.status, 404)
  assert.not.ok(running.output().includes('Metrics at'))
})

test('the debug log has no values, and the warning about a short token does not show it', () => {
  assert.match(running.output(), /API_TOKEN has fewer than 16 characters/)
  for (const secret of ['secret-text', 'secret-status', 'secret-leave', 'secret', API_TOKEN]) {
    assert.not.ok(running.output().includes(secret), secret)
  }
})

test.run()
