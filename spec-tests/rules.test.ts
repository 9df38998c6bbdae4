/** The engine's small rules, each by itself. */
import Database from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inexactKeys } from '../engine/contract/exactNumbers.js'
import { readInteger } from '../engine/contract/parameters.js'
import { now, today } from '../engine/descriptor/index.js'
import { didYouMean, nearest } from '../engine/descriptor/nearest.js'
import { readSettings } from '../engine/settings.js'
import { anywhere, fold, isIndexed, phrase } from '../engine/storage/fold.js'
import { rarityIn } from '../engine/storage/rareText.js'

const test = suite('small rules')

test('integers are read as pydantic reads them', () => {
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
  for (const [input, value] of Object.entries(valid)) assert.equal(readInteger('n', input), { value }, input)
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
    assert.ok('issue' in readInteger('n', input), input)
  }
})

test('case folds in every script, and only case', () => {
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

test('folding agrees with the language’s own regular expressions, letter by letter', () => {
  for (let point = 0x20; point < 0x1ffff; point++) {
    if (point >= 0xd800 && point < 0xe000) continue
    const letter = String.fromCodePoint(point)
    if (!/[\p{L}\p{M}\p{N}\p{S}]/u.test(letter)) continue
    const folded = fold(letter)
    const isSame =
      folded === letter || new RegExp(folded.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), 'iu').test(letter)
    if (!isSame) assert.unreachable(`U+${point.toString(16)} folds to ${folded}`)
  }
})

test('the search index folds every letter as we do, but for those that are looked for without it', () => {
  const database = new Database(':memory:')
  database.exec("create virtual table found using fts5(text, content = '', tokenize = 'trigram')")
  const insert = database.prepare('insert into found (rowid, text) values (?, ?)')
  const match = database.prepare('select rowid from found where found match ? order by rowid').pluck()
  const alike = new Map<string, number[]>()
  for (let point = 0x41; point < 0x1ffff; point++) {
    const letter = String.fromCodePoint(point)
    if ((point >= 0xd800 && point < 0xe000) || !/\p{L}/u.test(letter) || !isIndexed(`x${letter}y`)) continue
    const folded = fold(letter)
    alike.set(folded, [...(alike.get(folded) ?? []), point])
    insert.run(point, `x${letter}y`)
  }
  for (const [folded, points] of alike) {
    if (points.length > 1) assert.equal(match.all(phrase(`x${folded}y`)), points, folded)
  }
})

test('a pattern finds a text in any case, and takes nothing for an operator', () => {
  const database = new Database(':memory:')
  const matches = database.prepare('select ? glob ?').pluck()
  for (const [text, q] of [
    ['Straße', 'SSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['Ა', 'ა'],
    ['a*b', 'A*B'],
    ['[x]', '[X]'],
    ['a?c', 'A?'],
    ['5^2', '^2'],
    ['K', 'k'],
  ] as const) {
    assert.is(matches.get(text, anywhere(q)), Number(fold(text).includes(fold(q))), q)
  }
  for (const q of ['*', '?', '[', ']', '^', 'a*c']) assert.is(matches.get('abc', anywhere(q)), 0, q)
})

test('a sample tells what of a text is rare: its longest rare part, and the trigrams to find it by', () => {
  const rarity = rarityIn(Array.from({ length: 200 }, (_, n) => `EMP-${String(n * 37).padStart(5, '0')} London`))
  assert.is(rarity.partOf('EMP-07215'), '07215')
  assert.is(rarity.partOf('emp-'), 'emp-')
  assert.is(rarity.partOf('Zebulon'), 'Zebulo')
  const trigrams = (text: string) => rarity.trigramsOf(text).map(({ trigram }) => trigram)
  assert.equal(trigrams('London'), ['lon', 'ond', 'ndo'])
  assert.equal(trigrams('Zen'), ['zen'])
  assert.equal(trigrams('EMP-Zenobia'), ['p-z', 'zen', 'nob'])
  assert.equal(trigrams('London Zoo'), ['on ', ' zo', 'n z'])
  assert.equal(
    rarity.trigramsOf('EMP-Zed', (trigram) => /^\w+$/.test(trigram)).map(({ trigram, share }) => [trigram, share]),
    [
      ['zed', 0],
      ['emp', 1],
    ],
  )
  const unknown = rarityIn([])
  assert.is(unknown.partOf('Δelta'), 'Δelta')
  assert.equal(
    unknown.trigramsOf('ΔΔΔΔe').map(({ trigram }) => trigram),
    ['δδδ', 'δδe'],
  )
})

test('numbers that would be rounded are found, wherever they stand', () => {
  const keys = (source: string) => [...inexactKeys(source)]
  assert.equal(keys('{"a":9007199254740993,"b":0.1,"c":1e3,"d":3.00,"e":-0,"f":1.7976931348623157e308,"g":0e999}'), [
    'a',
  ])
  assert.equal(keys('{"a":"\\"b\\": 9007199254740993","c" : 1e999}'), ['c'])
  assert.equal(keys('{"\\u0061":0.10000000000000001}'), ['a'])
  assert.equal(keys(`{"a":1${'0'.repeat(500_000)}1}`), ['a'])
})

test('the nearest name is found, and none where none is near', () => {
  assert.is(nearest('leave_typ', ['leave_type', 'status']), 'leave_type')
  assert.is(nearest('sttaus', ['leave_type', 'status']), 'status')
  assert.is(nearest('zzz', ['leave_type', 'status']), undefined)
  assert.is(didYouMean('colour', ['color']), '; did you mean "color"?')
})

test('the clock reads UTC', () => {
  assert.match(today(), /^\d{4}-\d\d-\d\d$/)
  assert.match(now(), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.ok(Math.abs(Date.parse(now()) - Date.now()) < 2000)
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
    CACHE_MB: 32,
    READ_TIMEOUT_MS: 10_000,
    DRAIN_TIMEOUT_MS: 10_000,
    WORKERS: 1,
  })
  assert.is(readSettings({ API_TOKEN: ' \t' }).API_TOKEN, undefined)
  assert.is(readSettings({ API_TOKEN: ' secret ' }).API_TOKEN, 'secret')
})

test('every wrong setting is told at once, with what it takes', () => {
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
