/** The trigrams of a search on SQLite: which are queried, and that FTS5 folds their letters as the engine does. */

import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fold } from '../../engine/storage/caseFold.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { matchExpression, pickTrigrams } from '../../engine/storage/sqlite/search.js'

const test = suite('trigrams')

test('the search index folds the letters of queried trigrams as the engine does', () => {
  const database = new Database(':memory:')
  database.exec("create virtual table found using fts5(text, content = '', tokenize = 'trigram', detail = none)")
  const insert = database.prepare('insert into found (rowid, text) values (?, ?)')
  const match = database.prepare('select rowid from found where found match ? order by rowid').pluck()
  const alike = new Map<string, number[]>()
  for (let point = 0x41; point < 0x1ffff; point++) {
    const letter = String.fromCodePoint(point)
    if ((point >= 0xd800 && point < 0xe000) || !/\p{L}/u.test(letter) || pickTrigrams(fold(`x${letter}y`)).length === 0)
      continue
    const folded = fold(letter)
    alike.set(folded, [...(alike.get(folded) ?? []), point])
    insert.run(point, `x${letter}y`)
  }
  for (const [folded, points] of alike) {
    if (points.length > 1) assert.equal(match.all(`"x${folded}y"`), points, folded)
  }
})

test('a search uses at most 16 distinct trigrams, without letters that FTS5 folds differently', () => {
  assert.equal(pickTrigrams('abcabc'), ['abc', 'bca', 'cab'])
  assert.equal(pickTrigrams('ab'), [])
  assert.equal(pickTrigrams('a\ufffdbcd'), ['bcd'])
  assert.equal(pickTrigrams('აბგabcდ'), ['abc'])
  const long = pickTrigrams(Array.from({ length: 9_000 }, (_, n) => n.toString(36)).join(' '))
  assert.is(long.length, 16)
  assert.is(new Set(long).size, 16)
})

test('a search queries the rarest trigrams', () => {
  const sixteenth: Record<string, number> = { '"emp"': 516, '"mp-"': 516, '"p-7"': 700, '"-77"': 900, '"777"': 800 }
  const probe = (match: string) => sixteenth[match]
  // No sixteenth row has "77x".
  assert.is(matchExpression(['emp', 'mp-', 'p-7', '-77', '777', '77x'], probe), '"77x" AND "-77" AND "777" AND "p-7"')
  assert.is(matchExpression(['a"b', 'xyz'], probe), '"a""b" AND "xyz"')
})

test.run()
