/** Lists and rows of every resource: order, paging, bounds, ids, and invalid parameters. */
import * as assert from 'uvu/assert'
import { byId, type Field, filterFields } from '../../engine/descriptor/registry.js'
import { sampleValue } from '../../engine/descriptor/samples.js'
import { publicRow } from '../../support/samples.js'
import { derivedSuite } from '../support/derivedSuite.js'
import { idChecks } from '../support/idChecks.js'
import { startService } from '../support/service.js'
import { eachProject } from '../support/tested.js'

const pages = ['', 'limit=1', 'limit=200', 'limit=7&offset=3', 'offset=5', 'offset=1000000']
const largeOffsets = ['9223372036854775807', '9223372036854775808', '9'.repeat(4300)]

/** A filter whose value its field can have. */
const someFilter = (field: Field): string => `&${field.name}=${encodeURIComponent(String(sampleValue(field, 1)))}`

await eachProject(async ({ resources, settings }) => {
  const { get, send } = await startService(settings)
  const { expectUnknown, expectMalformed } = idChecks(get)

  for (const resource of resources) {
    const test = derivedSuite('list', resource)
    const path = `/v1/${resource.path}`
    const rows = resource.demo.map((row) => publicRow(resource, row)).sort(byId)

    test('pages: the rows by id, with all fields in order, and their total', async () => {
      for (const query of pages) {
        const given = new URLSearchParams(query)
        const [limit, offset] = [Number(given.get('limit') ?? 50), Number(given.get('offset') ?? 0)]
        const { status, body } = await get(`${path}?${query}`)
        assert.is(status, 200)
        assert.equal(body.data, rows.slice(offset, offset + limit), query)
        assert.equal(body.meta, { total: rows.length, limit, offset }, query)
        const names = resource.fields.map((field) => field.name)
        for (const row of body.data) assert.equal(Object.keys(row), names)
      }
    })

    test('an offset of any size is echoed exactly', async () => {
      // The kitchen sink has every kind of filter.
      const filters = resource.path.startsWith('sink-') ? filterFields(resource).map(someFilter) : []
      for (const offset of filters.length > 0 ? largeOffsets : largeOffsets.slice(1, 2)) {
        for (const more of ['', '&q=a', '&q=%00', ...filters]) {
          const { status, text } = await get(`${path}?offset=${offset}${more}`)
          assert.is(status, 200)
          assert.ok(text.startsWith('{"data":[],'))
          assert.ok(text.endsWith(`"offset":${offset}}}`), more)
        }
      }
    })

    test('each row alone, as the list has it, also without its body; unknown and malformed ids', async () => {
      for (const row of rows.slice(0, 20)) {
        const { status, body } = await get(`${path}/${encodeURIComponent(String(row['id']))}`)
        assert.equal([status, body], [200, row])
      }
      for (const { id } of rows.slice(0, 1)) {
        const { status, text } = await send(`/api${path}/${encodeURIComponent(String(id))}`, { method: 'HEAD' })
        assert.equal([status, text], [200, ''])
      }
      const ids = rows.map(({ id }) => String(id))
      for (const id of ['987654321', 'abc'].filter((one) => !ids.includes(one))) await expectUnknown(path, id)
      await expectMalformed(path, '%FF')
    })

    test.run()
  }
})
