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
import { startService, type TestResponse, token } from '../support/service.js'

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
  assert.match(source, /data-place="path"[^>]* data-choices="\/explore\/visits\/choices"/)
  assert.match(source, /<input type="number" step="any" min="0" max="9" id="input-1" name="amount" data-place="body"/)
  assert.match(source, /0 to 9, a whole number\./)
  assert.match(source, /<textarea[^>]* name="note"[^>]*>[\s\S]*At most 500 characters\./)
  const report = (await form('report')).text
  assert.match(report, /<option value="">–<\/option><option value="open">/)
  assert.match(report, /Default: open\./)
  assert.match(report, /<input type="date"[^>]* name="since"/)
  assert.match(report, /<textarea[^>]* name="tags"[^>]*data-json="lines"[\s\S]*One value in each line\./)
  assert.match(report, /<input inputmode="decimal"[^>]* name="least"/)
  const raw = (await form('raw')).text
  assert.match(raw, /Further parameters/)
  assert.match(raw, /<textarea[^>]* name="" data-place="body" data-json="json"/)
  const kinds = (await form('kinds')).text
  for (const expected of [
    /name="a &quot;b&quot;"[\s\S]*Has &lt;quotes&gt;\./,
    /<input type="checkbox"[^>]* name="flag"/,
    /<select[^>]* name="maybe"/,
    /name="nothing"[^>]* data-always="true" autocomplete="off" aria-describedby="[^"]*">/,
    /<input type="datetime-local"[^>]* name="at"[^>]* data-json="time"/,
    /<select[^>]* name="size"[^>]* data-json="literal"[^>]*><option value="">Choose<\/option><option value="1">/,
    /<textarea[^>]* name="lines"[^>]* data-json="json"/,
    /name="half"[\s\S]*More than 0\./,
  ])
    assert.match(kinds, expected)
})

test('an address can have values', async () => {
  const { text: source } = await page('/explore/-/operations/close-visit?visit_id=%22%3E7&amount=3', 'desk')
  assert.match(source, / value="&quot;&gt;7"/)
  assert.match(source, /name="amount"[^>]* value="3"/)
})

test('the page of a row leads to the operations that have it in their path', async () => {
  const { text: source } = await page('/explore/visits/1', 'desk')
  assert.match(source, /href="\/explore\/-\/operations\/close-visit\?visit_id=1">Close visit</)
  assert.not.match((await page('/explore/visits/1')).text, /close-visit/)
})

test('only who has not signed in is asked for the token, and only where one is needed', async () => {
  assert.match((await form('purge')).text, /id="token"/)
  assert.not.match((await form('report')).text, /id="token"/)
  const signedIn = (await form('purge', token)).text
  assert.not.match(signedIn, /id="token"/)
  assert.match(signedIn, /data-target="\/explore\/-\/v1\/purge"/)
})

test('a session sends an operation, but not from another site', async () => {
  const send = (path: string, method: string, headers: Record<string, string>, body?: string) =>
    service.send(`/explore/-${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body }),
    })
  const desk = { cookie: cookies['desk'] as string }
  const body = '{"amount":3}'
  const closed = await send('/v1/visits/a%20b/close', 'POST', { ...desk, ...origin }, body)
  assert.equal([closed.status, closed.body.params, closed.body.body], [200, { visit_id: 'a b' }, { amount: 3 }])
  assert.is(closed.body.caller.name, 'desk')
  assert.is((await send('/v1/visits/1/close', 'POST', desk, body)).status, 403)
  assert.is((await send('/v1/visits/1/close', 'POST', { ...desk, origin: 'https://other.example' }, body)).status, 403)
  assert.is((await send('/v1/visits/1/close', 'POST', origin, body)).status, 401)
  assert.is((await send('/v1/purge', 'DELETE', { ...desk, ...origin })).status, 403)
  const wrong = await send('/v1/visits/1/close', 'POST', { ...desk, ...origin }, '{"amount":10}')
  assert.equal(wrong.body.error.details.issues[0].loc, ['body', 'amount'])
  // Browsers name no origin in a read of the same one.
  const mine = await send('/v1/mine', 'GET', desk)
  assert.equal([mine.status, mine.body.caller.name, mine.headers['cache-control']], [200, 'desk', 'private, no-store'])
  assert.is(mine.headers['access-control-allow-origin'], undefined)
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
