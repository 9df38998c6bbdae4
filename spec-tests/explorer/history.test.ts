/** The history of a row in the explorer: what its page shows, and what Restore and Undo store. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { defineHook, defineResource, integer, json, text, timestamp } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { hooksNamed } from '../support/ownOperations.js'
import { registryFrom } from '../support/registryFrom.js'
import { authorized, postForm, sessionOf, startService } from '../support/service.js'

let clock = 0
const tick = () => new Date(Date.UTC(2026, 0, 1) + clock++ * 1000).toISOString().replace('.000Z', 'Z')
const access = {
  read: ['clerk', 'chief', { owner: claim('owner') }],
  create: 'signed-in',
  update: 'signed-in',
  delete: 'signed-in',
} as const
const open = { create: true, update: true, delete: true, history: true } as const
const works = defineResource({
  name: 'Work',
  area: 'Test',
  table: 'works',
  fields: { title: text(), data: json(), count: integer({ default: 1 }) },
  required: ['title'],
  ...open,
})
const loans = defineResource({
  name: 'Loan',
  area: 'Test',
  table: 'loans',
  fields: {
    owner: text({ filter: true }),
    title: text({ unique: true }),
    state: text({
      oneOf: ['planned', 'begun', 'done'],
      next: { planned: ['begun'], begun: ['done'] },
      start: ['planned'],
    }),
    work_id: integer({ references: 'works', filter: true }),
    fee: integer({ writeBy: 'chief' }),
    note: text({ readBy: ['chief'] }),
    made_at: timestamp({ managed: tick }),
  },
  required: [],
  access,
  ...open,
})
const tags = defineResource({
  name: 'Tag',
  area: 'Test',
  table: 'tags',
  id: 'text',
  fields: { about: text() },
  required: [],
  ...open,
})
const keys = defineResource({
  name: 'Key',
  area: 'Test',
  table: 'keys',
  id: 'uuid',
  fields: { about: text() },
  required: [],
  ...open,
})
const plain = defineResource({
  name: 'Plain',
  area: 'Test',
  table: 'plain',
  fields: { title: text() },
  required: [],
  create: true,
  delete: true,
})
const registry = registryFrom({ works, loans, tags, keys, plain })

const calls: string[] = []
const hooks = hooksNamed({
  work: defineHook({
    resource: works,
    on: ['create', 'update'],
    handle({ operation, row }) {
      calls.push(`${operation} ${row?.id}`)
    },
  }),
})
const service = await startService({
  registry,
  hooks,
  explorer: true,
  credentials: callersNamed({
    ana: { roles: [], claims: { owner: 'ana' } },
    clerk: { roles: ['clerk'] },
    chief: { roles: ['chief'] },
  }),
})
const request = async (method: string, path: string, body?: unknown, caller?: string) =>
  service.send(`/api/v1/${path}`, {
    method,
    headers: { ...authorized, ...(caller && { authorization: `Bearer ${caller}` }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const created = async (path: string, body: unknown, caller?: string) =>
  (await request('POST', path, body, caller)).body.id
const cookies = new Map<string, string>()
const cookieOf = async (caller?: string) => {
  const name = caller ?? ''
  const cookie = cookies.get(name) ?? (await sessionOf(service.address, caller))
  cookies.set(name, cookie)
  return { cookie }
}
const page = async (path: string, caller?: string) =>
  service.send(`/explore/${path}`, { headers: { accept: 'text/html', ...(await cookieOf(caller)) } })

/** The forms of a page that restore, each with what it sends and its button. */
const formsIn = (html: string) =>
  [...html.matchAll(/<form method="post" action="([^"]*\/restore)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', inner = '']) => ({
      action,
      button: /<button>(.*?)</.exec(inner)?.[1],
      values: Object.fromEntries(
        [...inner.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
      ),
    }),
  )
/** Presses the button of the n-th entry that has one. */
const press = async (path: string, n: number, caller?: string, changed: Record<string, string> = {}) => {
  const form = formsIn((await page(path, caller)).text)[n]
  if (!form) throw new Error(`${path} has no such button`)
  return postForm(service, form.action, { ...form.values, ...changed }, await cookieOf(caller))
}

