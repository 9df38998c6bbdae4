/** Custom operations: their parameters, callers, tools, errors and documents. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { ApiError, date, defineOperation, defineResource, integer, text, z } from '../../engine/descriptor/index.js'
import { loadOperations } from '../../engine/descriptor/operationFiles.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { callersNamed } from '../support/callers.js'
import { operationsNamed } from '../support/ownOperations.js'
import { registryFrom } from '../support/registryFrom.js'
import { clientOf, startService, type TestResponse, token } from '../support/service.js'

const visits = defineResource({
  name: 'Visit',
  area: 'Practice',
  table: 'visits',
  fields: {
    patient: text(),
    fee: integer({ filter: true, sort: true, readBy: ['desk'] }),
    vet_id: integer({ filter: true }),
    closed: date(),
    state: text({ filter: true }),
  },
  required: [],
  create: true,
  update: true,
  access: {
    read: ['desk', { vet_id: claim('vet_id') }],
    create: 'desk',
    update: ['desk', { vet_id: claim('vet_id') }],
  },
})
const bills = defineResource({
  name: 'Bill',
  area: 'Practice',
  table: 'bills',
  fields: {
    visit_id: integer({ references: 'visits', filter: true, unique: true }),
    amount: integer({ min: 0, range: true }),
  },
  required: [],
  create: true,
  access: { read: 'desk', create: 'desk' },
})
const registry = registryFrom({ visits, bills })

const close = defineOperation({
  method: 'POST',
  path: '/v1/visits/{visit_id}/close',
  about: 'Closes a visit, and writes its bill.',
  access: ['desk', 'vet'],
  body: z.object({ amount: z.int(), from: z.iso.date().optional(), to: z.iso.date().optional() }),
  response: z.object({ visit: z.looseObject({ state: z.string() }), bill: z.number() }),
  async handle({ params, body, caller, of, asService }) {
    const visit = await of(visits).get(params['visit_id'] ?? '')
    if (!visit) throw new ApiError(404, 'not_found', 'There is no such visit.')
    if (visit.state === 'closed') throw new ApiError(409, 'closed', 'This visit is closed.', { by: caller.name })
    // The vet may see the visit; the bill is the service's own matter.
    const changed = await asService.of(visits).update(visit.id, { state: 'closed' })
    const bill = await asService.of(bills).create({ visit_id: visit.id, amount: body.amount })
    return { visit: { ...changed, state: String(changed.state) }, bill: bill.id }
  },
})
const report = defineOperation({
  method: 'GET',
  path: '/v1/reports/visits',
  about: 'Counts visits by state.',
  access: 'public',
  query: z.object({ state: z.string().default('open') }),
  response: z.object({ state: z.string(), total: z.int(), mine: z.int(), caller: z.string().nullable() }),
  async handle({ query: { state }, of, asService, caller }) {
    const { meta } = await asService.of(visits).list({ state, limit: 1 })
    const mine = caller.name === undefined ? 0 : await of(visits).count({ state })
    return { state, total: meta.total, mine, caller: caller.name ?? null }
  },
})
const touch = defineOperation({
  method: 'POST',
  path: '/v1/visits/{visit_id}/touch',
  about: 'Changes a visit with the rights of the caller.',
  access: 'signed-in',
  handle: ({ params, of }) => of(visits).update(params['visit_id'] ?? '', { patient: 'touched' }),
})
const broken = defineOperation({
  method: 'POST',
  path: '/v1/broken',
  about: 'Fails.',
  handle: () => {
    throw new Error('a secret of the code')
  },
})
const wrongAnswer = defineOperation({
  method: 'GET',
  path: '/v1/wrong',
  about: 'Answers with something else.',
  access: 'public',
  response: z.object({ n: z.int() }),
  handle: () => ({ n: 'x' }) as never,
})

const found = defineOperation({
  method: 'GET',
  path: '/v1/visits/found',
  about: 'Lists what the caller asks for.',
  access: 'signed-in',
  query: z.looseObject({}),
  handle: ({ query, of }) => of(visits).list(query as never),
})
const echo = defineOperation({
  method: 'GET',
  path: '/v1/echo/{name}',
  about: 'Returns its query.',
  access: 'public',
  query: z.looseObject({
    tags: z.array(z.string()).optional(),
    even: z
      .string()
      .refine(async (one) => one !== 'odd')
      .optional(),
  }),
  handle: ({ query }) => query,
})
const library = Object.assign(new Error('a secret of the code'), {
  status: 401,
  expose: true,
  headers: { 'x-other': '1' },
})
/** What code may return or throw by mistake. */
const odd: Record<string, () => unknown> = {
  bigint: () => 1n,
  text: () => '<b>',
  nothing: () => null,
  library: () => Promise.reject(library),
  status: () => Promise.reject(new ApiError(200, 'ok', 'a secret of the code')),
  fraction: () => Promise.reject(new ApiError(404.5, 'ok', 'a secret of the code')),
  details: () => Promise.reject(new ApiError(409, 'ok', 'a secret of the code', { n: 1n })),
}
const odds = defineOperation({
  method: 'GET',
  path: '/v1/echo/odd',
  about: 'Returns or throws something.',
  access: 'public',
  query: z.object({ what: z.string() }),
  response: z.any(),
  handle: ({ query: { what } }) => odd[what]?.(),
})

