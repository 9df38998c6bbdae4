/** Lists of every resource: order, paging, bounds and invalid parameters. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Field, filterFields } from '../../engine/descriptor/registry.js'
import { sampleValue } from '../../engine/descriptor/samples.js'
import { publicRow } from '../../support/samples.js'
import { startService } from '../support/service.js'
import { testedResources } from '../support/tested.js'

const { get } = await startService()

const intParsing = (loc: string, input: string) => ({
  type: 'int_parsing',
  loc: ['query', loc],
  msg: 'Input should be a valid integer, unable to parse string as an integer',
  input,
})
// biome-ignore format: one list
const notIntegers = [
  '', '1.5', '1e3', '10.', '0x10', 'true', 'NaN', '1,000', '_10', '--1', '١', '\0', '1__0', '10_', '+-1', ' ',
]
const validTens = ['10.0', '010', '1_0', '+10', ' 10 ', '10.000', '0_10', '00010.0']
const tooLarge = ['201', '1000', '9'.repeat(30)]
const pages = [
  { query: '', limit: 50, offset: 0 },
  { query: '?limit=1', limit: 1, offset: 0 },
  { query: '?limit=200', limit: 200, offset: 0 },
  { query: '?limit=7&offset=3', limit: 7, offset: 3 },
  { query: '?offset=5', limit: 50, offset: 5 },
  { query: '?offset=1000000', limit: 50, offset: 1_000_000 },
]
/** Of a repeated parameter the last counts, and unknown ones are ignored. */
const spellings = [
  { query: '?limit=3&limit=9', limit: 9 },
  { query: '?offset=-0', limit: 50 },
  { query: '??limit=0', limit: 50 },
  { query: '?nonsense=1&__proto__=2&constructor=3&LIMIT=4', limit: 50 },
]
const largeOffsets = ['9223372036854775807', '9223372036854775808', '9'.repeat(4300)]

/** A filter whose value its field can have. */
const someFilter = (field: Field): string => `&${field.name}=${encodeURIComponent(String(sampleValue(field, 1)))}`

for (const resource of testedResources) {
  const test = suite(`list ${resource.path}`)
  const path = `/v1/${resource.path}`
  const rows = resource.demo.map((row) => publicRow(resource, row)).sort((a, b) => Number(a['id']) - Number(b['id']))

  test('pages: the rows by id, and their total', async () => {
    for (const { query, limit, offset } of pages) {
      const { status, body } = await get(`${path}${query}`)
      assert.is(status, 200)
      assert.equal(body.data, rows.slice(offset, offset + limit), query)
      assert.equal(body.meta, { total: rows.length, limit, offset }, query)
    }
  })

  test('rows have all declared fields in order', async () => {
    const { body } = await get(`${path}?limit=1`)
    assert.equal(
      Object.keys(body.data[0]),
      resource.fields.map((field) => field.name),
    )
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

  test('limit and offset reject what is not an integer or out of bounds, both reported', async () => {
    const { status, body } = await get(`${path}?limit=abc&offset=abc`)
    assert.is(status, 422)
    assert.equal(body, { detail: [intParsing('limit', 'abc'), intParsing('offset', 'abc')] })
    const { body: bounds } = await get(`${path}?limit=201&offset=-1`)
    const found = bounds.detail.map(({ type }: { type: string }) => type)
    assert.equal(found, ['less_than_equal', 'greater_than_equal'])
  })

  test.run()
}

const grammar = suite('integers of a list')
const path = '/v1/sink-basins'

for (const { query, limit } of spellings) {
  grammar(`${query} is a page of ${limit}`, async () => {
    const { meta } = (await get(`${path}${query}`)).body
    assert.equal([meta.limit, meta.offset], [limit, 0])
  })
}

for (const input of notIntegers) {
  grammar(`limit and offset reject ${JSON.stringify(input)}, both reported`, async () => {
    const { status, body } = await get(`${path}?limit=${encodeURIComponent(input)}&offset=${encodeURIComponent(input)}`)
    assert.is(status, 422)
    assert.equal(body, { detail: [intParsing('limit', input), intParsing('offset', input)] })
    assert.equal(Object.keys(body.detail[0]), ['type', 'loc', 'msg', 'input'])
  })
}

grammar('a parameter without a value is empty', async () => {
  assert.equal((await get(`${path}?limit`)).body, { detail: [intParsing('limit', '')] })
})

for (const input of validTens) {
  grammar(`limit parses ${JSON.stringify(input)} as 10`, async () => {
    assert.is((await get(`${path}?limit=${encodeURIComponent(input)}`)).body.meta.limit, 10)
  })
}

grammar('limit and offset have bounds', async () => {
  const below = (name: string, input: string, ge: number) => ({
    type: 'greater_than_equal',
    loc: ['query', name],
    msg: `Input should be greater than or equal to ${ge}`,
    input,
    ctx: { ge },
  })
  for (const input of ['0', '-0', '0.0', '-5'])
    assert.equal((await get(`${path}?limit=${input}`)).body.detail, [below('limit', input, 1)])
  assert.equal((await get(`${path}?offset=-1`)).body.detail, [below('offset', '-1', 0)])
  for (const input of tooLarge) {
    const issue = {
      type: 'less_than_equal',
      loc: ['query', 'limit'],
      msg: 'Input should be less than or equal to 200',
      input,
      ctx: { le: 200 },
    }
    const { status, body } = await get(`${path}?limit=${input}`)
    assert.is(status, 422)
    assert.equal(body.detail, [issue])
    assert.equal(Object.keys(body.detail[0]), ['type', 'loc', 'msg', 'input', 'ctx'])
  }
})

grammar.run()