const test = suite('history in the explorer')

test('the page of a row shows its changes, and a former state can be restored', async () => {
  const id = await created('works', '{"title":"A","data":{"b":1.10,"a":12345678901234567890}}')
  await request('PATCH', `works/${id}`, { title: 'B', data: null })
  const { text: html } = await page(`works/${id}`)
  assert.match(html, /<h2 id="history-title">History/)
  assert.match(html, /Changed by <bdi>API_TOKEN<\/bdi>/)
  assert.match(html, /<bdi>A<\/bdi> → <bdi>B<\/bdi>/)
  assert.equal(
    formsIn(html).map(({ button }) => button),
    ['Restore'],
  )
  calls.length = 0
  const { status, headers } = await press(`works/${id}`, 0)
  assert.equal([status, headers.location], [303, `/explore/works/${id}`])
  assert.equal(calls, [`update ${id}`])
  assert.match((await service.get(`/v1/works/${id}`)).text, '"title":"A","data":{"b":1.10,"a":12345678901234567890}')
  assert.is((await service.get(`/v1/works/${id}/history`)).body.data[0].by, 'API_TOKEN')
})

test('a restore is an update under the tag of the row that was shown', async () => {
  const id = await created('works', { title: 'A' })
  await request('PATCH', `works/${id}`, { title: 'B' })
  const form = formsIn((await page(`works/${id}`)).text)[0]
  await request('PATCH', `works/${id}`, { title: 'C' })
  const { status, text: html } = await postForm(service, form?.action ?? '', form?.values ?? {}, await cookieOf())
  assert.is(status, 412)
  assert.match(html, 'somebody else has changed this row')
  assert.is((await service.get(`/v1/works/${id}`)).body.title, 'C')
})

test('a deleted row has a page, and Undo creates it again under its id', async () => {
  const id = await created('works', { title: 'A', count: null })
  const deletion = await page(`works/${id}/delete`)
  const key = /name="form.key" value="([^"]*)"/.exec(deletion.text)?.[1] ?? ''
  const done = await postForm(service, `/explore/works/${id}/delete`, { 'form.key': key }, await cookieOf())
  assert.is(done.headers.location, `/explore/works/${id}`)
  const { status, text: html } = await page(`works/${id}`)
  assert.is(status, 200)
  assert.match(html, 'This row is deleted.')
  assert.equal(
    formsIn(html).map(({ button }) => button),
    ['Undo', 'Restore'],
  )
  calls.length = 0
  assert.is((await press(`works/${id}`, 0)).status, 303)
  assert.equal(calls, [`create ${id}`])
  const row = (await service.get(`/v1/works/${id}`)).body
  assert.equal([row.title, row.count], ['A', null])
  assert.ok((await created('works', { title: 'next' })) > id)
  assert.equal(
    (await service.get(`/v1/works/${id}/history`)).body.data.map(({ op }: { op: string }) => op),
    ['create', 'delete', 'create'],
  )
})

test('ids that are texts and UUIDs too', async () => {
  for (const [path, body] of [
    ['tags', { id: 'new', about: 'x' }],
    ['keys', { about: 'x' }],
  ] as const) {
    const id = await created(path, body)
    await request('DELETE', `${path}/${id}`)
    const answer = await press(`${path}/rows/${id}`.replace('keys/rows', 'keys'), 0)
    assert.is(answer.status, 303, answer.text)
    assert.is((await service.get(`/v1/${path}/${id}`)).body.about, 'x')
  }
})

test('an id that is taken again is not created again', async () => {
  await created('tags', { id: 'taken', about: 'first' })
  await request('DELETE', 'tags/taken')
  const form = formsIn((await page('tags/rows/taken')).text)[0]
  await created('tags', { id: 'taken', about: 'second' })
  await postForm(service, form?.action ?? '', form?.values ?? {}, await cookieOf())
  const ops = (await service.get('/v1/tags/taken/history')).body.data.map(({ op }: { op: string }) => op)
  assert.equal(ops, ['update', 'create', 'delete', 'create'])
})

