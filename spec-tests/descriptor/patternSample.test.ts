/** Samples of texts with a pattern, which need no example. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { sampleValue } from '../../engine/descriptor/samples.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const test = suite('samples of patterns')

/** With how many different texts there are, of sixty. */
const patterns: [pattern: string, different: number][] = [
  ['[0-9]{13}', 60],
  ['[A-Z]{3}-\\d+', 60],
  ['(?:north|south|east|west)(?:-\\d{2})?', 60],
  ['^[^@\\s]+@[a-z.]+\\.(?:com|org)$', 60],
  ['\\p{Lu}\\p{Ll}*', 60],
  ['#(?<hex>[\\da-f]{6}|[\\da-f]{3})', 60],
  ['\\+?\\d{1,3}( \\d{2,4}){1,3}', 60],
  ['[\\w.\\-\\]]{2,4}?', 60],
  ['a|b|', 3],
  ['über \\u{fc}\\x41\\.', 1],
  ['', 1],
]

for (const [pattern, different] of patterns) {
  test(`/${pattern}/ has ${different} samples`, async () => {
    const [, field] = resourceIn('codes', { code: text({ maxLength: 40, pattern }) }).fields
    const samples = Array.from({ length: 60 }, (_, n) => sampleValue(field as never, n))
    for (const sample of samples) assert.match(String(sample), new RegExp(`^(?:${pattern})$`, 'u'))
    assert.is(new Set(samples).size, different, samples.slice(0, 5).join())
  })
}

test('a required field with a pattern needs neither an example nor demo rows', async () => {
  const fields = { code: text({ maxLength: 20, pattern: '[A-Z]{3}-\\d+', unique: true }) }
  const codes = resourceIn('codes', fields, { required: ['code'], create: true })
  const service = await startService({ registry: [codes] })
  const { status, body } = await service.get('/openapi.json')
  assert.is(status, 200)
  const { example } = body.paths['/v1/codes'].post.requestBody.content['application/json']
  assert.is((await service.create('codes', example)).status, 201)
})

test.run()
