/** Operations of one's own: their parameters, callers, tools, errors and documents. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/access.js'
import { ApiError, date, defineOperation, integer, text, z } from '../../engine/descriptor/index.js'
import { loadOperations } from '../../engine/descriptor/operationFiles.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { clientOf, startService, token } from '../support/service.js'

const visits = resourceIn(
  'visits',
  {
    patient: text(),
    diagnosis: text({ readBy: ['desk'], filter: true }),
    vet_id: integer({ filter: true }),
    closed: date(),
    state: text({ filter: true }),
  },
  {
    create: true,
    update: true,
    access: {
      read: ['desk', { vet_id: claim('vet_id') }],
      create: 'desk',
      update: ['desk', { vet_id: claim('vet_id') }],
    },
  },
)
const bills = resourceIn(
  'bills',
  { visit_id: integer({ references: 'visits', filter: true, unique: true }), amount: integer({ min: 0, range: true }) },
  { create: true, access: { read: 'desk', create: 'desk' } },
)

const close = defineOperation({
  method: 'POST',
  path: '/v1/visits/{visit_id}/close',
  about: 'Closes a visit, and writes its bill.',
  access: ['desk', 'vet'],
  body: z.object({ amount: z.int() }),
  response: z.object({ visit: z.looseObject({ state: z.string() }), bill: z.number() }),
  async handle({ params, body, caller, resources, asService }) {
    const visit = await resources['visits']?.get(params['visit_id'] ?? '')
    if (!visit) throw new ApiError(404, 'not_found', 'There is no such visit.')
    if (visit['state'] === 'closed') throw new ApiError(409, 'closed', 'This visit is closed.', { by: caller.name })
    // The vet may see the visit; the bill is the service's own matter.
    const [changed, made] = await asService.batch([
      { method: 'PATCH', path: `/v1/visits/${visit['id']}`, body: { state: 'closed' } },
      { method: 'POST', path: '/v1/bills', body: { visit_id: visit['id'], amount: body.amount } },
    ])
    return { visit: changed?.body as { state: string }, bill: Number(made?.body?.['id']) }
  },
})
const report = defineOperation({
  method: 'GET',
  path: '/v1/reports/visits',
  about: 'Counts visits by state.',
  access: 'public',
  query: z.object({ state: z.string().default('open') }),
  response: z.object({ state: z.string(), total: z.int(), mine: z.int(), caller: z.string().nullable() }),
  async handle({ query: { state }, resources, asService, caller }) {
    const { meta } = await asService.resources.of(visits as never).list({ state, limit: 1 })
    const mine = await resources['visits']?.list({ state })
    return { state, total: meta.total, mine: mine?.meta.total ?? 0, caller: caller.name ?? null }
  },
})
const touch = defineOperation({
  method: 'POST',
  path: '/v1/visits/{visit_id}/touch',
  about: 'Changes a visit with the rights of the caller.',
  access: 'signed-in',
  async handle({ params, batch }) {
    return batch([{ method: 'PATCH', path: `/v1/visits/${params['visit_id']}`, body: { patient: 'touched' } }])
  },
})
const find = defineOperation({
  method: 'GET',
  path: '/v1/find',
  about: 'Looks for a secret.',
  access: 'signed-in',
  query: z.looseObject({}),
  handle: ({ query, resources }) => resources['visits']?.list(query as Record<string, string>),
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

const named = { close, report, touch, find, broken, 'wrong-answer': wrongAnswer }
const operations = Object.entries(named).map(([name, one]) => ({
  ...one,
  name,
  access: [one.access ?? []].flat(),
})) as never[]
const callers = {
  desk: { roles: ['desk'] },
  vet: { roles: ['vet'], claims: { vet_id: 1 } },
  guest: { roles: ['guest'] },
}
const service = await startService({ registry: [visits, bills], operations, credentials: callersNamed(callers) })
await service.fill([
  {
    resource: visits,
    rows: [1, 2, 3].map((id) => ({ id, patient: `P${id}`, vet_id: id % 2, closed: null, state: 'open' })),
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

const test = suite('operations of one’s own')

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

test('what a batch would answer is thrown, and becomes the response', async () => {
  const refused = await send('POST', '/v1/visits/3/close', 'desk', { amount: -1 })
  assert.is(refused.status, 422)
  assert.is(refused.body.error.code, 'validation_error')
  assert.is((await send('GET', '/v1/visits/3', 'desk')).body.state, 'open')
  assert.equal(refused.body.error.details.issues[0].loc, ['body', 'operations', 1, 'body', 'amount'])
})

test('a batch of an operation has the rights of the caller', async () => {
  assert.is((await send('POST', '/v1/visits/3/touch', 'vet')).body[0].body.patient, 'touched')
  assert.is((await send('POST', '/v1/visits/2/touch', 'vet')).status, 404)
  assert.is((await send('POST', '/v1/visits/2/touch', 'guest')).status, 403)
})

test('a list of an operation does not take fields that are hidden from the caller', async () => {
  assert.is((await send('GET', '/v1/find?diagnosis=x', 'desk')).body.meta.total, 0)
  const refused = await send('GET', '/v1/find?diagnosis=x', 'vet')
  assert.equal([refused.status, refused.body.error.details.detail[0].type], [422, 'extra_forbidden'])
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
  assert.is((await send('POST', '/v1/visits/3/close', 'desk', { amount: 1 }, { 'idempotency-key': 'x' })).status, 501)
  assert.is((await send('PUT', '/v1/visits/3/close', 'desk', {})).status, 405)
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

test('files with mistakes are refused, all at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'operations-'))
  try {
    mkdirSync(folder, { recursive: true })
    const write = (name: string, source: string) => writeFileSync(join(folder, `${name}.js`), source)
    const good = "method: 'GET', path: '/v1/x', about: 'X.', handle: () => 1"
    write('a-none', 'export default 1')
    write('b-method', "export default { method: 'get', path: 'x', about: '', handel: 1 }")
    write('c-same', `export default { ${good} }`)
    write('d-same', `export default { ${good} }`)
    write(
      'e-public',
      "export default { method: 'POST', path: '/v1/y', about: 'Y.', access: 'public', handle: () => 1 }",
    )
    write('f-taken', "export default { method: 'GET', path: '/v1/visits/{id}', about: 'Y.', handle: () => 1 }")
    write('g-throws', 'throw new Error("no")')
    const { message } = await loadOperations(folder, [visits, bills]).then(
      () => new Error('loaded'),
      (error: Error) => error,
    )
    for (const expected of [
      /operations\/a-none\.ts: the default export is not an operation/,
      /b-method\.ts: unknown property "handel"\. Did you mean "handle"\?/,
      /b-method\.ts: method is "get", but it must be one of GET/,
      /b-method\.ts: path is "x"/,
      /b-method\.ts: about is ""/,
      /b-method\.ts: handle is undefined/,
      /d-same\.ts: GET \/v1\/x is also the path of operations\/c-same\.ts/,
      /e-public\.ts: access is public/,
      /f-taken\.ts: .*choose another/,
      /g-throws\.ts: cannot be loaded: no/,
    ])
      assert.match(message, expected)
    assert.equal(await loadOperations(join(folder, 'missing'), []), [])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.run()
