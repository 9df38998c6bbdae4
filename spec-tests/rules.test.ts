/** Unit tests of the engine's pure functions. */
import Database from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { type HttpError, internalError, outcomeUnknown, unavailable } from '../engine/contract/errors.js'
import { inexactKeys } from '../engine/contract/exactNumbers.js'
import { parseInteger } from '../engine/contract/integers.js'
import { listQueryParser, listQuerySchema } from '../engine/contract/parameters.js'
import { now, today } from '../engine/descriptor/index.js'
import { didYouMean, nearest } from '../engine/descriptor/nearest.js'
import { readSettings } from '../engine/settings.js'
import { containment, fold } from '../engine/storage/caseFold.js'
import { matchExpression, trigramsOf } from '../engine/storage/sqlite/search.js'
import { registry } from './support/service.js'

const test = suite('pure functions')

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
  for (const input of [
    '++1',
    '-+1',
    '+-1',
    '0_',
    '1_',
    '_1',
    '1__0',
    '.0',
    '5.',
    '1.0_0',
    '1 0',
    '0x1',
    '１',
    '\uFEFF1',
    '0-5',
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

test('the bounds and defaults of a list are those of its schema', () => {
  const [resource] = registry
  if (!resource) return assert.unreachable()
  const limit = z.int().min(2).max(10).default(3)
  const parse = listQueryParser(listQuerySchema(resource).extend({ limit }))
  assert.is(parse('').limit, 3)
  assert.is(parse('limit=10').limit, 10)
  for (const [input, ctx] of [
    ['1', { ge: 2 }],
    ['11', { le: 10 }],
    ['9'.repeat(30), { le: 10 }],
    [`-${'9'.repeat(30)}`, { ge: 2 }],
  ] as const) {
    try {
      parse(`limit=${input}`)
      assert.unreachable(input)
    } catch (error) {
      assert.equal((error as HttpError & { body: { detail: { ctx: object }[] } }).body.detail[0]?.ctx, ctx, input)
    }
  }
})

const messageOf = ({ body }: HttpError) => (body as { error: { message: string } }).error.message

test('unavailable means that nothing was stored; only a lost commit is unknown', () => {
  for (const error of [unavailable(), outcomeUnknown()]) {
    assert.is(error.status, 503)
    assert.is((error.body as { error: { code: string } }).error.code, 'unavailable')
    assert.is(error.headers['Retry-After'], '1')
  }
  assert.match(messageOf(unavailable()), /Nothing was stored; try again/)
  assert.match(messageOf(outcomeUnknown()), /may or may not have been stored. Retry with the same Idempotency-Key/)
})

test('an internal error does not suggest a retry', () => {
  assert.not.match(messageOf(internalError()), /again|retry/i)
})

test('folding ignores case in every script, and nothing else', () => {
  const same = [
    'MÜLLER müller',
    'ΣΑΣ σας',
    'ΑΣ αΣ',
    'Ж ж',
    'Ａ ａ',
    'ſ S',
    'K k',
    'ẞ ß',
    'Ⴀ ⴀ',
    'Ა ა',
    '𐐀 𐐨',
    'Ǆ ǆ',
    'µ Μ',
    'Ꭰ ꭰ',
    'Å Å',
  ]
  for (const pair of same) {
    const [a = '', b = ''] = pair.split(' ')
    assert.is(fold(a), fold(b), pair)
  }
  for (const pair of ['ı i', 'İ i', 'ß ss', 'é e', 'ﬁ fi', 'ü u']) {
    const [a = '', b = ''] = pair.split(' ')
    assert.is.not(fold(a), fold(b), pair)
  }
})

test('folding agrees with case-insensitive regular expressions for every letter', () => {
  for (let point = 0x20; point < 0x1ffff; point++) {
    if (point >= 0xd800 && point < 0xe000) continue
    const letter = String.fromCodePoint(point)
    if (!/[\p{L}\p{M}\p{N}\p{S}]/u.test(letter)) continue
    const folded = fold(letter)
    const isSame =
      folded === letter || new RegExp(folded.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), 'iu').test(letter)
    if (!isSame) assert.unreachable(`U+${point.toString(16)} folds to ${folded}`)
    // Dotless ı has I as its capital and yet is another letter than i, as are the old shapes of Cyrillic letters.
    const upper = letter.toUpperCase()
    if (upper.length === letter.length && !/[ı\u1c80-\u1c88]/.test(letter)) assert.is(fold(upper), folded, letter)
  }
})

test('the search index folds the letters of queried trigrams as the engine does', () => {
  const database = new Database(':memory:')
  database.exec("create virtual table found using fts5(text, content = '', tokenize = 'trigram', detail = none)")
  const insert = database.prepare('insert into found (rowid, text) values (?, ?)')
  const match = database.prepare('select rowid from found where found match ? order by rowid').pluck()
  const alike = new Map<string, number[]>()
  for (let point = 0x41; point < 0x1ffff; point++) {
    const letter = String.fromCodePoint(point)
    if ((point >= 0xd800 && point < 0xe000) || !/\p{L}/u.test(letter) || trigramsOf(fold(`x${letter}y`)).length === 0)
      continue
    const folded = fold(letter)
    alike.set(folded, [...(alike.get(folded) ?? []), point])
    insert.run(point, `x${letter}y`)
  }
  for (const [folded, points] of alike) {
    if (points.length > 1) assert.equal(match.all(`"x${folded}y"`), points, folded)
  }
})

test('folding a text equals folding its letters', () => {
  const letters = ['Σ', 'ς', 'ſ', 'K', 'İ', 'ı', 'ẞ', 'ᾳ', 'Ა', 'é', 'Ž', '한', 'न', '𐐀', 'µ', 'ϐ', 'x', 'Q']
  for (const one of letters) {
    for (const other of letters) {
      const text = `${one}${other} ${other}`
      assert.is(fold(text), Array.from(text, (letter) => fold(letter)).join(''), text)
    }
  }
})

test('containment of long patterns agrees with includes()', () => {
  const texts = ['ab'.repeat(200), `${'a'.repeat(300)}b${'a'.repeat(300)}`, 'abcabcabd'.repeat(60), 'x'.repeat(65), '']
  for (const text of texts) {
    for (const other of texts) {
      for (const pattern of [
        other,
        other.slice(1),
        other.slice(0, 100),
        `${other.slice(0, 90)}c`,
        `c${other.slice(0, 90)}`,
      ]) {
        assert.is(containment(pattern)(text), text.includes(pattern), `${pattern.length} in ${text.length}`)
      }
    }
  }
})

test('a search uses at most 16 distinct trigrams, without letters that FTS5 folds differently', () => {
  assert.equal(trigramsOf('abcabc'), ['abc', 'bca', 'cab'])
  assert.equal(trigramsOf('ab'), [])
  assert.equal(trigramsOf('a\ufffdbcd'), ['bcd'])
  assert.equal(trigramsOf('აბგabcდ'), ['abc'])
  const long = trigramsOf(Array.from({ length: 9_000 }, (_, n) => n.toString(36)).join(' '))
  assert.is(long.length, 16)
  assert.is(new Set(long).size, 16)
})

test('a search queries the rarest trigrams', () => {
  const sixteenth: Record<string, number> = {
    '"emp"': 516,
    '"mp-"': 516,
    '"p-7"': 700,
    '"-77"': 900,
    '"777"': 800,
  }
  const probe = (match: string) => sixteenth[match]
  // No sixteenth row has "77x".
  assert.is(matchExpression(['emp', 'mp-', 'p-7', '-77', '777', '77x'], probe), '"77x" AND "-77" AND "777" AND "p-7"')
  assert.is(matchExpression(['a"b', 'xyz'], probe), '"a""b" AND "xyz"')
})

test('numbers that would be rounded are detected at every position', () => {
  const keys = (source: string) => [...inexactKeys(source)]
  assert.equal(keys('{"a":9007199254740993,"b":0.1,"c":1e3,"d":3.00,"e":-0,"f":1.7976931348623157e308,"g":0e999}'), [
    'a',
  ])
  assert.equal(keys('{"a":"\\"b\\": 9007199254740993","c" : 1e999}'), ['c'])
  assert.equal(keys('{"\\u0061":0.10000000000000001}'), ['a'])
  assert.equal(keys(`{"a":1${'0'.repeat(500_000)}1}`), ['a'])
})

test('a similar name is suggested, and none if none is similar', () => {
  assert.is(nearest('leave_typ', ['leave_type', 'status']), 'leave_type')
  assert.is(nearest('sttaus', ['leave_type', 'status']), 'status')
  assert.is(nearest('zzz', ['leave_type', 'status']), undefined)
  assert.is(didYouMean('colour', ['color']), '. Did you mean "color"?')
})

test('now and today are the current UTC second and date', () => {
  const second = () => new Date().toISOString().slice(0, 19)
  const before = second()
  const [timestamp, date] = [now(), today()]
  const after = second()
  assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.ok(timestamp >= `${before}Z` && timestamp <= `${after}Z`)
  assert.ok(date >= before.slice(0, 10) && date <= after.slice(0, 10))
})

test('settings have their defaults', () => {
  assert.equal(readSettings({}), {
    PORT: 3000,
    HOST: '127.0.0.1',
    API_TOKEN: undefined,
    DATABASE_URL: 'sqlite:data/workforce.sqlite',
    DEMO_DATA: true,
    LOG_LEVEL: 'info',
    METRICS_PORT: undefined,
    POOL_SIZE: 10,
    POOL_WAIT_MS: 3000,
    POOL_IDLE_MS: 30_000,
    PREPARED_STATEMENTS: 'auto',
    CACHE_MB: 32,
    READ_TIMEOUT_MS: 10_000,
    DRAIN_TIMEOUT_MS: 10_000,
    WORKERS: 1,
  })
  assert.is(readSettings({ API_TOKEN: ' \t' }).API_TOKEN, undefined)
  assert.is(readSettings({ API_TOKEN: ' secret ' }).API_TOKEN, 'secret')
})

test('all invalid settings are reported at once, with the accepted values', () => {
  const wrong = {
    PORT: '65536',
    DATABASE_URL: 'mysql://user:pass@host',
    DEMO_DATA: 'yes',
    LOG_LEVEL: 'loud',
    WORKERS: '0',
  }
  try {
    readSettings(wrong)
    assert.unreachable()
  } catch (error) {
    const lines = (error as Error).message.split('\n')
    assert.equal(
      lines.map((line) => line.split(' ')[0]),
      Object.keys(wrong),
    )
    assert.match(lines[0] as string, /"65536".*0.*65535/)
    assert.not.match((error as Error).message, /pass@/)
  }
  assert.throws(() => readSettings({ DATABASE_URL: 'sqlite::memory:', WORKERS: '2' }), /WORKERS/)
})

test.run()
