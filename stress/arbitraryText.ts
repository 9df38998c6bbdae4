/** Generates texts, with characters that often cause bugs, and their percent-encodings. */
import fc from 'fast-check'

/** Characters with unusual case mappings or normal forms, and characters with a meaning in SQL, LIKE, FTS5 or regular expressions. */
const specialCharacters = [
  ...'İıIiſsSßẞΣσςΩωKkÅåµμǅǆǄ',
  ...'ﬁﬀŉǰΐᾳᾼ',
  ...'აႠᲐꭰᎠ𐓘𐒰ⴀ',
  ...'Ⅷⅷⓐ𝐀ａＡ',
  ...'éÉ\u0301\u0130\u1e9e',
  ...'%_*?[]^-"\'\\`(){}|&;:=#+/<>~!@$,.',
  ...'\u200b\u200d\ufeff\u2028\ufffd\uffff\u{10ffff}\u00a0\u0085\t\n\r\u0001\u007f',
  '🇩🇪',
  '👩‍👩‍👧',
]

const words = [...'OR AND NEAR NOT null true __proto__ {{x}} ../.. \\u0000'.split(' '), "'; drop table x; --"]

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }) },
  { weight: 3, arbitrary: fc.string({ unit: fc.constantFrom(...specialCharacters), maxLength: 6 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom(...words) },
)

/** Any text that can be stored: without NUL and lone surrogates. */
export const text: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 12, arbitrary: fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(' ')) },
    { weight: 1, arbitrary: fc.tuple(piece, fc.nat(2_000)).map(([one, times]) => one.repeat(times).slice(0, 4_000)) },
  )
  .map((value) => value.replaceAll('\0', '').toWellFormed())

/** Any text, including NUL. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.tuple(text, text).map(([one, other]) => `${one}\0${other}`) },
)

/** Invalid percent-encodings, and encodings of unusual bytes. */
const invalidEscapes = '% %2 %zz %ff %c3 %ed%a0%80 %f8%88%80%80%80 %00 %u0041 %c0%80 %fe%ff'.split(' ')

/** Percent-encodes a text, with as few or as many escapes as possible. */
export const escaped = (value: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    encodeURIComponent(value),
    encodeURIComponent(value).replaceAll('%20', '+'),
    Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  )

/** Any percent-encoded text, valid or not. */
export const anyEscaped: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: anyText.chain(escaped) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.oneof(fc.constantFrom(...invalidEscapes), text.chain(escaped)), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join('')),
  },
)
