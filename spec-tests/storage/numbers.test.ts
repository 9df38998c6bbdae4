/** The text of a number in responses: the same on every database, and exact. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { number } from '../../engine/descriptor/index.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const { create, get, send } = await startService({ registry: [resourceIn('things', { x: number() })] })

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

test.run()
