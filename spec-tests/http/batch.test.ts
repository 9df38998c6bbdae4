/** Several writes at once: in order, all or none, with references to rows that are created before. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, json, now, text, timestamp, uuid } from '../../engine/descriptor/index.js'
import { ordered, resourceIn } from '../support/registryFrom.js'
import { authorized, startService, type TestResponse } from '../support/service.js'
import { testTranscripts, transcriptWith } from '../support/transcript.js'

const open = { create: true, update: true, delete: true } as const
const invoices = resourceIn(
  'invoices',
  {
    title: text({ unique: true, maxLength: 50 }),
    state: text({ oneOf: ['draft', 'sent', 'paid'], next: { draft: ['sent'], sent: ['paid'] }, default: 'draft' }),
    low: integer(),
    high: integer(),
    changed: timestamp({ managed: now, onUpdate: now }),
  },
  { required: ['title', 'state'], rules: [ordered('low', 'high')], ...open },
)
const lines = resourceIn(
  'lines',
  {
    invoice_id: integer({ references: 'invoices', onDelete: 'cascade', filter: true }),
    other_id: integer({ references: 'invoices' }),
    order_id: uuid({ references: 'orders', onDelete: 'set null' }),
    land: text({ references: 'lands' }),
    extra: json(),
    amount: integer(),
  },
  {
    rules: [
      {
        fields: ['invoice_id', 'other_id'],
        holds: ({ invoice_id, other_id }) => invoice_id !== other_id,
        message: 'the same',
      },
    ],
    ...open,
  },
)
const orders = resourceIn('orders', { title: text() }, { id: 'uuid', ...open })
const lands = resourceIn('lands', { title: text() }, { id: 'text', ...open })
const notes = resourceIn('notes', { body: text() }, { create: false })
const { send, get, create, change } = await startService({
  registry: [invoices, lines, orders, lands, notes],
  batch: true,
})

const post = (path: string, body: object, as?: string) => ({ method: 'POST', path: `/v1/${path}`, body, as })
const patch = (path: string, body: object) => ({ method: 'PATCH', path: `/v1/${path}`, body })
const remove = (path: string) => ({ method: 'DELETE', path: `/v1/${path}` })
const raw = (body: string) => send('/api/v1/batch', { method: 'POST', headers: authorized, body })
const batch = (operations: readonly unknown[]) => raw(JSON.stringify({ operations }))

const resultsOf = ({ status, body, text: sent }: TestResponse) => {
  assert.is(status, 200, sent)
  return body.results
}
const statusesOf = (results: { status: number }[]) => results.map(({ status }) => status)
/** The status, the index of the operation, and each issue: its type, and its place in the operation. */
const failed = ({ status, body, text: sent }: TestResponse) => {
  assert.ok(status >= 400, sent)
  const { operation, issues = [] } = body.error.details ?? {}
  const issueOf = ({ type, loc }: { type: string; loc: unknown[] }) => {
    if (operation === undefined) return [type, ...loc].join(' ')
    assert.equal(loc.slice(0, 3), ['body', 'operations', operation])
    return [type, ...loc.slice(3)].join(' ')
  }
  return [status, operation, ...issues.map(issueOf)]
}
const totals = async () =>
  Promise.all(
    ['invoices', 'lines', 'orders', 'lands'].map(async (path) => (await get(`/v1/${path}?limit=1`)).body.meta.total),
  )

const test = suite('batch')

test('an invoice with its lines, by references to ids that are not known yet', async () => {
  const results = resultsOf(
    await batch([
      post('invoices', { title: 'First' }, 'invoice'),
      post('orders', { title: 'Order' }, 'order'),
      post('lands', { id: 'nl', title: 'NL' }, 'land'),
      post('lines', {
        invoice_id: { $ref: 'invoice.id' },
        order_id: { $ref: 'order.id' },
        land: { $ref: 'land.id' },
        extra: { $ref: 'invoice.id', a: 12 },
      }),
      post('lines', { invoice_id: { $ref: 'invoice.id' }, amount: 2, extra: { $ref: 'invoice.id' } }),
    ]),
  )
  assert.equal(statusesOf(results), [201, 201, 201, 201, 201])
  const [invoice, order, land, first, second] = results.map(({ body }: { body: object }) => body)
  assert.equal([first.invoice_id, first.order_id, first.land], [invoice.id, order.id, land.id])
  assert.equal([second.invoice_id, second.extra], [invoice.id, { $ref: 'invoice.id' }])
  assert.equal((await get(`/v1/lines/${first.id}`)).body, first)
})

