/** What forms of the explorer refuse, and what they never show: redacted values, forms that a resource does not offer. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, json, text } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { postForm, sessionOf, startService, token } from '../support/service.js'

const pin = text({ redacted: true, maxLength: 20, pattern: '[0-9]{4}' })
const doors = resourceIn('doors', { name: text(), pin, extra: json() }, { update: true, import: true })
const logs = resourceIn('logs', { line: text() }, { create: false, update: true })
const teams = resourceIn(
  'teams',
  { name: text(), fee: integer({ readBy: ['hr'] }) },
  { update: ['fee'], access: { read: 'signed-in', create: 'hr', update: ['hr', 'desk'] } },
)
const service = await startService({
  registry: [doors, logs, teams],
  explorer: true,
  credentials: callersNamed({ hr: { roles: ['hr'] }, desk: { roles: ['desk'] } }),
})
const sessions: Record<string, { cookie: string }> = {}
for (const key of ['hr', 'desk', token]) sessions[key] = { cookie: await sessionOf(service.address, key) }
const post = (path: string, values: Record<string, string>, key = token) =>
  postForm(service, `/explore/${path}`, values, sessions[key])

const test = suite('forms of the explorer')

test('what was typed into a redacted field shows neither in its control, nor in a message, nor in the request', async () => {
  const { status, text: page } = await post('doors/new', { name: 'Front', pin: 'abcd' })
  assert.is(status, 422)
  assert.match(page, /Pin must look like \d{4}\./)
  assert.match(page, /value="Front"/)
  assert.not.match(page, /abcd/)
})

test('a conflict keeps a redacted value to itself', async () => {
  const { id } = (await service.create('doors', { name: 'Back', pin: '1234' })).body
  const { status, text: page } = await post(`doors/${id}/edit`, { name: 'Rear', pin: '9876', 'form.tag': 'stale' })
  assert.is(status, 412)
  assert.not.match(page, /1234|9876/)
})

test('the preview of an import does not show redacted cells', async () => {
  const checked = await post('doors/import', { text: 'name,pin\nSide,4321\n' })
  assert.is(checked.status, 200)
  assert.match(checked.text, /<bdi>Side<\/bdi>.*<bdi>redacted<\/bdi>/s)
  const wrong = await post('doors/import', { text: 'name,pin\nSide,none\n' })
  assert.is(wrong.status, 422)
  for (const { text: page } of [checked, wrong])
    assert.not.match(page.replace(/<textarea.*?<\/textarea>/s, ''), /4321|,none|>none/)
})

const notOffered: [path: string, key: string, values: Record<string, string>, status: number][] = [
  ['logs/new', token, { line: 'x' }, 404],
  ['teams/1/edit', 'desk', { fee: '1' }, 403],
  ['teams/edit-many?field=fee', 'desk', { 'form.rows': '[["1","x"]]', fee: '1' }, 403],
]
test('a form that a visitor does not get stores nothing, and is no error of the service', async () => {
  await service.create('teams', { name: 'Red' })
  for (const [path, key, values, expected] of notOffered) {
    const { status, text: page } = await post(path, values, key)
    assert.is(status, expected, path)
    assert.not.match(page, /could not be processed/, path)
  }
  assert.is((await service.get('/v1/logs')).body.meta.total, 0)
})

test('a key belongs to what the form changes: the field in its address too', async () => {
  const { id } = (await service.create('doors', { name: 'Key', extra: { a: 1 } })).body
  const tag = String((await service.get(`/v1/doors/${id}`)).headers.etag).slice(1, -1)
  const values = {
    'form.rows': JSON.stringify([[String(id), tag]]),
    'form.key': 'a-key-of-a-form',
    name: 'New',
    extra: '[]',
  }
  assert.is((await post('doors/edit-many?field=name', values)).status, 303)
  assert.is((await post('doors/edit-many?field=extra', values)).status, 422)
  assert.equal((await service.get(`/v1/doors/${id}`)).body.extra, { a: 1 })
})

test('JSON that is nested deeply does not grow by its spaces', async () => {
  const extra = `${'['.repeat(95)}${'1,'.repeat(20_000)}1${']'.repeat(95)}`
  const { id } = (await service.create('doors', `{"name":"Deep","extra":${extra}}`)).body
  for (const path of ['', '/edit']) {
    const { status, text: page } = await service.send(`/explore/doors/${id}${path}`, {
      headers: { accept: 'text/html', ...sessions[token] },
    })
    assert.is(status, 200)
    assert.ok(page.length < 1_000_000, `${page.length} characters`)
  }
})

test.run()
