/** The parsing of parameters: integers as pydantic reads them, and the bounds of a list. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseInteger } from '../../engine/descriptor/integers.js'

const test = suite('parameters')

test('integers are parsed as pydantic parses them', () => {
  const valid = {
    '0': 0n,
    '-0': 0n,
    '00': 0n,
    '0_0': 0n,
    '0_1': 1n,
    '0__1': 1n,
    '1_000': 1000n,
    '+5': 5n,
    '-5': -5n,
    '-05.00': -5n,
    '\u00a07\u2003': 7n,
    '1_0.0': 10n,
  }
  for (const [input, value] of Object.entries(valid)) assert.is(parseInteger(input), value, input)
  // biome-ignore format: one list
  for (const input of [
    '++1', '-+1', '+-1', '0_', '1_', '_1', '1__0', '.0', '5.', '1.0_0', '1 0', '0x1', '１', '\uFEFF1', '0-5',
  ]) {
    assert.is(parseInteger(input), 'int_parsing', input)
  }
})

/** The results of pydantic 2.13 around its limit of 4,300 digits. */
const longIntegers = [
  { name: '4,300 digits', input: '7'.repeat(4300), type: 'valid' },
  { name: '4,300 digits, a plus sign and white space', input: ` +${'7'.repeat(4300)} `, type: 'valid' },
  { name: '4,300 digits after zeros', input: `000${'7'.repeat(4300)}`, type: 'valid' },
  { name: '4,300 digits with underscores', input: Array(4300).fill('7').join('_'), type: 'valid' },
  { name: '5,000 zeros', input: '0'.repeat(5000), type: 'valid' },
  { name: '4,301 digits', input: '7'.repeat(4301), type: 'int_parsing_size' },
  { name: '4,301 digits and letters', input: `${'7'.repeat(4301)}abc`, type: 'int_parsing_size' },
  { name: '4,301 digits and a fraction', input: `${'7'.repeat(4301)}.5`, type: 'int_parsing_size' },
  { name: '4,301 digits and an underscore', input: `${'7'.repeat(4301)}_`, type: 'int_parsing_size' },
  { name: '4,301 digits and a NUL', input: `${'7'.repeat(4301)}\0`, type: 'int_parsing_size' },
  { name: 'a minus sign and 4,300 digits', input: `-${'7'.repeat(4300)}`, type: 'int_parsing_size' },
  { name: 'a minus sign, 4,301 digits and letters', input: `-${'7'.repeat(4301)}abc`, type: 'int_parsing_size' },
  { name: '4,300 digits and letters', input: `${'7'.repeat(4300)}abc`, type: 'int_parsing' },
  { name: 'a plus sign and 4,301 digits', input: `+${'7'.repeat(4301)}`, type: 'int_parsing' },
  { name: 'a space and 4,301 digits', input: ` ${'7'.repeat(4301)}`, type: 'int_parsing' },
  { name: 'a zero and 4,301 digits', input: `0${'7'.repeat(4301)}`, type: 'int_parsing' },
  { name: 'a minus sign, a zero and 4,300 digits', input: `-0${'7'.repeat(4300)}`, type: 'int_parsing' },
  { name: '4,301 digits with underscores', input: Array(4301).fill('7').join('_'), type: 'int_parsing' },
]
for (const { name, input, type } of longIntegers) {
  test(`${name}: ${type}`, () => {
    const result = parseInteger(input)
    assert.is(typeof result === 'bigint' ? 'valid' : result, type)
  })
}

test('an integer takes time linear in its length to parse', () => {
  // Quadratic parsing of these would outlast the test run.
  const million = 1_000_000
  for (const input of [
    `1${' '.repeat(million)}1`,
    `${'0'.repeat(million)}x`,
    `${'0_'.repeat(million)}.`,
    '1_'.repeat(million),
    `1.${'0'.repeat(million)}1`,
  ]) {
    assert.type(parseInteger(input), 'string')
  }
})

test.run()