test('later operations see earlier ones: changes, deletes and cascades', async () => {
  const { body: invoice } = await create('invoices', { title: 'Second', low: 1, high: 5 })
  const { body: line } = await create('lines', { invoice_id: invoice.id })
  const results = resultsOf(
    await batch([
      patch(`invoices/${invoice.id}`, { state: 'sent' }),
      patch(`invoices/${invoice.id}`, { state: 'paid', low: 4 }),
      patch(`invoices/${invoice.id}`, { high: 4 }),
      post('lands', { id: 'de' }),
      patch('lands/de', { title: 'Deutschland' }),
      remove('lands/de'),
      post('lands', { id: 'de', title: 'again' }),
    ]),
  )
  assert.equal(statusesOf(results), [200, 200, 200, 201, 200, 204, 201])
  assert.equal([results[2].body.state, results[2].body.low, results[2].body.high], ['paid', 4, 4])
  assert.equal(results[5], { status: 204 })
  assert.equal(
    failed(await batch([remove(`invoices/${invoice.id}`), patch(`lines/${line.id}`, { amount: 1 })])),
    [404, 1],
  )
  assert.equal(resultsOf(await batch([remove(`invoices/${invoice.id}`)])), [{ status: 204 }])
  assert.is((await get(`/v1/lines/${line.id}`)).status, 404)
})

await create('lands', { id: 'used' })
await create('lines', { land: 'used' })
const made = post('invoices', { title: 'Third' }, 'third')
const twoIssues = post('lines', { amount: 'x', invoice_id: 77_777 })
const sameTwice = post('lines', { invoice_id: { $ref: 'third.id' }, other_id: { $ref: 'third.id' } })
const failures: [name: string, operations: unknown[], status: number, operation: number, ...issues: string[]][] = [
  ['a missing row', [made, post('lines', { invoice_id: 99_999 })], 422, 1, 'reference body invoice_id'],
  ['a name twice', [made, made], 422, 1, 'unique as'],
  ['a value twice', [made, { ...made, as: 'other' }], 422, 1, 'unique body title'],
  ['an unknown name', [made, post('lines', { invoice_id: { $ref: 'no.id' } })], 422, 1, 'reference body invoice_id'],
  ['no id', [made, post('lines', { invoice_id: { $ref: 'third.title' } })], 422, 1, 'reference body invoice_id'],
  ['two issues', [made, twoIssues], 422, 1, 'int_type body amount', 'reference body invoice_id'],
  ['the first', [post('lines', { amount: 'x' }), { method: 'PUT', path: '' }], 422, 0, 'int_type body amount'],
  ['PUT', [made, { method: 'PUT', path: '/v1/lines', body: {} }], 422, 1, 'enum method'],
  ['an unknown resource', [made, post('lines', {}), post('nothing', {})], 404, 2],
  ['a row that is not there', [made, patch('invoices/999999', { title: 'x' })], 404, 1],
  ['an id that is none', [made, patch('invoices/abc', { title: 'x' })], 404, 1],
  ['a row that is referenced', [made, remove('lands/used')], 409, 1],
  ['a resource without creates', [made, post('notes', { body: 'x' })], 422, 1, 'enum method'],
  ['an update of all rows', [made, patch('invoices', { title: 'x' })], 422, 1, 'enum method'],
  ['a query', [made, { ...post('lines', {}), path: '/v1/lines?x=1' }], 404, 1],
  ['an unknown member', [made, { ...post('lines', {}), extra: 1 }], 422, 1, 'extra_forbidden extra'],
  ['no body', [made, { method: 'POST', path: '/v1/lines' }], 422, 1, 'missing body'],
  ['no object', [made, 5], 422, 1, 'object_type'],
  ['a rule', [made, post('invoices', { title: 'Rule', low: 5, high: 1 })], 422, 1, 'rule body high'],
  ['a rule of two references', [made, sameTwice], 422, 1, 'rule body other_id'],
]
for (const [name, operations, ...expected] of failures)
  test(`the first operation that fails decides, and nothing is stored: ${name}`, async () => {
    const before = await totals()
    assert.equal(failed(await batch(operations)), expected)
    assert.equal(await totals(), before)
  })

