/** Get-one of every resource: existing rows, unknown ids and malformed ids. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { publicRow } from '../../support/samples.js'
import { startService } from '../support/service.js'
import { testedResources } from '../support/tested.js'

const { get, send } = await startService()

const expectUnknown = async (path: string, id: string): Promise<void> => {
  const { status, body } = await get(`${path}/${id}`)
  assert.is(status, 404, id)
  assert.is(body.error.code, 'not_found')
}

const expectMalformed = async (path: string, id: string): Promise<void> => {
  const { status, body } = await get(`${path}/${id}`)
  assert.is(status, 422, id)
  assert.equal(body.detail[0].loc, ['path', 'item_id'])
  assert.is(body.detail[0].input, id)
}

for (const resource of testedResources) {
  const test = suite(`get ${resource.path}`)
  const path = `/v1/${resource.path}`

  test('returns each row as the list does', async () => {
    for (const row of resource.demo.slice(0, 20)) {
      const { status, body } = await get(`${path}/${row['id']}`)
      assert.is(status, 200)
      assert.equal(body, publicRow(resource, row))
    }
  })

  test('unknown and malformed ids', async () => {
    for (const id of ['987654321', 'abc']) await expectUnknown(path, id)
    await expectMalformed(path, '%FF')
  })

  test('HEAD responds as GET does, without the body', async () => {
    const { status, text } = await send(`/api${path}/${resource.demo[0]?.['id']}`, { method: 'HEAD' })
    assert.is(status, 200)
    assert.is(text, '')
  })

  test.run()
}

const ids = suite('ids')
// biome-ignore format: one list
const unknown = [
  '0', '-1', '1.0', '007', '+1', '1e0', '%201', '1%20', '9'.repeat(30), '9007199254740993', '%D9%A1', 'a%2Fb', '%25',
  'null', '__proto__', "1'--",
]
for (const id of unknown) ids(`${id} is an unknown id`, () => expectUnknown('/v1/sink-basins', id))
for (const id of ['%zz', '%', '%C3%28', '%00', '1%00', '%ED%A0%80'])
  ids(`${id} is malformed`, () => expectMalformed('/v1/sink-basins', id))
ids.run()
