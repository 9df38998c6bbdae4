/** The forms of custom operations: who sees them, their controls, and how a session sends them. */
import { SignJWT } from 'jose'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { defineOperation, text, z } from '../../engine/descriptor/index.js'
import type { OperationContext } from '../../engine/descriptor/operation.js'
import { tokenVerifier } from '../../engine/http/tokens.js'
import { callersNamed } from '../support/callers.js'
import { operationsNamed } from '../support/ownOperations.js'
import { resourceIn } from '../support/registryFrom.js'
import { postForm, startService, type TestResponse, token } from '../support/service.js'

const visits = resourceIn('visits', { name: text() })
/** Has the name of the folder that operations have in the documents. */
const surgeries = resourceIn('operations', { name: text() }, { access: { read: 'desk' } })

const about = 'Does something.'
const echo = ({ params, query, body, caller }: OperationContext<unknown, unknown>): unknown => ({
  params,
  query,
  body,
  caller,
})
const operations = operationsNamed({
  'close-visit': defineOperation({
    method: 'POST',
    path: '/v1/visits/{visit_id}/close',
    about: 'Closes a visit.',
    area: 'Test',
    access: 'desk',
    body: z.object({ amount: z.int().min(0).max(9), note: z.string().max(500).optional() }),
    handle: echo,
  }),
  report: defineOperation({
    method: 'GET',
    path: '/v1/reports/visits',
    about,
    access: 'public',
    query: z.object({
      state: z.enum(['open', 'closed']).default('open'),
      since: z.iso.date().optional(),
      tags: z.array(z.string()).optional(),
      least: z.coerce.number().optional(),
    }),
    handle: echo,
  }),
  mine: defineOperation({ method: 'GET', path: '/v1/mine', about, access: 'signed-in', handle: echo }),
  purge: defineOperation({ method: 'DELETE', path: '/v1/purge', about, handle: echo }),
  raw: defineOperation({
    method: 'PUT',
    path: '/v1/raw',
    about,
    query: z.looseObject({}),
    body: z.array(z.int()),
    handle: echo,
  }),
  kinds: defineOperation({
    method: 'POST',
    path: '/v1/kinds',
    about,
    body: z.object({
      'a "b"': z.string().describe('Has <quotes>.'),
      flag: z.boolean(),
      maybe: z.boolean().optional(),
      nothing: z.string().nullable(),
      at: z.iso.datetime(),
      size: z.literal([1, 2]),
      lines: z.array(z.object({ n: z.int() })),
      half: z.number().gt(0),
    }),
    handle: echo,
  }),
})

const secret = 'a secret of at least 32 bytes, for tests'
const service = await startService({
  registry: [visits, surgeries],
  operations,
  explorer: true,
  credentials: {
    ...callersNamed({ desk: { roles: ['desk'] }, guest: { roles: [] } }),
    verifyToken: tokenVerifier({ secret, audience: 'registry' }, () => {}),
  },
})
await service.fill([{ resource: visits, rows: [{ id: 1, name: 'Rex' }] }])

const origin = { origin: service.address }
const signIn = async (key: string): Promise<string> => {
  const response: TestResponse = await service.send('/explore/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...origin },
    body: String(new URLSearchParams({ key })),
  })
  return String(response.headers['set-cookie']?.[0]).split(';')[0] as string
}
const cookies: Record<string, string> = {}
for (const name of ['desk', 'guest', token]) cookies[name] = await signIn(name)
const page = (path: string, name?: string) =>
  service.send(path, { headers: { accept: 'text/html', ...(name && { cookie: cookies[name] as string }) } })
const form = (name: string, visitor?: string) => page(`/explore/-/operations/${name}`, visitor)

const test = suite('operations in the explorer')