test('rules and steps are evaluated for the row as it is then', async () => {
  const { body: invoice } = await create('invoices', { title: 'Ruled', low: 1, high: 5 })
  const path = `invoices/${invoice.id}`
  for (const [one, other, issue] of [
    [{ low: 5 }, { high: 4 }, 'rule body high'],
    [{ state: 'sent' }, { state: 'draft' }, 'transition body state'],
  ] as const)
    assert.equal(failed(await batch([patch(path, one), patch(path, other)])), [422, 1, issue])
  assert.is(resultsOf(await batch([patch(path, { low: -5 }), patch(path, { high: -4 })])).length, 2)
  const both = await Promise.all([
    batch([patch(path, { low: -4 })]),
    batch([patch(path, { high: -5 })]),
    batch([patch(path, { low: -4 }), patch(path, { high: -4 })]),
    change(path, { high: -5 }),
  ])
  for (const { status } of both) assert.ok([200, 422].includes(status), String(status))
  const { low, high } = (await get(`/v1/${path}`)).body
  assert.ok(low <= high, `${low} ${high}`)
})

test('a row with rules may be changed many times, also after a delete that changes others', async () => {
  const { body: invoice } = await create('invoices', { title: 'Often', low: 0, high: 0 })
  const { body: order } = await create('orders', { title: 'Gone' })
  const { body: line } = await create('lines', { order_id: order.id, invoice_id: invoice.id })
  const path = `invoices/${invoice.id}`
  const steps = Array.from({ length: 60 }, (_, n) => patch(path, n % 2 === 0 ? { high: n + 1 } : { low: n }))
  const removal = [
    patch(`lines/${line.id}`, { amount: 1 }),
    remove(`orders/${order.id}`),
    patch(`lines/${line.id}`, { amount: 2 }),
  ]
  const results = resultsOf(await batch([...steps, ...removal, patch(path, { low: 58 })]))
  assert.equal([results[59].body.low, results[59].body.high], [59, 59])
  assert.equal([results[62].body.order_id, results[62].body.amount, results[63].body.low], [null, 2, 58])
})

testTranscripts(test, transcriptWith({ send }), {
  'ifMatch is that of the row as it is then': `
    order = POST orders {"title":"Tagged"} -> 201
    order = GET orders/{order} -> 200
    BATCH PATCH orders/{order} if-match="other" {"title":"x"} -> 412 {"error":{"details":{"operation":0}}}
    BATCH PATCH orders/{order} if-match={order.tag} {"title":"y"} -> 200
    BATCH DELETE orders/{order} if-match={order.tag} -> 412 {"error":{"details":{"operation":0}}}
    invoice = POST invoices {"title":"Tagged"} -> 201
    invoice = GET invoices/{invoice} -> 200
    BATCH PATCH invoices/{invoice} if-match="x" {"low":1} -> 412 {"error":{"details":{"operation":0}}}
    BATCH PATCH invoices/{invoice} if-match={invoice.tag} {"low":1} -> 200
    BATCH PATCH invoices/{invoice} if-match={invoice.tag} {"low":2} -> 412 {"error":{"details":{"operation":0}}}`,
  'what comes first for a single request comes first here too': `
    order = POST orders {"title":"First"} -> 201
    BATCH PATCH orders/0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d {"nothing":1} -> 404 {"error":{"details":{"operation":0}}}
    BATCH DELETE orders/{order} & PATCH orders/{order} {"nothing":1} -> 404 {"error":{"details":{"operation":1}}}
    BATCH PATCH orders/{order} if-match="x" {"nothing":1} -> 412 {"error":{"details":{"operation":0}}}
    BATCH PATCH orders/{order} {"nothing":1} -> 422 extra_forbidden body operations 0 body nothing
    invoice = POST invoices {"title":"Steps"} -> 201
    BATCH PATCH invoices/{invoice} {"state":"sent"} & PATCH invoices/{invoice} {"state":"paid","low":"x"} -> 422 int_type body operations 1 body low`,
  'a key replays the whole batch': `
    BATCH idempotency-key=batch-1 POST orders {"title":"Once"} & POST lands {"id":"once"} -> 200
    BATCH idempotency-key=batch-1 POST orders {"title":"Once"} & POST lands {"id":"once"} -> 200 replayed {"results":[{"status":201,"body":{"title":"Once"}},{"status":201,"body":{"id":"once"}}]}
    BATCH idempotency-key=batch-1 POST orders {"title":"Twice"} -> 422 idempotency_key_reused header Idempotency-Key`,
})

