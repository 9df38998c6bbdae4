/** Custom code as the documentation shows it: its types, its recipes, and the operation of the tutorial, several requests at once. */
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startProcess } from '../../support/process.js'
import { main, root } from '../../support/root.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { startTestService } from '../../support/testing.js'
import { shellCommandsIn } from '../support/shellBlocks.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const codeOf = (page: string): string[] => [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code as string)

const makeProject = (files: Readonly<Record<string, string>>): string => {
  const folder = temporaryProject()
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }
  return folder
}

type TestService = Awaited<ReturnType<typeof startTestService>>

const serve = async (folder: string): Promise<TestService> => {
  process.env['TEST_PROJECT'] = folder
  return startTestService()
}

const request = async (
  service: TestService,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
) => {
  const response = await service.fetch(
    new Request(`http://localhost/api/v1/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  return { status: response.status, body: (text ? JSON.parse(text) : undefined) as any }
}
const statuses = (responses: readonly { status: number }[]) => responses.map(({ status }) => status).sort()
const many = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

const page = read('docs/custom-code.md')
/** The blocks that say in which file they are. */
const recipes = Object.fromEntries(
  codeOf(page).flatMap((code) => {
    const [, file] = /^\/\/ ((?:resources|operations|hooks)\/[\w-]+\.ts)\n/.exec(code) ?? []
    return file === undefined ? [] : [[file, code] as const]
  }),
)

/** The resources that the first examples assume. */
const assumed = {
  'resources/visits.ts': `import { claim, defineResource, integer, text } from 'resource-registry-engine'
export default defineResource({
  name: 'Visit', area: 'Practice', table: 'visits',
  fields: { vet_id: integer({ filter: true }), state: text({ oneOf: ['open', 'closed'], default: 'open', filter: true }) },
  required: ['state'], create: false,
  access: { read: ['desk', { vet_id: claim('vet_id') }] },
})
`,
  'resources/bills.ts': `import { defineResource, integer } from 'resource-registry-engine'
export default defineResource({
  name: 'Bill', area: 'Practice', table: 'bills',
  fields: { visit_id: integer({ references: 'visits', unique: true, filter: true }), amount: integer({ min: 0 }) },
  required: ['visit_id', 'amount'], create: false,
})
`,
  'resources/leave.ts': read('resources/leave.ts').replace(
    "{ references: 'employees', filter: true }",
    '{ filter: true }',
  ),
  'resources/members.ts': `import { defineResource, text } from 'resource-registry-engine'
export default defineResource({
  name: 'Member', area: 'Practice', table: 'members',
  fields: { email: text({ unique: true }) },
  required: ['email'], create: true,
})
`,
  'resources/loans.ts': `import { boolean, defineResource, integer } from 'resource-registry-engine'
export default defineResource({
  name: 'Loan', area: 'Practice', table: 'loans',
  fields: { work_id: integer({ filter: true }), returned: boolean({ filter: true, default: false }) },
  required: ['work_id', 'returned'], create: true, update: true,
})
`,
  'seeds/visits.json': '[{ "id": 1, "vet_id": 1, "state": "open" }, { "id": 2, "vet_id": 2, "state": "open" }]',
  'seeds/leave.json': '[{ "id": 1, "leave_type": "Annual", "status": "Approved" }]',
  'seeds/stock.json': '[{ "id": 1, "place": "north", "article": "chair", "pieces": 5 }]',
  'seeds/items.json': '[{ "id": 1, "name": "Projector", "free": 2 }]',
  'seeds/purchases.json': '[{ "id": 1, "amount": "12.50", "status": "open", "payment": null }]',
}

const types = `import { defineHook, defineOperation } from 'resource-registry-engine'
import counters from './resources/counters.ts'
import invoices from './resources/invoices.ts'
import leave from './resources/leave.ts'
import loans from './resources/loans.ts'
import requests from './resources/requests.ts'
import stock from './resources/stock.ts'

export const operation = defineOperation({
  method: 'POST',
  path: '/v1/types',
  about: 'Has the types of its resources.',
  timeoutMs: 10_000,
  async handle({ of, asService, ifMatch }) {
    const row = await of(requests).get(1)
    // @ts-expect-error there may be no row
    row.person
    if (!row) return null
    const status: 'new' | 'approved' | 'returned' = row.status
    const person: string = row.person
    const id: number = row.id
    // @ts-expect-error an unknown field
    row.persno
    const tag: string = of(requests).tag(row)
    await of(requests).update(row.id, { person, status }, { ifMatch })
    await of(requests).update(String(row.id), {}, { ifMatch: tag })
    const made = await of(requests).create({ item_id: 1, person: 'Ana' })
    const nothing: void = await of(requests).delete(made.id)
    const { data, meta } = await of(requests).list({ status: 'new', item_id: 1, limit: 10, offset: 0, sort: '-id', q: 'ana' })
    const total: number = meta.total
    const first: string | undefined = data[0]?.person
    const count: number = await of(requests).count({ 'status.in': ['new', 'approved'] })
    await of(stock).list({ 'pieces.gte': 2, 'pieces.lt': 9, place: 'north' })
    await of(leave).list({ 'from_date.gte': '2026-01-01', sort: '-from_date', 'employee_id.null': true })
    await of(leave).count()
    await of(counters).get('invoices')
    const number: number = (await asService.of(invoices).create({ number: 1, customer: 'Ana', amount: '1.00' })).number
    await asService.of(counters).create({ id: 'invoices', last: 1 })
    await asService.of(counters).update('invoices', { last: 2 })

    // @ts-expect-error an unknown parameter
    await of(loans).list({ nope: 1 })
    // @ts-expect-error a field that is no filter
    await of(requests).list({ person: 'Ana' })
    // @ts-expect-error a field that is no filter, in a count
    await of(requests).count({ person: 'Ana' })
    // @ts-expect-error a field without ranges
    await of(requests).list({ 'item_id.gte': 1 })
    // @ts-expect-error a field by which lists are not sorted
    await of(requests).list({ sort: 'person' })
    // @ts-expect-error a value of another type
    await of(requests).list({ item_id: true })
    // @ts-expect-error required fields are missing
    await of(requests).create({})
    // @ts-expect-error a required field is missing
    await of(requests).create({ person: 'Ana' })
    // @ts-expect-error an unknown field
    await of(requests).create({ item_id: 1, person: 'Ana', nope: 1 })
    // @ts-expect-error a value of another type
    await of(requests).update(1, { person: 1 })
    // @ts-expect-error a value that is not one of those that the field has
    await of(requests).update(1, { status: 'gone' })
    // @ts-expect-error the id is no field
    await of(requests).update(1, { id: 2 })
    // @ts-expect-error an unknown field
    await of(requests).update(1, { nope: 1 })
    // @ts-expect-error the id of a text is needed
    await asService.of(counters).create({ last: 1 })
    // @ts-expect-error resources is gone
    ;({ of }).resources
    return { status, id, nothing, total, first, count, number }
  },
})

export const hook = defineHook({
  resource: requests,
  on: ['create', 'update', 'delete'],
  async handle({ operation, row, previous, of }) {
    const which: 'create' | 'update' | 'delete' = operation
    // @ts-expect-error there may be no row
    row.person
    const before: string | undefined = previous?.person
    if (row) await of(requests).update(row.id, { person: \`\${which} \${before}\` })
  },
})

// @ts-expect-error an unknown verb
export const wrong = defineHook({ resource: requests, on: ['read'], handle() {} })
`

const folder = makeProject({ ...assumed, ...recipes })
const service = await serve(folder)
const asToken = service.as('API_TOKEN')
const as = (role: string, claims = {}) => service.as({ name: role, roles: [role], claims })

const forgetful = `import { defineOperation } from 'resource-registry-engine'
export default defineOperation({
  method: 'POST', path: '/v1/forgetful', about: 'Forgets a promise that fails.', access: 'signed-in',
  handle() {
    void (async () => {
      throw new Error('forgotten')
    })()
    return { done: true }
  },
})
`

const test = suite('custom code of the documentation')

test('the page has an operation, a hook and the recipes', () => {
  for (const file of ['operations/close-visit.ts', 'operations/move-stock.ts', 'hooks/reserve.ts', 'operations/pay.ts'])
    assert.ok(recipes[file], file)
})

test('what is right compiles, and each mistake is one of types', () => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  writeFileSync(join(folder, 'types.ts'), types)
  const config = {
    extends: join(root, 'scripts', 'project.tsconfig.json'),
    // Those that the sources of the engine need, which a project does not compile.
    compilerOptions: {
      lib: ['es2024'],
      exactOptionalPropertyTypes: true,
      paths: { 'resource-registry-engine': [join(root, 'engine', 'index.ts')] },
    },
    include: ['*.ts', 'resources', 'operations', 'hooks'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc], { cwd: folder, encoding: 'utf8' })
  const own = stdout.split('\n').filter((line) => /^(?:types|resources|operations|hooks)/.test(line))
  assert.equal([own, status], [[], 0], stdout)
})

test('check accepts the project, and names its hooks', () => {
  const output = execFileSync(process.execPath, [main, 'check'], { cwd: folder, encoding: 'utf8' })
  assert.match(output, /have no errors\./)
  for (const name of ['one-loan', 'reserve']) assert.match(output, new RegExp(`\\b${name}\\b`))
})

test('a visit is closed once, with one bill', async () => {
  const vet = as('vet', { vet_id: 1 })
  const responses = await many(5, () => request(vet, 'POST', 'visits/1/close', { amount: 5 }))
  assert.equal(statuses(responses), [200, 409, 409, 409, 409])
  assert.is((await request(vet, 'POST', 'visits/2/close', { amount: 5 })).status, 404)
  assert.is((await request(asToken, 'GET', 'bills')).body.meta.total, 1)
})

test('the report counts', async () => {
  const { body } = await request(service, 'GET', 'reports/absences?status=Approved')
  assert.equal(body, { status: 'Approved', requests: 1 })
})

test('a member joins once', async () => {
  const responses = await many(5, () => request(asToken, 'POST', 'join', { email: 'ana@shop.example' }))
  assert.equal(responses.map(({ body }) => body?.added).sort(), [false, false, false, false, true])
})

test('a work is lent once, until it is returned', async () => {
  const responses = await many(5, () => request(asToken, 'POST', 'loans', { work_id: 1 }))
  assert.equal(statuses(responses), [201, 409, 409, 409, 409])
  const { body } = responses.find(({ status }) => status === 201) as (typeof responses)[number]
  assert.is((await request(asToken, 'PATCH', `loans/${body.id}`, { returned: true })).status, 200)
  assert.is((await request(asToken, 'POST', 'loans', { work_id: 1 })).status, 201)
  assert.is((await request(asToken, 'PATCH', `loans/${body.id}`, { returned: false })).status, 409)
})

test('the command that imports runs the hooks, all or nothing', () => {
  const database = join(folder, 'data', 'imported.sqlite')
  const run = (name: string, ids: readonly number[], ...args: string[]) => {
    const file = join(folder, name)
    writeFileSync(file, ids.map((work_id) => JSON.stringify({ work_id })).join('\n'))
    return spawnSync(process.execPath, [main, 'import', 'loans', file, ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: `sqlite:${database}` },
    })
  }
  const first = run('first.ndjson', [1, 2])
  assert.is(first.status, 0, first.stdout + first.stderr)
  const twice = run('twice.ndjson', [3, 4, 3])
  assert.is(twice.status, 1)
  assert.match(twice.stdout + twice.stderr, /This work is lent already\./)
  assert.is(run('dry.ndjson', [2], '--dry-run').status, 1)
  assert.is(run('dry.ndjson', [3], '--dry-run').status, 0)
  // Neither the dry run nor the import that was refused has stored anything.
  assert.is(run('again.ndjson', [3, 4]).status, 0)
})

test('recipe: pieces that are moved are neither lost nor doubled', async () => {
  const move = (from: string, to: string, pieces: number) =>
    request(as('warehouse'), 'POST', 'moves', { article: 'chair', from, to, pieces })
  const there = await many(5, () => move('north', 'south', 2))
  assert.equal(statuses(there), [200, 200, 409, 409, 409])
  await Promise.all([...'abcd'].map((_, n) => (n % 2 ? move('north', 'south', 1) : move('south', 'north', 1))))
  const { data } = (await request(service, 'GET', 'stock')).body
  assert.is(data.length, 2)
  assert.is(
    data.reduce((sum: number, { pieces }: { pieces: number }) => sum + pieces, 0),
    5,
  )
})

test('recipe: invoices have numbers without gaps', async () => {
  const write = (amount: string) => request(as('billing'), 'POST', 'write-invoice', { customer: 'Ana', amount })
  const responses = await many(6, (n) => write(n === 3 ? 'much' : '12.50'))
  assert.equal(statuses(responses), [200, 200, 200, 200, 200, 422])
  await write('1')
  const { data } = (await request(service, 'GET', 'invoices?sort=number')).body
  assert.equal(
    data.map(({ number }: { number: number }) => number),
    [1, 2, 3, 4, 5, 6],
  )
})

test('recipe: approved requests reserve items, whoever approves them', async () => {
  const ids: number[] = []
  for (let n = 0; n < 5; n++)
    ids.push((await request(asToken, 'POST', 'requests', { item_id: 1, person: `P${n}` })).body.id)
  const free = async () => (await request(service, 'GET', 'items/1')).body.free
  assert.is(await free(), 2)
  const approve = (id: number) => request(asToken, 'PATCH', `requests/${id}`, { status: 'approved' })
  const responses = await Promise.all(ids.map(approve))
  assert.equal([statuses(responses), await free()], [[200, 200, 409, 409, 409], 0])
  const approved = ids.filter((_, n) => responses[n]?.status === 200)
  assert.is((await request(asToken, 'PATCH', `requests/${approved[0]}`, { person: 'Other' })).status, 200)
  assert.is((await request(asToken, 'DELETE', `requests/${approved[0]}`)).status, 204)
  assert.is((await request(asToken, 'PATCH', `requests/${approved[1]}`, { status: 'returned' })).status, 200)
  assert.is(await free(), 2)
})

test('recipe: a payment is made once, however often it is asked for', async () => {
  const payments = new Map<string, string>()
  let requests = 0
  const provider = createServer((message, response) => {
    requests++
    const key = String(message.headers['idempotency-key'])
    payments.set(key, payments.get(key) ?? `p${payments.size + 1}`)
    response.writeHead(requests === 1 ? 500 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: payments.get(key) }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  process.env['PAYMENTS_URL'] = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const pay = (headers = {}) => request(as('billing'), 'POST', 'purchases/1/pay', undefined, headers)
  // The provider has made the payment, and its response was lost.
  assert.is((await pay()).status, 502)
  assert.is((await request(service, 'GET', 'purchases/1')).body.status, 'open')
  const responses = await many(5, () => pay())
  assert.equal(
    responses.map(({ status, body }) => [status, body]),
    responses.map(() => [200, { payment: 'p1' }]),
  )
  assert.is((await pay({ 'idempotency-key': 'x' })).status, 501)
  const { body } = await request(service, 'GET', 'purchases/1')
  assert.equal([body.status, body.payment, payments.size], ['paid', 'p1', 1])
  const before = requests
  await pay()
  assert.is(requests, before)
  provider.close()
})

test('the tutorial: orders are shipped as the page says, and no more than there are copies', async () => {
  const tutorial = read('docs/ten-minutes.md')
  const shop = makeProject({})
  for (const { command } of shellCommandsIn(tutorial)) {
    if (!command.startsWith('npm run new -- ')) continue
    const args = command.slice('npm run new -- '.length).replaceAll("'", '').split(' ')
    execFileSync(process.execPath, [main, 'new', ...args], { cwd: shop, stdio: 'ignore' })
  }
  const [orders = '', ship = ''] = codeOf(tutorial)
  mkdirSync(join(shop, 'operations'))
  writeFileSync(join(shop, 'resources', 'orders.ts'), orders)
  writeFileSync(join(shop, 'operations', 'ship-order.ts'), ship)
  const shopService = await serve(shop)
  const ana = shopService.as({ name: 'ana', roles: ['clerk'] })
  const [, shown = ''] = /orders\/1\/ship .*\n```\n```json\n(.*)\n/.exec(tutorial) ?? []
  const first = await request(ana, 'POST', 'orders/1/ship')
  assert.equal([first.status, first.body], [200, JSON.parse(shown)])
  assert.is((await request(ana, 'POST', 'orders/1/ship')).status, 409)
  assert.is((await request(ana, 'POST', 'orders/999/ship')).status, 404)
  const shopToken = shopService.as('API_TOKEN')
  await request(shopToken, 'PATCH', 'books/1', { stock: 5 })
  const ids = await many(5, async () => {
    const sent = { book_id: 1, customer: 'Customer 2', copies: 2 }
    return (await request(ana, 'POST', 'orders', sent)).body.id as number
  })
  const key = { 'idempotency-key': 'retried' }
  const responses = await Promise.all(ids.map((id) => request(ana, 'POST', `orders/${id}/ship`)))
  assert.equal(statuses(responses), [200, 200, 409, 409, 409])
  assert.is((await request(ana, 'GET', 'books/1')).body.stock, 1)
  const last = (await request(ana, 'POST', 'orders', { book_id: 1, customer: 'Customer 2', copies: 1 })).body.id
  const retried = await many(2, () => request(ana, 'POST', `orders/${last}/ship`, undefined, key))
  assert.equal(
    retried.map(({ body }) => body),
    [
      { shipped: 1, left: 0 },
      { shipped: 1, left: 0 },
    ],
  )
  await shopService.close()
})

test('a promise that code forgets ends no process', async () => {
  const project = makeProject({
    'resources/members.ts': assumed['resources/members.ts'],
    'operations/forgetful.ts': forgetful,
  })
  const secret = 'a-token-of-the-tests'
  const { address, output, end } = await startProcess({ PORT: '0', API_TOKEN: secret }, { project })
  const options = { method: 'POST', headers: { authorization: `Bearer ${secret}` } }
  for (const _ of [1, 2]) assert.is((await fetch(`${address}/api/v1/forgetful`, options)).status, 200)
  assert.is((await fetch(`${address}/livez`)).status, 200)
  await end('SIGTERM')
  assert.match(output(), /code failed that nobody waited for.*forgotten|forgotten.*code failed that nobody waited for/)
})

test.run()
