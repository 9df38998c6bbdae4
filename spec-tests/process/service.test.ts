/** createService: a project as a service inside another program, without a port or with one, several at a time. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { digestOf } from '../../engine/http/keys.js'
import { createService, type Service } from '../../engine/service.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { officeFolder } from '../support/officeFiles.js'

const token = 'the-write-token-of-the-service-test'
const quiet = { LOG_LEVEL: 'silent', API_TOKEN: token }
const listeners = () => ['SIGTERM', 'SIGINT', 'uncaughtException'].map((name) => process.listenerCount(name))
const project = temporaryProject(officeFolder)
const before = listeners()
const service = await createService({ folder: project, settings: quiet })

const ask = (path: string, init?: RequestInit, from: Service = service) =>
  from.fetch(new Request(`http://office.test${path}`, init))

const test = suite('createService')

test('a request is answered without a port', async () => {
  const list = await ask('/api/v1/leave?limit=2')
  assert.equal([list.status, list.headers.get('content-type')], [200, 'application/json; charset=utf-8'])
  const { data, meta } = (await list.json()) as { data: unknown[]; meta: { total: number } }
  assert.is(data.length, 2)
  assert.ok(meta.total > 2)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const created = await ask('/api/v1/leave', { method: 'POST', headers, body: '{"leave_type":"Annual"}' })
  assert.is(created.status, 201, await created.clone().text())
  const { id } = (await created.json()) as { id: number }
  assert.is((await ask(`/api/v1/leave/${id}`)).status, 200)
  assert.is((await ask('/api/v1/leave', { method: 'POST', body: '{}' })).status, 401)
})

test('responses without a body, large ones and links are those of a server', async () => {
  const head = await ask('/api/v1/leave', { method: 'HEAD' })
  assert.equal([head.status, await head.text()], [200, ''])
  const tag = head.headers.get('etag') as string
  assert.is((await ask('/api/v1/leave', { headers: { 'if-none-match': tag } })).status, 304)
  const lines = await (await ask('/api/v1/employees', { headers: { accept: 'application/x-ndjson' } })).text()
  assert.ok(lines.split('\n').length > 60)
  assert.match((await ask('/')).headers.get('content-type') ?? '', /text\/html/)
})

test('a request that is given up ends with its reason', async () => {
  const controller = new AbortController()
  controller.abort(new Error('enough'))
  const error = await ask('/api/v1/leave', { signal: controller.signal }).then(
    () => undefined,
    (thrown: Error) => thrown,
  )
  assert.is(error?.message, 'enough')
})

test('downloads that are given up make room for others', async () => {
  const folder = temporaryProject(officeFolder)
  const seeds = join(folder, 'seeds', 'leave.json')
  const [row] = JSON.parse(readFileSync(seeds, 'utf8')) as object[]
  writeFileSync(seeds, JSON.stringify(Array.from({ length: 10_000 }, (_, n) => ({ ...row, id: n + 1 }))))
  const busy = await createService({ folder, settings: { ...quiet, MAX_DOWNLOADS: '1' } })
  for (let n = 0; n < 3; n += 1) {
    const download = await ask('/api/v1/leave', { headers: { accept: 'application/x-ndjson' } }, busy)
    assert.is(download.status, 200)
    await download.body?.cancel()
  }
  await busy.close()
})

test('close lets the requests in progress finish', async () => {
  const closed = await createService({ folder: project, settings: { ...quiet, DATABASE_URL: 'sqlite::memory:' } })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const requests = [
    ask('/api/v1/leave', {}, closed),
    ask('/api/v1/leave', { method: 'POST', headers, body: '{"leave_type":"Annual"}' }, closed),
  ]
  const closing = closed.close()
  assert.equal(
    (await Promise.all(requests)).map(({ status }) => status),
    [200, 201],
  )
  await closing
})

test('relative paths are relative to the folder, and nothing of the environment counts', async () => {
  process.env['DATABASE_URL'] = 'sqlite:/nowhere/at/all.sqlite'
  process.env['PORT'] = 'none'
  mkdirSync(join(project, 'keys'))
  writeFileSync(join(project, 'keys', 'keys.json'), '[]')
  const settings = { ...quiet, DATABASE_URL: 'sqlite:data/other.sqlite', API_KEYS_FILE: 'keys/keys.json' }
  const other = await createService({ folder: project, settings })
  assert.is((await ask('/api/v1/leave', {}, other)).status, 200)
  await other.close()
  delete process.env['DATABASE_URL']
  delete process.env['PORT']
})

test('the file of keys that the project names is that of its folder', async () => {
  const keyed = temporaryProject(officeFolder)
  const product = "{ name: 'Keyed', about: 'Has keys.', version: '1.0.0', keysFile: 'own.json' }"
  writeFileSync(join(keyed, 'product.ts'), `export const product = ${product}`)
  writeFileSync(join(keyed, 'own.json'), JSON.stringify([{ name: 'ana', roles: [], sha256: digestOf('a key') }]))
  const other = await createService({ folder: keyed, settings: { LOG_LEVEL: 'silent' } })
  const post = async (key: string) =>
    (await ask('/api/v1/leave', { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: '{}' }, other))
      .status
  // Without access in the descriptor, only API_TOKEN may write.
  assert.equal([await post('a key'), await post('another')], [403, 401])
  await other.close()
})

test('several services in one process have their own rows', async () => {
  const [one, two] = await Promise.all(
    ['true', 'false'].map((DEMO_DATA) =>
      createService({ folder: project, settings: { ...quiet, DATABASE_URL: 'sqlite::memory:', DEMO_DATA } }),
    ),
  )
  const total = async (from: Service | undefined) =>
    ((await (await ask('/api/v1/leave', {}, from)).json()) as { meta: { total: number } }).meta.total
  assert.ok((await total(one)) > 0)
  assert.is(await total(two), 0)
  await Promise.all([one?.close(), two?.close()])
})

test('it listens at HOST and PORT, and its app serves in another server', async () => {
  const listening = await createService({
    folder: project,
    settings: { ...quiet, DATABASE_URL: 'sqlite::memory:', PORT: '0' },
  })
  const address = await listening.listen()
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.is((await fetch(`${address}/readyz`)).status, 200)
  const server = createServer(listening.app.callback()).listen(0)
  const { port } = server.address() as AddressInfo
  assert.is((await fetch(`http://127.0.0.1:${port}/api/v1/leave`)).status, 200)
  server.close()
  server.closeAllConnections()
  await listening.close()
  await listening.close()
  assert.is(await ask('/', {}, listening).catch((error: Error) => error.message), 'The service is closed.')
  assert.not.ok(await fetch(address).catch(() => undefined))
})

const refused: [name: string, settings: Record<string, string>, message: RegExp][] = [
  ['an unknown setting', { PROT: '1' }, /^PROT is not a setting\. Did you mean "PORT"\?$/],
  ['an invalid one', { PORT: 'x' }, /^PORT is "x", but it must be a port number/],
  ['several processes', { WORKERS: '2' }, /^WORKERS is more than 1/],
  ['metrics', { METRICS_PORT: '0' }, /^METRICS_PORT is set/],
]
for (const [name, settings, message] of refused) {
  test(`${name} is refused`, async () => {
    const error = await createService({ folder: project, settings }).catch((thrown: Error) => thrown)
    assert.match((error as Error).message, message)
  })
}

test('a project with errors is refused with them', async () => {
  const broken = temporaryProject(officeFolder)
  writeFileSync(join(broken, 'product.ts'), 'export const product = { name: "", abot: 1 }')
  const error = (await createService({ folder: broken, settings: quiet }).catch((thrown: Error) => thrown)) as Error
  assert.match(error.message, /product\.ts:1: unknown property "abot" of product\. Did you mean "about"\?/)
  assert.match(error.message, /product\.ts:1: product\.name is "", but it must be a text/)
  writeFileSync(join(broken, 'product.ts'), 'export const product = {\n  name: nothing,\n}')
  writeFileSync(join(broken, 'package.json'), '{ "type": "commonjs" }')
  const copy = temporaryProject(broken)
  writeFileSync(join(copy, 'product.ts'), 'export const product = {\n  name: nothing,\n}')
  const second = (await createService({ folder: copy, settings: quiet }).catch((thrown: Error) => thrown)) as Error
  assert.match(second.message, /product\.ts:2: cannot be loaded: "nothing" is not defined/)
})

test('errors in package.json and in a shared file name that file', async () => {
  const broken = temporaryProject(officeFolder)
  const message = () =>
    createService({ folder: broken, settings: quiet }).then(
      () => '',
      (error: Error) => error.message,
    )
  writeFileSync(join(broken, 'package.json'), '{ "name":')
  assert.match(await message(), /^ {2}package\.json: is not valid JSON$/m)
  writeFileSync(join(broken, 'package.json'), '{}')
  mkdirSync(join(broken, 'lib'))
  writeFileSync(join(broken, 'lib', 'names.ts'), 'export const name: string =\n')
  writeFileSync(join(broken, 'resources', 'rooms.ts'), "export { name as default } from '../lib/names.ts'\n")
  assert.match(await message(), /^ {2}lib\/names\.ts:\d: cannot be loaded: Expression expected$/m)
})

test('a closed service leaves no signal handlers behind', async () => {
  await service.close()
  assert.equal(listeners(), before)
})

test.run()