test('every rule but start holds, and managed fields are set anew', async () => {
  const id = await created('loans', { title: 'L1', state: 'planned' }, 'clerk')
  await request('PATCH', `loans/${id}`, { state: 'begun' }, 'clerk')
  const back = await press(`loans/${id}`, 0, 'clerk')
  assert.is(back.status, 422)
  assert.match(back.text, /class="notice error"/)
  const made = (await request('GET', `loans/${id}`, undefined, 'clerk')).body.made_at
  await request('DELETE', `loans/${id}`, undefined, 'clerk')
  assert.is((await press(`loans/${id}`, 0, 'clerk')).status, 303)
  const row = (await request('GET', `loans/${id}`, undefined, 'clerk')).body
  assert.is(row.state, 'begun')
  assert.is.not(row.made_at, made)
  await request('DELETE', `loans/${id}`, undefined, 'clerk')
  await created('loans', { title: 'L1' }, 'clerk')
  const taken = await press(`loans/${id}`, 0, 'clerk')
  assert.is(taken.status, 422)
  assert.match(taken.text, /title/i)
})

test('a reference that is gone is refused', async () => {
  const work = await created('works', { title: 'A' })
  const id = await created('loans', { work_id: work }, 'clerk')
  await request('PATCH', `loans/${id}`, { work_id: null }, 'clerk')
  await request('DELETE', `works/${work}`)
  assert.is((await press(`loans/${id}`, 0, 'clerk')).status, 422)
})

test('who cannot see or write a field that would change is refused', async () => {
  const id = await created('loans', { title: 'L2', fee: 1 }, 'chief')
  await request('PATCH', `loans/${id}`, { fee: 2, title: 'L3' }, 'chief')
  const fee = await press(`loans/${id}`, 0, 'clerk')
  assert.is(fee.status, 403)
  assert.match(fee.text, 'it would change fee')
  assert.is((await press(`loans/${id}`, 0, 'chief')).status, 303)
  await request('PATCH', `loans/${id}`, { note: 'n', title: 'L4' }, 'chief')
  const note = await press(`loans/${id}`, 0, 'clerk')
  assert.is(note.status, 403)
  assert.is(/\bnote\b/.test(note.text.replaceAll('class="note"', '')), false)
  await request('DELETE', `loans/${id}`, undefined, 'chief')
  assert.is((await press(`loans/${id}`, 0, 'clerk')).status, 403)
  assert.is((await press(`loans/${id}`, 0, 'chief')).status, 303)
  assert.is((await request('GET', `loans/${id}`, undefined, 'chief')).body.note, 'n')
})

test('only who may read the history sees it', async () => {
  const id = await created('loans', { owner: 'ana' }, 'ana')
  await request('DELETE', `loans/${id}`, undefined, 'ana')
  assert.is((await page(`loans/${id}`, 'ana')).status, 200)
  const other = await created('loans', { owner: 'bob' }, 'clerk')
  await request('DELETE', `loans/${other}`, undefined, 'clerk')
  assert.is((await page(`loans/${other}`, 'ana')).status, 404)
})

test('without history nothing of it is there', async () => {
  const id = await created('plain', { title: 'A' })
  assert.is((await page(`plain/${id}`)).text.includes('history'), false)
  assert.is((await page(`plain/${id}/restore`)).status, 404)
  await request('DELETE', `plain/${id}`)
  assert.is((await page(`plain/${id}`)).status, 404)
})

test('a long history has pages', async () => {
  const id = await created('works', { title: 'A' })
  for (let n = 0; n < 25; n++) await request('PATCH', `works/${id}`, { title: `A${n}` })
  const first = await page(`works/${id}`)
  assert.match(first.text, `<a href="/explore/works/${id}?history=20">Older</a>`)
  const second = await page(`works/${id}?history=20`)
  assert.match(second.text, 'Newer')
  assert.is(formsIn(second.text).length, 6)
})

test.run()
