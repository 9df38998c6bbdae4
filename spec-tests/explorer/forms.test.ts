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
const loans = resourceIn(
  'loans',
  {
    title: text(),
    status: text({
      oneOf: ['Pending', 'Approved', 'Shut'],
      next: { Pending: ['Approved'], Approved: ['Pending', 'Shut'] },
      start: ['Pending'],
      default: 'Pending',
      writeBy: 'hr',
    }),
    phase: text({ oneOf: ['first', 'second'], next: { first: ['second'] }, start: ['first'] }),
  },
  {
    required: ['title', 'status'],
    update: true,
    access: { read: 'signed-in', create: ['hr', 'desk'], update: ['hr', 'desk'] },
  },
)
const seals = resourceIn(
  'seals',
  { mark: text({ writeBy: 'hr' }), title: text() },
  { update: ['mark'], access: { read: 'signed-in', create: ['hr', 'desk'], update: ['hr', 'desk'] } },
)
const service = await startService({
  registry: [doors, logs, teams, loans, seals],
  batch: true,
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

const show = async (path: string, key: string) => {
  const headers = { accept: 'text/html', ...sessions[key] }
  return (await service.send(`/explore/${path}`, { headers })).text
}
const rowOf = async (path: string, key = token) =>
  service.send(`/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
const optionsOf = (page: string, name: string) => {
  const [, options = ''] = new RegExp(`<select id="field-${name}"[^>]*>(.*?)</select>`, 's').exec(page) ?? []
  return [...options.matchAll(/value="([^"]*)"/g)].map(([, value]) => value)
}

test('a form has only the values with which a new row begins, and then those that may follow', async () => {
  assert.equal(optionsOf(await show('loans/new', 'hr'), 'status'), ['', 'Pending'])
  assert.equal(optionsOf(await show('loans/new', 'hr'), 'phase'), ['', 'first'])
  assert.is((await post('loans/new', { title: 'x', phase: 'second' }, 'hr')).status, 422)
  const { id } = (await service.create('loans', { title: 'Steps', phase: 'first' })).body
  assert.equal(optionsOf(await show(`loans/${id}/edit`, 'hr'), 'status'), ['Pending', 'Approved'])
})

test('a field that other roles set is in no form, and none takes it', async () => {
  const { id } = (await service.create('loans', { title: 'Mine' })).body
  for (const path of ['loans/new', `loans/${id}/edit`, `loans/${id}/edit?field=status`])
    assert.match(await show(path, 'hr'), /id="field-status"/, path)
  for (const path of ['loans/new', `loans/${id}/edit`, `loans/${id}/edit?field=status`, 'loans/edit-many?id=1'])
    assert.not.match(await show(path, 'desk'), /id="field-status"|value="status"|Status/, path)
  const cells = async (key: string) =>
    [...(await show('loans', key)).matchAll(/data-field="(\w+)"/g)].map(([, name]) => name)
  assert.ok((await cells('hr')).includes('status'))
  assert.not.ok((await cells('desk')).includes('status'))
  assert.match(await show(`loans/${id}`, 'desk'), /Status/)

  const made = await post('loans/new', { title: 'Made', status: 'Approved', phase: 'first' }, 'desk')
  const madeId = /\/(\d+)$/.exec(String(made.headers.location))?.[1]
  assert.is((await post(`loans/${id}/edit`, { title: 'Ours', status: 'Approved' }, 'desk')).status, 303)
  const tag = String((await rowOf(`loans/${id}`, 'desk')).headers.etag).slice(1, -1)
  const many = { 'form.rows': JSON.stringify([[String(id), tag]]), title: 'Theirs', status: 'Approved' }
  assert.is((await post('loans/edit-many?field=status', many, 'desk')).status, 303)
  const stored = await Promise.all([id, madeId].map(async (one) => (await rowOf(`loans/${one}`)).body))
  assert.equal(
    stored.map(({ title, status }) => [title, status]),
    [
      ['Theirs', 'Pending'],
      ['Made', 'Pending'],
    ],
  )
  assert.is((await post(`loans/${id}/edit`, { status: 'Approved' }, 'hr')).status, 303)
  assert.is((await rowOf(`loans/${id}`)).body.status, 'Approved')
})

test('a change beside such a field can be undone by who made it, and what nobody else sets has no form', async () => {
  const { id } = (await service.create('loans', { title: 'Before' })).body
  const script = { ...sessions['desk'], accept: 'text/html' }
  const saved = await postForm(service, `/explore/loans/${id}/edit`, { title: 'After', 'form.script': 'on' }, script)
  const [, json = ''] = /class="undo"[^>]*data-body="([^"]*)"/.exec(saved.text) ?? []
  const undo = json.replaceAll('&quot;', '"')
  assert.match(undo, /"body":\{"title":"Before"\}/, saved.text)
  const headers = { ...sessions['desk'], 'content-type': 'application/json', origin: service.address }
  assert.is((await service.send('/explore/batch', { method: 'POST', headers, body: undo })).status, 200)
  await service.create('seals', { title: 'Seal' })
  assert.match(await show('seals/1', 'hr'), /seals\/1\/edit/)
  assert.not.match(await show('seals/1', 'desk'), /seals\/1\/edit/)
  assert.match(await show('seals/new', 'desk'), /id="field-title"/)
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
