/** Rules between the fields of a row, and the steps of a status: on creates, on updates, and on updates at once. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { date, decimal, integer, json, text } from '../../engine/descriptor/index.js'
import { describeDifference } from '../../engine/storage/migration/difference.js'
import { openStorage, planStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl } from '../support/database.js'
import { ordered, resourceIn } from '../support/registryFrom.js'
import { authorized, sessionOf, startService, type TestResponse } from '../support/service.js'
import { testTranscripts, transcriptWith } from '../support/transcript.js'

let isBroken = false

const visits = resourceIn(
  'visits',
  {
    from: date(),
    to: date(),
    low: integer(),
    high: integer(),
    price: decimal({ digits: 10, places: 2 }),
    paid: decimal({ digits: 10, places: 2 }),
    status: text({
      oneOf: ['Pending', 'Approved', 'Rejected', 'Archived'],
      next: { Pending: ['Approved', 'Rejected'], Approved: ['Archived'] },
    }),
    extra: json(),
    note: text(),
  },
  {
    update: true,
    delete: true,
    rules: [
      {
        fields: ['from', 'to'],
        holds: ({ from, to }) => (from as string) <= (to as string),
        message: 'to must not be before from',
      },
      ordered('low', 'high'),
      {
        fields: ['price', 'paid'],
        holds: ({ price, paid }) => (paid as bigint) <= (price as bigint),
        message: 'paid must not be more than price',
      },
      { fields: ['extra'], holds: ({ extra }) => !Array.isArray(extra), message: 'extra must not be an array' },
      {
        fields: ['note'],
        holds: ({ note }) => {
          if (note === 'throw' && isBroken) throw new Error('the rule has a mistake')
          return note === 'text' && isBroken ? ('yes' as unknown as boolean) : true
        },
        message: 'never',
      },
    ],
  },
)

const { address, get, send, create, change, fill } = await startService({ registry: [visits], explorer: true })

const issuesOf = ({ status, body, text: sent }: TestResponse): unknown[] => {
  assert.is(status, 422, sent)
  return body.error.details.issues.map(({ type, loc, msg }: { type: string; loc: string[]; msg: string }) => [
    type,
    loc[1],
    msg,
  ])
}
const test = suite('rules between fields')

test('a create must keep every rule whose fields have values', async () => {
  const broken = { from: '2026-03-02', to: '2026-03-01', low: 2, high: 1, price: '9.99', paid: '10.00', extra: [1] }
  assert.equal(issuesOf(await create('visits', broken)), [
    ['rule', 'to', 'to must not be before from'],
    ['rule', 'high', 'high must not be less than low'],
    ['rule', 'paid', 'paid must not be more than price'],
    ['rule', 'extra', 'extra must not be an array'],
  ])
  for (const body of [
    { from: '2026-03-02', to: null },
    { to: '2026-03-01' },
    { from: '2026-03-01', to: '2026-03-01' },
    { low: -1, high: 0 },
    { price: '10', paid: '9.5' },
    { price: '100.00', paid: '99.99' },
    { extra: { list: [] } },
  ])
    assert.is((await create('visits', body)).status, 201, JSON.stringify(body))
})

testTranscripts(test, transcriptWith({ send }), {
  'a rule is not evaluated for values that are invalid, and reported with the errors of others': `
    POST visits {"from":"x","to":"2026-03-01","low":2,"high":1} -> 422 date_parsing body from, rule body high`,
  'an update must keep the rules of the fields that it changes, with the values that the row has': `
    row = POST visits {"from":"2026-03-01","to":"2026-03-05","low":1,"high":5} -> 201
    PATCH visits/{row} {"from":"2026-03-06"} -> 422 rule body to
    PATCH visits/{row} {"high":0} -> 422 rule body high
    PATCH visits/{row} {"from":"2026-03-06","to":"2026-03-07"} -> 200
    PATCH visits/{row} {"from":"2026-04-01","to":null} -> 200
    GET visits/{row} -> 200 {"from":"2026-04-01"}`,
  'a retry of a step that was made succeeds again': `
    row = POST visits {"status":"Pending"} -> 201
    PATCH visits/{row} idempotency-key=once {"status":"Approved"} -> 200 {"status":"Approved"}
    PATCH visits/{row} {"status":"Archived"} -> 200
    PATCH visits/{row} idempotency-key=once {"status":"Approved"} -> 200 replayed {"status":"Approved"}
    GET visits/{row} -> 200 {"status":"Archived"}`,
  'If-Match is compared with the row that the client read': `
    row = POST visits {"low":1,"high":2} -> 201
    row = GET visits/{row} -> 200
    PATCH visits/{row} if-match={row.tag} {"high":3} -> 200
    PATCH visits/{row} if-match={row.tag} {"high":4} -> 412`,
})

test('rows that broke a rule before can still be changed otherwise', async () => {
  await fill([{ resource: visits, rows: [{ id: 900, from: '2026-05-02', to: '2026-05-01' }] }])
  // What changes nothing is no change.
  await transcriptWith({ send })(`
    PATCH visits/900 {"note":"kept"} -> 200
    PATCH visits/900 {"to":"2026-05-01"} -> 200
    PATCH visits/900 {"to":"2026-04-30"} -> 422 rule body to
    PATCH visits/900 {"to":"2026-05-02"} -> 200`)
})

test('a status takes the steps that are allowed', async () => {
  const at = async (status: string | null) => `visits/${(await create('visits', { status })).body.id}`
  const steps: [from: string | null, to: string | null, expected: string[] | undefined][] = [
    ['Pending', 'Approved', undefined],
    ['Pending', 'Rejected', undefined],
    ['Pending', 'Pending', undefined],
    ['Pending', 'Archived', ['Approved', 'Rejected']],
    ['Pending', null, ['Approved', 'Rejected']],
    ['Approved', 'Archived', undefined],
    ['Approved', 'Pending', ['Archived']],
    ['Rejected', 'Pending', []],
    ['Archived', null, []],
    [null, 'Archived', undefined],
  ]
  for (const [from, to, expected] of steps) {
    const response = await change(await at(from), { status: to })
    const what = `${from} to ${to}`
    if (!expected) assert.equal([response.status, response.body.status], [200, to], what)
    else {
      const [issue] = response.body.error.details.issues
      assert.equal(
        [response.status, issue.type, issue.loc, issue.ctx],
        [422, 'transition', ['body', 'status'], { from, expected }],
        what,
      )
    }
  }
  await fill([{ resource: visits, rows: [{ id: 9_000_001, status: 'Forgotten' }] }])
  assert.is((await change('visits/9000001', { status: 'Approved' })).status, 200)
  const wrong = await change(await at('Rejected'), { status: 'Approved' })
  assert.is(wrong.body.error.details.issues[0].msg, 'status cannot change from "Rejected" to "Approved"; it is final.')
  const other = await change(await at('Pending'), { status: 'Archived' })
  assert.is(
    other.body.error.details.issues[0].msg,
    'status cannot change from "Pending" to "Archived"; it may become "Approved" or "Rejected".',
  )
})

test('updates at once never break a rule, or a step, together', async () => {
  for (let round = 0; round < 8; round++) {
    const { body: row } = await create('visits', { low: 0, high: 10, status: 'Pending' })
    const path = `visits/${row.id}`
    const sent = Array.from({ length: 12 }, (_, n) =>
      n % 3 === 0 ? { low: 3 + n } : n % 3 === 1 ? { high: 2 + n } : { status: n % 2 ? 'Approved' : 'Rejected' },
    )
    const responses = await Promise.all(sent.map((body) => change(path, body)))
    for (const { status, text: body } of responses) assert.ok([200, 422].includes(status), body)
    const { body: now } = await get(`/v1/${path}`)
    assert.ok(now.low <= now.high, JSON.stringify(now))
    const taken = responses.flatMap(({ status }, n) => (status === 200 ? (sent[n]?.status ?? []) : []))
    assert.equal(new Set(taken).size, 1, 'two ways from Pending were taken')
    assert.ok(taken.includes(now.status))
  }
})

test('a rule that throws, or returns no boolean, is an error of the service, and nothing is stored', async () => {
  isBroken = true
  const { total } = (await get('/v1/visits')).body.meta
  for (const note of ['throw', 'text']) {
    // The documents do not promise errors of the service.
    const request = { method: 'POST', headers: authorized, body: JSON.stringify({ note }) }
    assert.is((await fetch(`${address}/api/v1/visits`, request)).status, 500, note)
  }
  assert.is((await get('/v1/visits')).body.meta.total, total)
  isBroken = false
})

test('the forms offer the steps that are allowed, and state the rules', async () => {
  const { body: row } = await create('visits', { status: 'Approved' })
  const headers = { cookie: await sessionOf(address) }
  const { text: edit } = await send(`/explore/visits/${row.id}/edit`, { headers })
  const [select = ''] = /<select id="field-status".*?<\/select>/s.exec(edit) ?? []
  assert.equal(
    [...select.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value),
    ['Approved', 'Archived'],
  )
  const { text: form } = await send('/explore/visits/new', { headers })
  for (const value of ['Pending', 'Approved', 'Rejected', 'Archived'])
    assert.ok(form.includes(`<option value="${value}"`))
  for (const page of [edit, form]) assert.match(page, /To must not be before from/)
})

test('a plan counts the stored rows that break a rule', async () => {
  const url = await freshUrl()
  const storage = await openStorage([visits], url, { ...storageOptions, demo: false })
  await storage.fill([
    {
      resource: visits,
      rows: [
        { id: 1, from: '2026-05-02', to: '2026-05-01', price: '1.00', paid: '2.00' },
        { id: 2, from: '2026-05-02', to: '2026-05-01' },
        { id: 3, from: '2026-05-02', low: 1, high: 2, extra: '{"a":[]}' },
      ],
    },
  ])
  await storage.close()
  const { differences } = await planStorage([visits], url, 5_000, { withValues: true })
  const advice = 'These rows are served as they are; correct them, or change the rule.'
  assert.equal(differences.map(describeDifference), [
    `table "visits": 2 rows (id 1, 2) have values that break a rule: to must not be before from. ${advice}`,
    `table "visits": 1 row (id 1) has values that break a rule: paid must not be more than price. ${advice}`,
  ])
})

test('the documents have the rules, and the steps as a table', async () => {
  const { components } = (await get('/openapi.json')).body
  const {
    description,
    'x-rules': rules,
    properties,
  } = components.schemas.VisitsUpdate ?? components.schemas.visitsUpdate
  assert.match(description, /to must not be before from\./)
  assert.equal(rules[0], { fields: ['from', 'to'], message: 'to must not be before from' })
  assert.match(properties.status.description, /\| Pending \| Approved, Rejected \|/)
  assert.equal(properties.status['x-next'].Approved, ['Archived'])
})

test.run()
