/** Case folding in every script, and the containment test for long texts, compared with the language's own. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { containment, fold, shortPattern } from '../../engine/storage/caseFold.js'
import { seededRandom } from '../../support/random.js'

const test = suite('case folding and containment')

test('folding ignores the case of every letter, and nothing else: it agrees with case-insensitive regular expressions', () => {
  for (let point = 0x20; point < 0x1ffff; point++) {
    if (point >= 0xd800 && point < 0xe000) continue
    const letter = String.fromCodePoint(point)
    if (!/[\p{L}\p{M}\p{N}\p{S}]/u.test(letter)) continue
    const folded = fold(letter)
    const isSame =
      folded === letter || new RegExp(folded.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), 'iu').test(letter)
    if (!isSame) assert.unreachable(`U+${point.toString(16)} folds to ${folded}`)
    // Dotless ı has I as its capital and yet is another letter than i, as are the old shapes of Cyrillic letters.
    for (const other of [letter.toUpperCase(), letter.toLowerCase()])
      if (other.length === letter.length && !/[ı\u1c80-\u1c88]/.test(letter)) assert.is(fold(other), folded, letter)
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

test('containment agrees with includes() on texts whose parts repeat', () => {
  const random = seededRandom(7)
  const rounds = 3_000
  let found = 0
  for (let round = 0; round < rounds; round++) {
    // A beginning that repeats: a search that resumes at the wrong place misses the text.
    const parts = Array.from({ length: 1 + random.below(3) }, () => `${'a'.repeat(random.below(6))}b`)
    let text = ''
    const length = random.chance(0.9) ? 400 : random.below(100)
    while (text.length < length) text += random.pick(parts)
    const from = random.below(150)
    const slice = `${text}${'b'.repeat(from)}`.slice(from, from + shortPattern - 1 + random.below(150))
    const changed = random.below(slice.length)
    const pattern = random.chance(0.5) ? slice : `${slice.slice(0, changed)}a${slice.slice(changed + 1)}`
    const isFound = containment(pattern)(text)
    assert.is(isFound, text.includes(pattern), `${pattern} in ${text}`)
    if (isFound) found++
  }
  assert.ok(found > rounds / 4 && found < rounds, `${found} of ${rounds} were found`)
})

test.run()
