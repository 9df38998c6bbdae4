/** The ids of rows, and the integers in the query of a list: what is valid, unknown and malformed. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseInteger } from '../../engine/descriptor/kinds/integer.js'
import { idChecks } from '../support/idChecks.js'
import { kitchenSink } from '../support/kitchenSink.js'
import { startService } from '../support/service.js'

const { get } = await startService({ registry: kitchenSink })
const { expectUnknown, expectMalformed } = idChecks(get)

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

const grammar = suite('integers of a list')
const path = '/v1/sink-basins'

/** Of a repeated parameter the last counts, and unknown ones are ignored. */
for (const [query, limit] of [
  ['?limit=3&limit=9', 9],
  ['??limit=0', 50],
  ['?nonsense=1&__proto__=2&constructor=3&LIMIT=4', 50],
] as const) {
  grammar(`${query} is a page of ${limit}`, async () => {
    assert.is((await get(`${path}${query}`)).body.meta.limit, limit)
  })
}

const sevens = (count: number): string => '7'.repeat(count)

/** The results of pydantic 2.13; it accepts up to 4,300 digits. */
const valid: Record<string, readonly string[]> = {
  0: ['-0', '00', '0_0', '0'.repeat(5000)],
  1: ['0_1', '0__1'],
  10: ['10.0', '010', '1_0', '+10', ' 10 ', '10.000', '0_10', '00010.0', '1_0.0', '\u00a010\u2003'],
  [sevens(4300)]: [sevens(4300), ` +${sevens(4300)} `, `000${sevens(4300)}`, Array(4300).fill('7').join('_')],
}
for (const [value, inputs] of Object.entries(valid)) {
  grammar(`inputs that are ${value.slice(0, 9)}`, async () => {
    for (const input of inputs) {
      const { text } = await get(`${path}?offset=${encodeURIComponent(input)}`)
      assert.ok(text.endsWith(`"offset":${value}}}`), input)
    }
  })
}

const invalid: [type: string, msg: string, inputs: readonly string[]][] = [
  [
    'int_parsing',
    'Input should be a valid integer, unable to parse string as an integer',
    // biome-ignore format: one list
    [
      'abc', '', '1.5', '1e3', '10.', '0x10', 'true', 'NaN', '1,000', '_10', '--1', '١', '\0', '1__0', '10_', '+-1', ' ',
      '++1', '0_', '.0', '1.0_0', '1 0', '１', '\uFEFF1', '0-5', `${sevens(4300)}abc`, `+${sevens(4301)}`,
      ` ${sevens(4301)}`, `0${sevens(4301)}`, `-0${sevens(4300)}`, Array(4301).fill('7').join('_'),
    ],
  ],
  [
    'int_parsing_size',
    'Unable to parse input string as an integer, exceeded maximum size',
    [...['', 'abc', '.5', '_', '\0'].map((end) => `${sevens(4301)}${end}`), `-${sevens(4300)}`, `-${sevens(4301)}abc`],
  ],
]
for (const [type, msg, inputs] of invalid) {
  grammar(`limit and offset reject what is ${type}, both reported`, async () => {
    for (const input of inputs) {
      const both = encodeURIComponent(input).length < 7_000 ? ['limit', 'offset'] : ['offset']
      const query = both.map((name) => `${name}=${encodeURIComponent(input)}`).join('&')
      const { status, text } = await get(`${path}?${query}`)
      assert.is(status, 422, input)
      const issues = both.map((name) => ({ type, loc: ['query', name], msg, input }))
      assert.is(text, JSON.stringify({ detail: issues }))
    }
  })
}

grammar('a parameter without a value is empty', async () => {
  assert.is((await get(`${path}?limit`)).body.detail[0].input, '')
})

grammar('limit and offset have bounds, both reported', async () => {
  const issue = (name: string, input: string, ctx: { ge: number } | { le: number }) => ({
    type: 'ge' in ctx ? 'greater_than_equal' : 'less_than_equal',
    loc: ['query', name],
    msg: `Input should be ${'ge' in ctx ? `greater than or equal to ${ctx.ge}` : `less than or equal to ${ctx.le}`}`,
    input,
    ctx,
  })
  const cases = [
    ...['0', '-0', '0.0', '-5', '-05.00'].map((input) => issue('limit', input, { ge: 1 })),
    ...['201', '1000', '9'.repeat(30)].map((input) => issue('limit', input, { le: 200 })),
  ]
  for (const limit of cases) {
    const { status, text } = await get(`${path}?limit=${limit.input}&offset=-1`)
    assert.is(status, 422)
    assert.is(text, JSON.stringify({ detail: [limit, issue('offset', '-1', { ge: 0 })] }))
  }
})

grammar('an integer takes time linear in its length to parse', () => {
  // Quadratic parsing of these would outlast the test run.
  const [spaces, zeros] = [' ', '0'].map((sign) => sign.repeat(1_000_000))
  const pairs = ['0_', '1_'].map((sign) => sign.repeat(1_000_000))
  for (const input of [`1${spaces}1`, `${zeros}x`, `${pairs[0]}.`, `${pairs[1]}`, `1.${zeros}1`])
    assert.type(parseInteger(input), 'string')
})

grammar.run()
