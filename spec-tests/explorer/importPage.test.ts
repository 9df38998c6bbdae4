/** The import page: who has it, its template, and imports of a session. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text, timestamp } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, token } from '../support/service.js'

const fields = {
  name: text(),
  code: text({ unique: true }),
  salary: integer({ readBy: ['hr'] }),
  changed: timestamp({ managed: true }),
}
const people = resourceIn('people', fields, {
  plural: 'People',
  required: ['name'],
  update: true,
  import: true,
  access: { read: ['hr', 'desk'], create: ['hr', 'desk'], update: 'hr' },
})
const open = resourceIn('open', { name: text() }, { import: true })
const closed = resourceIn('closed', { name: text() })
const service = await startService({
  registry: [people, open, closed],
  explorer: true,
  credentials: callersNamed({ hr: { roles: ['hr'] }, desk: { roles: ['desk'] }, guest: { roles: [] } }),
})
const origin = { origin: service.address }
const cookies: Record<string, string> = {}
for (const key of ['hr', 'desk', 'guest', token]) {
  const { headers } = await service.send('/explore/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...origin },
    body: String(new URLSearchParams({ key })),
  })
  cookies[key] = String(headers['set-cookie']?.[0]).split(';')[0] as string
}
const page = (path: string, name?: string) =>
  service.send(path, { headers: { accept: 'text/html', ...(name && { cookie: cookies[name] as string }) } })

const test = suite('import in the explorer')

test('the link and the page are there for who may create rows, where they can be imported', async () => {
  assert.match((await page('/explore/open')).text, /href="\/explore\/open\/import"/)
  assert.not.match((await page('/explore/closed')).text, /\/import"/)
  assert.not.match((await page('/explore/open', 'guest')).text, /\/import"/)
  for (const [path, visitor, status] of [
    ['open', undefined, 200],
    ['open', 'guest', 404],
    ['closed', token, 404],
    ['people', undefined, 401],
    ['people', 'guest', 403],
    ['people', 'desk', 200],
  ] as const)
    for (const name of ['import', 'template.csv'])
      assert.is((await page(`/explore/${path}/${name}`, visitor)).status, status, `${path}/${name} of ${visitor}`)
})

test('a template has the columns that the visitor may set', async () => {
  const { text: source, headers } = await page('/explore/people/template.csv', 'hr')
  assert.is(source, 'name,code,salary\r\n')
  assert.is(headers['content-disposition'], 'attachment; filename="people-template.csv"')
  assert.match(String(headers['content-type']), /^text\/csv/)
  assert.is((await page('/explore/people/template.csv', 'desk')).text, 'name,code\r\n')
})

test('the page names the columns, those that the service sets, and what rows can be matched by', async () => {
  const { text: source } = await page('/explore/people/import', 'hr')
  assert.match(source, /data-unset="id changed"/)
  assert.match(source, /<option value="id">[\s\S]*<option value="code">Change the row that has the same Code</)
  assert.match(source, /data-target="\/explore\/people\/import"/)
  assert.not.match(source, /id="token"/)
  const desk = (await page('/explore/people/import', 'desk')).text
  assert.not.match(desk, /salary|id="match"/)
  const unsigned = (await page('/explore/open/import')).text
  assert.match(unsigned, /data-target="\/api\/v1\/open\/import"/)
  assert.match(unsigned, /id="token"/)
})

test('a session imports, with its rights and from a page of this service only', async () => {
  const send = (headers: Record<string, string>, body: string, query = '') =>
    service.send(`/explore/people/import${query}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', ...headers },
      body,
    })
  const hr = { cookie: cookies['hr'] as string, ...origin }
  const body = 'name,code,salary,id\nAda,A,1,7\n'
  const counts = { created: 1, updated: 0, unchanged: 0 }
  assert.equal((await send(hr, body, '?dryRun=true&ignore=id')).body, { ...counts, ids: [] })
  assert.is((await send({ cookie: cookies['hr'] as string }, body)).status, 403)
  assert.is((await send(origin, body)).status, 401)
  assert.is((await send({ ...hr, cookie: cookies['desk'] as string }, body, '?ignore=id')).status, 422)
  assert.is((await send(hr, body, '?ignore=id')).body.created, 1)
})

test.run()
