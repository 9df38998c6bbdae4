/** Undo in the explorer: a change is undone by an update under the tag of its row; a delete is not undone. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, json, text } from '../../engine/descriptor/index.js'
import { resourceIn } from '../support/registryFrom.js'
import { postForm, sessionOf, startService, type TestResponse } from '../support/service.js'

const boxes = resourceIn('boxes', { name: text(), extra: json() }, { update: true, delete: true })
const parts = resourceIn('parts', { box_id: integer({ references: 'boxes', onDelete: 'cascade' }) }, {})

const service = await startService({ registry: [boxes, parts], explorer: true })
const session = { cookie: await sessionOf(service.address) }
const test = suite('undo')

const post = (path: string, values: Record<string, string>) =>
  postForm(service, path, { 'form.script': 'true', ...values }, session)
const newBox = async (values: object): Promise<{ id: number; name: string }> =>
  (await service.create('boxes', values)).body

/** What the button of a message sends. */
const undoIn = ({ text }: TestResponse): string =>
  (/data-body="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
const undo = (body: string) =>
  service.send('/explore/batch', {
    method: 'POST',
    headers: { ...session, origin: service.address, 'content-type': 'application/json' },
    body,
  })

test('changes of many rows are undone under the tags that these have then', async () => {
  const [one, two] = [await newBox({ name: 'A', extra: { n: 1.5 } }), await newBox({ name: 'B' })]
  const tags = await Promise.all(
    [one, two].map(async ({ id }) => String((await service.get(`/v1/boxes/${id}`)).headers.etag).slice(1, -1)),
  )
  const rows = JSON.stringify([one, two].map(({ id }, n) => [String(id), tags[n]]))
  const changed = await post('/explore/boxes/edit-many?field=name', { 'form.rows': rows, name: 'C' })
  assert.match(changed.text, /2 \w+ saved\./)
  const back = undoIn(changed)
  const { headers } = await service.get(`/v1/boxes/${one.id}`)
  assert.is(JSON.parse(back).operations[0].ifMatch, headers.etag)
  // Sent twice at once, as by a double click, it is made once.
  const outcomes = await Promise.all([undo(back), undo(back)])
  assert.equal(outcomes.map(({ status }) => status).sort(), [200, 412])
  assert.equal((await service.get(`/v1/boxes/${one.id}`)).body, one)
  assert.equal((await service.get(`/v1/boxes/${two.id}`)).body, two)
})

test('a value that is JSON comes back with all its digits', async () => {
  const sent = '{"name":"D","extra":{"b":1.50,"a":12345678901234567890}}'
  const { id } = (await service.create('boxes', sent)).body
  const changed = await post(`/explore/boxes/${id}/edit`, { extra: '[1]' })
  assert.is((await undo(undoIn(changed))).status, 200)
  assert.match((await service.get(`/v1/boxes/${id}`)).text, /"extra":\{"b":1\.50,"a":12345678901234567890\}/)
})

test('a delete is not undone', async () => {
  const { id } = await newBox({ name: 'Gone' })
  const part = (await service.create('parts', { box_id: id })).body
  const deleted = await post(`/explore/boxes/${id}/delete`, {})
  assert.match(deleted.text, /#\d+ deleted\./)
  assert.is(undoIn(deleted), '')
  assert.is((await service.get(`/v1/parts/${part.id}`)).status, 404)
})

test.run()