test('each visitor sees the operations that it may send', async () => {
  for (const [visitor, expected] of [
    [undefined, ['kinds', 'purge', 'raw', 'report']],
    ['guest', ['mine', 'report']],
    ['desk', ['close-visit', 'mine', 'report']],
    [token, ['close-visit', 'kinds', 'mine', 'purge', 'raw', 'report']],
  ] as const) {
    const home = (await page('/', visitor)).text
    const listed = [...home.matchAll(/href="\/explore\/-\/operations\/([\w-]+)"/g)].map(([, name]) => name)
    assert.equal(listed.sort(), expected, visitor ?? 'nobody')
    for (const { name } of operations) {
      const { status } = await form(name, visitor)
      const isListed = (expected as readonly string[]).includes(name)
      assert.is(status, isListed ? 200 : visitor ? 403 : 401, `${name} of ${visitor}`)
    }
  }
})

test('they are on the home page in their area, also beside a resource that is called operations', async () => {
  const home = (await page('/', token)).text
  const [, first = '', second = ''] = home.split('<section class="area">')
  assert.match(first, /<h2>Test<\/h2>[\s\S]*Visits?[\s\S]*Close visit/i)
  assert.match(second, /<h2>Operations<\/h2>[\s\S]*Does something\./)
  assert.match((await page('/explore/operations', token)).text, /<h1>operations/)
})

test('a control for each parameter and member, with its rules in words', async () => {
  const { text: source } = await form('close-visit', 'desk')
  assert.match(source, /<label for="input-0">Visit ID <code class="raw">visit_id<\/code> <span class="required">/)
  assert.match(source, /name="path\.visit_id"[^>]* data-choices="\/explore\/visits\/choices"/)
  assert.match(source, /<input type="number" step="any" min="0" max="9" id="input-1" name="body\.amount"/)
  assert.match(source, /0 to 9, a whole number\./)
  assert.match(source, /<textarea[^>]* name="body\.note"[^>]*>[\s\S]*At most 500 characters\./)
  const report = (await form('report')).text
  assert.match(report, /<option value="">–<\/option><option value="open">/)
  assert.match(report, /Default: open\./)
  assert.match(report, /<input type="date"[^>]* name="query\.since"/)
  assert.match(report, /<textarea[^>]* name="query\.tags"[\s\S]*One value in each line\./)
  assert.match(report, /<input inputmode="decimal"[^>]* name="query\.least"/)
  const raw = (await form('raw', token)).text
  assert.match(raw, /Further parameters/)
  assert.match(raw, /<textarea[^>]* name="body\."/)
  const kinds = (await form('kinds', token)).text
  for (const expected of [
    /name="body\.a &quot;b&quot;"[\s\S]*Has &lt;quotes&gt;\./,
    /<input type="checkbox"[^>]* name="body\.flag"/,
    /<select[^>]* name="body\.maybe"/,
    /name="body\.nothing" autocomplete="off" aria-describedby="[^"]*">/,
    /<input type="datetime-local"[^>]* name="body\.at"/,
    /<select[^>]* name="body\.size"[^>]*><option value="">Choose<\/option><option value="1">/,
    /<textarea[^>]* name="body\.lines"/,
    /name="body\.half"[\s\S]*More than 0\./,
  ])
    assert.match(kinds, expected)
})

test('an address can have values', async () => {
  const { text: source } = await page('/explore/-/operations/close-visit?visit_id=%22%3E7&amount=3', 'desk')
  assert.match(source, / value="&quot;&gt;7"/)
  assert.match(source, /name="body\.amount"[^>]* value="3"/)
  // A row is shown by its label.
  const { text: known } = await page('/explore/-/operations/close-visit?visit_id=1', 'desk')
  assert.match(known, /name="path\.visit_id"[^>]* data-id="1"[^>]* value="Rex"/)
})

test('the page of a row leads to the operations that have it in their path', async () => {
  const { text: source } = await page('/explore/visits/1', 'desk')
  assert.match(source, /href="\/explore\/-\/operations\/close-visit\?visit_id=1">Close visit</)
  assert.not.match((await page('/explore/visits/1')).text, /close-visit/)
})

