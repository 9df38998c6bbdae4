/** Undo in the explorer: a change is undone by an update under the tag of its row; a delete is not undone. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, json, text } from '../../engine/descriptor/index.js'
import { resourceIn } from '../support/registryFrom.js'
import { authorized, startService } from '../support/service.js'

const boxes = resourceIn('boxes', { name: text(), extra: json() }, { update: true, delete: true })
const parts = resourceIn('parts', { box_id: integer({ references: 'boxes', onDelete: 'cascade' }) }, {})

const service = await startService({ registry: [boxes, parts], explorer: true })
const test = suite('undo')

const post = (path: string, body: object) =>
  service.send(path, { method: 'POST', headers: authorized, body: JSON.stringify(body) })
const batch = (...operations: object[]) => post('/explore/batch', { operations })
const newBox = async (values: object): Promise<{ id: number; name: string }> =>
  (await service.create('boxes', values)).body

test('a batch has the tags of its rows, under which its changes are undone', async () => {
  const [one, two] = [await newBox({ name: 'A', extra: { n: 1.5 } }), await newBox({ name: 'B' })]
  const changed = await batch(
    ...[one, two].map(({ id }) => ({ method: 'PATCH', path: `/v1/boxes/${id}`, body: { name: 'C' } })),
  )
  const { headers } = await service.get(`/v1/boxes/${one.id}`)
  assert.is(headers.etag, `"${changed.body.tags[0]}"`)
  const back = [one, two].map(({ id, name }, n) => ({
    method: 'PATCH',
    path: `/v1/boxes/${id}`,
    ifMatch: `"${changed.body.tags[n]}"`,
    body: { name },
  }))
  // Sent twice at once, as by a double click, it is made once.
  const outcomes = await Promise.all([batch(...back), batch(...back)])
  assert.equal(outcomes.map(({ status }) => status).sort(), [200, 412])
  assert.equal((await service.get(`/v1/boxes/${one.id}`)).body, one)
  assert.equal((await service.get(`/v1/boxes/${two.id}`)).body, two)
})

test('a delete keeps nothing in the browser, and is not undone', async () => {
  const { id } = await newBox({ name: 'Gone' })
  const part = (await service.create('parts', { box_id: id })).body
  const { status, body } = await batch({ method: 'DELETE', path: `/v1/boxes/${id}` })
  assert.is(status, 200)
  assert.equal(body, { results: [{ status: 204 }], tags: [null] })
  assert.is((await post('/explore/batch/undo', { undo: '' })).status, 404)
  assert.is((await service.get(`/v1/parts/${part.id}`)).status, 404)
})

test.run()