const mail = defineOperation({
  method: 'POST',
  path: '/v1/mail',
  about: 'Calls another system.',
  access: 'desk',
  transaction: false,
  handle: () => ({ sent: true }),
})

const named = { close, report, touch, mail, broken, 'wrong-answer': wrongAnswer, found, echo, odds }
const operations = operationsNamed(named)
const callers = {
  desk: { roles: ['desk'] },
  vet: { roles: ['vet'], claims: { vet_id: 1 } },
  guest: { roles: ['guest'] },
}
const lines: string[] = []
const service = await startService({
  registry,
  operations,
  credentials: callersNamed(callers),
  logger: pino({}, { write: (line) => lines.push(line) }),
})
await service.fill([
  {
    resource: registry[0] as Resource,
    rows: [1, 2, 3].map((id) => ({ id, patient: `P${id}`, fee: id, vet_id: id % 2, closed: null, state: 'open' })),
  },
])
// Its own errors are not in the documents.
const client = clientOf(service.address)
const send = (method: string, path: string, key?: string, body?: unknown, headers = {}) =>
  client.send(`/api${path}`, {
    method,
    headers: { ...(key && { authorization: `Bearer ${key}` }), 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const test = suite('custom operations')

test('an operation reads and writes with the rights of its caller, and as the service', async () => {
  const closed = await send('POST', '/v1/visits/1/close', 'vet', { amount: 5 })
  assert.equal([closed.status, closed.body.visit.state, closed.body.bill], [200, 'closed', 1])
  assert.equal((await send('GET', '/v1/bills', 'desk')).body.meta.total, 1)
  const again = await send('POST', '/v1/visits/1/close', 'vet', { amount: 5 })
  assert.is(again.status, 409)
  assert.equal(again.body, { error: { code: 'closed', message: 'This visit is closed.', details: { by: 'vet' } } })
  // Visit 2 is of another vet: for this one there is no such visit.
  assert.is((await send('POST', '/v1/visits/2/close', 'vet', { amount: 5 })).status, 404)
  assert.is((await send('POST', '/v1/visits/2/close', 'desk', { amount: 5 })).status, 200)
})

/** What the log has of a response, without its time. */
const loggedOf = async ({ headers }: TestResponse) => {
  await new Promise((done) => setTimeout(done, 10))
  return lines.map((line) => JSON.parse(line)).filter(({ id }) => id === headers['x-request-id'])
}

test('a value that breaks a rule inside is an error of the code: 500, logged with the write and its issues', async () => {
  const response = await send('POST', '/v1/visits/3/close', 'desk', { amount: -1 })
  assert.is(response.status, 500)
  assert.is(response.body.error.code, 'internal_error')
  assert.not.match(response.text, /amount|bills|loc|greater/)
  assert.is((await send('GET', '/v1/visits/3', 'desk')).body.state, 'open')
  const logged = JSON.stringify(await loggedOf(response))
  for (const part of ['close', 'bills', 'create', 'amount', 'greater_than_equal'])
    assert.ok(logged.includes(part), `${part}: ${logged}`)
})

test('a value that is not unique, or a reference to no row, is 409 without a place in a body', async () => {
  const bill = await send('POST', '/v1/bills', token, { visit_id: 3, amount: 1 })
  assert.is(bill.status, 201)
  const taken = await send('POST', '/v1/visits/3/close', 'desk', { amount: 1 })
  assert.equal([taken.status, taken.body.error.code], [409, 'conflict'])
  const issues = taken.body.error.details.issues as Record<string, unknown>[]
  assert.equal(
    issues.map(({ resource, field, type }) => ({ resource, field, type })),
    [{ resource: 'bills', field: 'visit_id', type: 'unique' }],
  )
  assert.not.match(taken.text, /"loc"/)
  assert.is((await send('GET', '/v1/visits/3', 'desk')).body.state, 'open')
})

test('a write of an operation has the rights of the caller', async () => {
  assert.is((await send('POST', '/v1/visits/3/touch', 'vet')).body.patient, 'touched')
  assert.is((await send('POST', '/v1/visits/2/touch', 'vet')).status, 404)
  assert.is((await send('POST', '/v1/visits/2/touch', 'guest')).status, 403)
})

test('who may: roles, the write token, everybody', async () => {
  assert.is((await send('POST', '/v1/visits/3/close', undefined, { amount: 1 })).status, 401)
  assert.is((await send('POST', '/v1/visits/3/close', 'unknown', { amount: 1 })).status, 401)
  assert.is((await send('POST', '/v1/visits/3/close', 'guest', { amount: 1 })).status, 403)
  assert.is((await send('POST', '/v1/broken', 'desk')).status, 403)
  const found = await send('GET', '/v1/reports/visits?state=closed')
  assert.equal(found.body, { state: 'closed', total: 2, mine: 0, caller: null })
  assert.equal((await send('GET', '/v1/reports/visits?state=closed', 'vet')).body.mine, 1)
})

test('parameters and bodies are checked by their schemas', async () => {
  for (const [body, loc] of [
    ['{', ['body']],
    [{}, ['body', 'amount']],
    [{ amount: 'x' }, ['body', 'amount']],
  ] as const) {
    const refused = await send('POST', '/v1/visits/3/close', 'desk', body)
    assert.is(refused.status, 422)
    assert.equal(refused.body.error.details.issues[0].loc, loc)
  }
  const twice = await send('GET', '/v1/reports/visits?state=a&state=b')
  assert.is(twice.status, 422)
  assert.equal(twice.body.detail[0].loc, ['query', 'state'])
  assert.is((await send('PUT', '/v1/visits/3/close', 'desk', {})).status, 405)
})

test('an idempotency key is refused only without a transaction', async () => {
  const key = { 'idempotency-key': 'x' }
  assert.equal((await send('POST', '/v1/mail', 'desk')).body, { sent: true })
  const refused = await send('POST', '/v1/mail', 'desk', undefined, key)
  assert.equal([refused.status, refused.body.error.code], [501, 'not_supported'])
  assert.is((await send('POST', '/v1/visits/3/touch', 'vet', undefined, key)).status, 200)
})

test('an error of the code, or a response that breaks its schema, is 500 without a word of it', async () => {
  for (const [method, path] of [
    ['POST', '/v1/broken'],
    ['GET', '/v1/wrong'],
  ] as const) {
    const failed = await send(method, path, token)
    assert.is(failed.status, 500)
    assert.not.match(failed.text, /secret|"n"|ZodError/)
  }
})

test('whatever the code returns or throws, the response is JSON, and is logged', async () => {
  for (const [what, status, expected] of [
    ['text', 200, '"<b>"'],
    ['nothing', 200, 'null'],
    ['bigint', 500, undefined],
    ['library', 500, undefined],
    ['status', 500, undefined],
    ['fraction', 500, undefined],
    ['details', 500, undefined],
  ] as const) {
    const response = await send('GET', `/v1/echo/odd?what=${what}`)
    assert.is(response.status, status, what)
    assert.match(String(response.headers['content-type']), /^application\/json/, what)
    if (expected) assert.is(response.text, expected)
    else assert.is(response.body.error.code, 'internal_error', what)
    assert.not.match(response.text, /secret/)
    assert.is(response.headers['x-other'], undefined)
    await new Promise((done) => setTimeout(done, 10))
    const logged = lines.map((line) => JSON.parse(line)).filter(({ id }) => id === response.headers['x-request-id'])
    const messages = logged.map(({ msg }) => msg)
    assert.equal(messages, status === 500 ? ['a request failed', 'request'] : ['request'], what)
  }
})

test('a query has only what was sent, and a list may have one value', async () => {
  const { body } = await send('GET', '/v1/echo/x?__proto__=a&toString=b&tags=c')
  assert.equal(Object.entries(body).sort(), [
    ['tags', ['c']],
    ['toString', 'b'],
  ])
  assert.is((await send('GET', '/v1/echo/x?even=odd')).status, 422)
  assert.equal((await send('GET', '/v1/echo/x?even=a')).body, { even: 'a' })
})

test('the message of several errors is sentences, whoever wrote the first', async () => {
  const { body } = await send('POST', '/v1/visits/1/close', 'desk', { amount: 1, from: 'a', to: 'b' })
  assert.is(body.error.message, 'Invalid ISO date. 2 errors; see error.details.issues.')
})

test('an operation beside rows lists only by what its caller may see', async () => {
  assert.is((await send('GET', '/v1/visits/found?fee=1', 'desk')).body.meta.total, 1)
  for (const query of ['fee=1', 'sort=fee']) {
    const failed = await send('GET', `/v1/visits/found?${query}`, 'vet')
    assert.equal([failed.status, failed.body.error.code], [403, 'forbidden'])
  }
})

test('the documents and the index have them', async () => {
  const { body } = await send('GET', '/openapi.json')
  const operation = body.paths['/v1/visits/{visit_id}/close'].post
  assert.is(operation.operationId, 'close')
  assert.equal(operation['x-access'], ['desk', 'vet'])
  assert.ok(operation.requestBody.content['application/json'].schema.properties.amount)
  assert.equal(body.paths['/v1/reports/visits'].get.parameters[0].name, 'state')
  const index = await send('GET', '')
  assert.equal(index.body.operations[0], { name: 'close', method: 'POST', path: '/api/v1/visits/{visit_id}/close' })
})

const get = "method: 'GET', about: 'X.', handle: () => 1"
const zod = JSON.stringify(import.meta.resolve('zod'))
/** Files of operations, and what is wrong with each. */
const files: Record<string, [source: string, ...messages: RegExp[]]> = {
  'a-none': ['export default 1', /the default export is not an operation/],
  'b-method': [
    "export default { method: 'get', path: 'x', about: '', handel: 1 }",
    /unknown property "handel"\. Did you mean "handle"\?/,
    /method is "get", but it must be one of GET/,
    /path is "x"/,
    /about is ""/,
    /handle is undefined/,
  ],
  'c-same': [`export default { ${get}, path: '/v1/x' }`],
  'd-same': [`export default { ${get}, path: '/v1/x' }`, /GET \/v1\/x is also the path of operations\/c-same\.ts/],
  'e-public': [`export default { ${get}, method: 'POST', path: '/v1/y', access: 'public' }`, /access is public/],
  'f-taken': [`export default { ${get}, path: '/v1/visits/{id}' }`, /.*choose another/],
  'g-throws': ['throw new Error("no")', /cannot be loaded: no/],
  'h-first': [`export default { ${get}, path: '/v1/{kind}/report' }`, /path is/],
  'i-twice': [`export default { ${get}, path: '/v1/a/{id}/{id}' }`, /path is .*its own name/],
  'j-one': [`export default { ${get}, path: '/v1/b/{one}' }`],
  'k-two': [
    `export default { ${get}, method: 'PUT', path: '/v1/b/{two}' }`,
    /\/v1\/b\/\{two\} is \/v1\/b\/\{one\} in operations\/j-one\.ts/,
  ],
  'get-visit': [`export default { ${get}, path: '/v1/d/0' }`, /another operation is called getVisit/],
  'm-same': [`export default { ${get}, path: '/v1/d/1' }`],
  m_same: [`export default { ${get}, path: '/v1/d/2' }`, /another operation is called mSame/],
  probe: [`export default { ${get}, path: '/v1/d/3' }`, /another operation is called probe/],
  'o-limit': [`export default { ${get}, method: 'POST', path: '/v1/d/5', timeoutMs: 30_001 }`, /timeoutMs is 30001/],
  'p-transaction': [
    `export default { ${get}, method: 'POST', path: '/v1/d/6', transaction: 'no' }`,
    /transaction is "no"/,
  ],
  'two words': [`export default { ${get}, path: '/v1/d/4' }`, /the name must have only/],
  'l-schema': [
    `import { z } from ${zod}
export default { ${get}, path: '/v1/c', query: z.object({ a: z.set(z.string()) }), response: z.json() }`,
    /query has a schema/,
    /response has a schema/,
  ],
  'n-good': [
    `import { defineOperation, z } from 'resource-registry-engine'
export default defineOperation({ method: 'POST', path: '/v1/e', about: 'E.', query: z.object({ a: z.string() }), body: z.array(z.int()), response: z.object({ b: z.boolean() }), handle: () => ({ b: true }) })`,
  ],
}

test('files with mistakes are refused, all at once', async () => {
  const { path: project } = temporaryFolder('operations')
  const folder = join(project, 'operations')
  mkdirSync(folder)
  for (const [name, [source]] of Object.entries(files)) writeFileSync(join(folder, `${name}.ts`), source)
  const { message } = await loadOperations(project, registry).then(
    () => new Error('loaded'),
    (error: Error) => error,
  )
  for (const [name, [, ...expected]] of Object.entries(files)) {
    if (expected.length === 0) assert.not.match(message, `operations/${name}.ts:`)
    for (const { source } of expected) assert.match(message, new RegExp(`operations/${name}\\.ts(?::\\d+)?: ${source}`))
  }
  assert.equal(await loadOperations(folder, []), [])
})

test.run()