test('a reference names an earlier row by its name, which may be empty, and its id', async () => {
  const invoice = post('invoices', { title: 'Empty name' }, '')
  for (const [field, $ref, status] of [
    ['invoice_id', 'nonsense', 422],
    ['invoice_id', '', 422],
    ['invoice_id', '.title', 422],
    ['amount', 'nobody.id', 422],
    ['invoice_id', '.id', 200],
  ] as const)
    assert.is((await batch([invoice, post('lines', { [field]: { $ref } })])).status, status, `${field} ${$ref}`)
  for (const body of ['{"operations":[{"method":"DELETE","path":"/v1/lands/nl"}}}', '{"operations":[}}'])
    assert.is((await raw(body)).status, 422)
})

test('bodies that are no batch', async () => {
  // biome-ignore format: one list
  for (const body of [
    '', '[]', '{}', '{"operations":{}}', '{"operations":[', '{"operations":[]', '{"operations":[],"x":1}', '1',
    '{"operations":[{}],}',
  ])
    assert.is((await raw(body)).status, 422, body)
  assert.equal(resultsOf(await raw(' { "operations" : [ ] } ')), [])
  assert.is((await batch(Array.from({ length: 1_001 }, () => remove('lands/none')))).status, 422)
  assert.is((await send('/api/v1/batch', { method: 'POST', body: '{}' })).status, 401)
  assert.is((await send('/api/v1/batch')).status, 405)
  const other = { method: 'POST', path: '/api/v1/orders', body: {} }
  assert.equal(failed(await batch([post('orders', {}), other, remove('lands/none')])), [404, 2])
})

test('another member beside the operations is named, wherever it is', async () => {
  const made = JSON.stringify(post('orders', { title: 'Beside' }))
  const unknown = (name: string) => `extra_forbidden body ${name}`
  for (const [body, ...issues] of [
    [`{"operations":[${made}],"x":1}`, unknown('x')],
    [`{"x":1,"operations":[${made}]}`, unknown('x')],
    ['{"x":1,"operations":{},"y":2}', unknown('x'), unknown('y'), 'list_type body operations'],
    ['{"operation":[]}', unknown('operation'), 'missing body operations'],
    ['{"operations":[5],"x":1}', unknown('x')],
    ['{}', 'missing body operations'],
    ['{"operations":null}', 'list_type body operations'],
    ['{"operations":[],"operations":[]}', 'list_type body'],
    ['[]', 'list_type body'],
    ['{"x":1', 'json_invalid body'],
  ] as const)
    assert.equal(failed(await raw(body)), [422, undefined, ...issues], body)
})

test('1,000 operations are made in order', async () => {
  const operations = Array.from({ length: 999 }, (_, n) =>
    post('lines', { invoice_id: { $ref: 'many.id' }, amount: n }),
  )
  const results = resultsOf(await batch([post('invoices', { title: 'Many' }, 'many'), ...operations]))
  assert.is(results.length, 1_000)
  assert.equal(results[999].body.amount, 998)
  assert.is((await get(`/v1/lines?invoice_id=${results[0].body.id}&limit=1`)).body.meta.total, 999)
})

test('without batch in the product there is none', async () => {
  const other = await startService({ registry: [orders] })
  assert.is((await other.send('/api/v1/batch', { method: 'POST', headers: authorized, body: '{}' })).status, 404)
})

test('the document has the bodies of creates and updates, or one with the id of an earlier row', async () => {
  const { body: document } = await get('/openapi.json')
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
  ajv.addSchema(document, 'document')
  const schema = '/paths/~1v1~1batch/post/requestBody/content/application~1json/schema'
  const isValid = ajv.compile({ $ref: `document#${schema}` })
  const lineOf = (body: object) => ({ operations: [post('lines', body)] })
  assert.ok(isValid(lineOf({ invoice_id: 1, amount: 2 })))
  assert.ok(isValid(lineOf({ invoice_id: { $ref: 'invoice.id' }, land: { $ref: 'land.id' }, amount: 2 })))
  assert.ok(isValid({ operations: [patch('lines/1', { order_id: { $ref: 'order.id' } }), remove('lines/1')] }))
  assert.not.ok(isValid(lineOf({ invoice_id: 1, amount: '2' })))
  assert.not.ok(isValid(lineOf({ amount: { $ref: 'invoice.id' } })))
  assert.not.ok(isValid(lineOf({ invoice_id: { $ref: 7 } })))
  const refs = JSON.stringify(document.paths['/v1/batch'].post.requestBody).match(/"#[^"]*"/g)
  assert.ok(refs?.includes('"#/components/schemas/LinesCreate"'), String(refs))
})

test.run()
