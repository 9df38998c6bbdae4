/** The text of a number in responses: the same on every database, and exact. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { number } from '../../engine/descriptor/index.js'
import { seededRandom } from '../../support/random.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const things = resourceIn('things', { x: number() })
const { create, get, send, fill } = await startService({ registry: [things] })

/** What is sent, and what every database answers. */
const texts: [sent: string, text: string][] = [
  ['0', '0'],
  ['-0.0', '0'],
  ['3', '3'],
  ['3.0', '3'],
  ['-2.50', '-2.5'],
  ['0.1', '0.1'],
  ['0.30000000000000004', '0.30000000000000004'],
  ['0.3333333333333333', '0.3333333333333333'],
  ['1234567.891', '1234567.891'],
  ['0.0001', '0.0001'],
  ['0.00001', '1e-05'],
  ['1.5e-7', '1.5e-07'],
  ['999999999999999', '999999999999999'],
  ['99999999999999.9', '99999999999999.9'],
  ['1e15', '1e+15'],
  ['1234567890123456', '1.234567890123456e+15'],
  ['-12345678901234568', '-1.2345678901234568e+16'],
  ['1e18', '1e+18'],
  ['1152921504606847000', '1.152921504606847e+18'],
  ['1e20', '1e+20'],
  ['1e21', '1e+21'],
  ['-1e21', '-1e+21'],
  ['1.25e300', '1.25e+300'],
  ['1.7976931348623157e308', '1.7976931348623157e+308'],
  ['2.2250738585072014e-308', '2.2250738585072014e-308'],
  ['1e-310', '1e-310'],
  ['5e-324', '5e-324'],
  // Halfway between two doubles.
  ['1e23', '9.999999999999999e+22'],
]

const test = suite('numbers')

for (const [sent, text] of texts) {
  test(`${sent} is ${text} in the response, the row, the list and the downloads`, async () => {
    const created = await create('things', `{"x":${sent}}`)
    assert.is(created.text, `{"id":${created.body.id},"x":${text}}`)
    assert.is((await get(`/v1/things/${created.body.id}`)).text, created.text)
    assert.ok((await get('/v1/things?sort=-id&limit=1')).text.includes(`[${created.text}]`))
    const download = async (accept: string) => (await send('/api/v1/things', { headers: { accept } })).text
    assert.ok((await download('application/x-ndjson')).endsWith(`${created.text}\n`))
    assert.ok((await download('text/csv')).endsWith(`\n${created.body.id},${text}\r\n`))
    assert.is(JSON.parse(text), Number(sent) + 0)
  })
}

test('any doubles read back as they were, with at most 17 digits, of which none is superfluous', async () => {
  const { below } = seededRandom(20260101)
  const bytes = new DataView(new ArrayBuffer(8))
  const bits = () => {
    for (let at = 0; at < 8; at++) bytes.setUint8(at, below(256))
    return bytes
  }
  const exponents = Array.from({ length: 24 }, (_, n) => 10 ** n)
  const doubles = [
    ...[2 ** 53, 2 ** 63, -(2 ** 63), 2 ** 63 - 1024, 2.2250738585072014e-308, 1 / 3, ...exponents],
    ...Array.from({ length: 3_000 }, (_, n) => {
      // Any, subnormal ones, amounts, few digits with any exponent, and magnitudes that people write.
      if (n % 5 === 0) return bits().getFloat64(0)
      if (n % 5 === 1) return Number(bits().getBigUint64(0) % 2n ** 52n) * Number.MIN_VALUE
      if (n % 5 === 2) return below(10_000_000) / 100
      if (n % 5 === 3) return Number(`${below(10 ** (1 + below(9)))}e${below(600) - 308}`)
      return (below(2 ** 30) / 2 ** 30) * 10 ** below(20)
    }),
  ]
  const rows = doubles.filter(Number.isFinite).map((x, n) => ({ id: 100_000 + n, x }))
  await fill([{ resource: things, rows }])
  const { text } = await send('/api/v1/things', { headers: { accept: 'application/x-ndjson' } })
  const lines = text.trim().split('\n').slice(-rows.length)
  for (const [n, { id, x }] of rows.entries()) {
    const digits = (text: string) => text.replace(/e.*|[-.]/g, '').replace(/^0+|0+$/g, '').length
    const [, text = ''] = new RegExp(`^{"id":${id},"x":(.*)}$`).exec(lines[n] ?? '') ?? []
    assert.is(Number(text), x, lines[n])
    const fewest = digits(x.toExponential())
    // A decimal that is halfway between two doubles has more.
    assert.ok(digits(text) === fewest || (Math.abs(x) >= 2 ** 53 && digits(text) <= 17), lines[n])
    assert.is(text.includes('e'), x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e15), lines[n])
  }
})

test.run()