test('who has not signed in gets the form of what is public, and is led back to the others', async () => {
  assert.match((await form('report')).text, /<form method="post" action="\/explore\/-\/operations\/report"/)
  const purge = (await form('purge')).text
  assert.not.match(purge, /<form/)
  assert.match(purge, /href="\/explore\/sign-in\?next=%2Fexplore%2F-%2Foperations%2Fpurge"/)
  assert.match((await form('purge', token)).text, /<form/)
})

/** The response that a page shows. */
const responseIn = ({ text: source }: TestResponse) =>
  JSON.parse((/<pre [^>]*>([^<]*)</.exec(source)?.[1] ?? 'null').replaceAll('&quot;', '"'))

test('a session sends an operation, but not from another site', async () => {
  const send = (name: string, values: Record<string, string>, headers: Record<string, string> = {}) =>
    postForm(service, `/explore/-/operations/${name}`, values, headers)
  const desk = { cookie: cookies['desk'] as string }
  const values = { 'path.visit_id': 'a b', 'body.amount': '3', 'body.note': '' }
  const closed = await send('close-visit', values, desk)
  assert.is(closed.status, 200)
  const { params, body, caller } = responseIn(closed)
  assert.equal([params, body, caller.name], [{ visit_id: 'a b' }, { amount: 3 }, 'desk'])
  assert.is((await send('close-visit', values, { ...desk, origin: '' })).status, 403)
  assert.is((await send('close-visit', values, { ...desk, origin: 'https://other.example' })).status, 403)
  assert.is((await send('close-visit', values)).status, 401)
  assert.is((await send('purge', {}, desk)).status, 403)
  const wrong = await send('close-visit', { ...values, 'body.amount': '10' }, desk)
  assert.is(wrong.status, 422)
  assert.match(wrong.text, /name="body\.amount"[^>]* aria-invalid="true"[^>]* value="10"/)
  const mine = await send('mine', {}, desk)
  assert.equal([mine.status, responseIn(mine).caller.name], [200, 'desk'])
  assert.is(mine.headers['cache-control'], 'private, no-store')
  assert.is(mine.headers['access-control-allow-origin'], undefined)
  // Nobody needs to sign in for what is public.
  const report = await send('report', { 'query.state': 'closed', 'query.tags': 'a b\r\n\r\nc', 'query.least': '2' })
  assert.equal(responseIn(report).query, { state: 'closed', tags: ['a b', 'c'], least: 2 })
})

test('each value is read as its schema says', async () => {
  const send = (values: Record<string, string>) =>
    postForm(service, '/explore/-/operations/kinds', values, { cookie: cookies[token] as string })
  const sent = await send({
    'body.a "b"': 'x',
    'body.flag': 'false',
    'body.maybe': '',
    'body.nothing': '',
    'body.at': '2026-03-01T10:30',
    'body.size': '2',
    'body.lines': '[{"n": 1}]',
    'body.half': '0.5',
  })
  assert.equal(responseIn(sent).body, {
    'a "b"': 'x',
    flag: false,
    nothing: null,
    at: '2026-03-01T10:30:00Z',
    size: 2,
    lines: [{ n: 1 }],
    half: 0.5,
  })
  const wrong = await send({ 'body.a "b"': '', 'body.lines': '[1,' })
  assert.is(wrong.status, 422)
  assert.match(wrong.text, /A &quot;b&quot; is required\./)
  assert.match(wrong.text, /Lines is not valid JSON/)
})

test('a session that began with a token keeps the roles that only operations use', async () => {
  const jwt = await new SignJWT({ roles: ['desk', 'other'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('ada')
    .setAudience('registry')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret))
  cookies['jwt'] = await signIn(jwt)
  assert.is((await form('close-visit', 'jwt')).status, 200)
})

test('without a write token and keys, only public operations are listed', async () => {
  const closed = await startService({ registry: [visits], operations, explorer: true, token: undefined })
  const home = (await closed.send('/', { headers: { accept: 'text/html' } })).text
  assert.equal(home.match(/\/-\/operations\/[\w-]+/g), ['/-/operations/report'])
  assert.match((await closed.send('/explore/-/operations/purge')).text, /Writes are disabled/)
})

test.run()
