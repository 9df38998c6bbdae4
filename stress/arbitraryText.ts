/** Texts of every kind for the fuzzer: what people write, what breaks programs, and how bytes are escaped on the wire. */
import fc from 'fast-check'

/** Letters whose case, composition or age has troubled programs before. */
const troubling = [
  ...'İıIiſsSßẞΣσςΩωKkÅåµμǅǆǄ',
  ...'ﬁﬀŉǰΐᾳᾼ',
  ...'აႠᲐꭰᎠ𐓘𐒰ⴀ',
  ...'Ⅷⅷⓐ𝐀ａＡ',
  ...'éÉ\u0301\u0130\u1e9e',
  ...'%_*?[]^-"\'\\`(){}|&;:=#+/<>~!@$,.',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\u2028',
  '\ufffd',
  '\uffff',
  '\u{10ffff}',
  '\u00a0',
  '\u0085',
  '\t',
  '\n',
  '\r',
  '\u0001',
  '\u007f',
  '🇩🇪',
  '👩‍👩‍👧',
]

const words = [
  'OR',
  'AND',
  'NEAR',
  'NOT',
  'null',
  'true',
  '__proto__',
  '{{x}}',
  '../..',
  "'; drop table x; --",
  '\\u0000',
]

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }) },
  { weight: 3, arbitrary: fc.string({ unit: fc.constantFrom(...troubling), maxLength: 6 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom(...words) },
)

/** Any text that can be stored: every code point but NUL, in any order. */
export const text: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 12, arbitrary: fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(' ')) },
    { weight: 1, arbitrary: fc.tuple(piece, fc.nat(2_000)).map(([one, times]) => one.repeat(times).slice(0, 4_000)) },
  )
  .map((any) => any.replaceAll('\0', '').toWellFormed())

/** Any text, that which is none included. */
export const wildText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.tuple(text, text).map(([one, other]) => `${one}\0${other}`) },
)

/** Escapes that stand for no text, or for an odd one. */
const brokenEscapes = [
  '%',
  '%2',
  '%zz',
  '%ff',
  '%c3',
  '%ed%a0%80',
  '%f8%88%80%80%80',
  '%00',
  '%u0041',
  '%c0%80',
  '%fe%ff',
]

/** A text as it is written into an address: whole, sparing with escapes, or generous with them. */
export const escaped = (any: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    encodeURIComponent(any),
    encodeURIComponent(any).replaceAll('%20', '+'),
    Array.from(Buffer.from(any), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  )

/** Something that is written into an address, whatever it stands for. */
export const wildEscaped: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: wildText.chain(escaped) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.oneof(fc.constantFrom(...brokenEscapes), text.chain(escaped)), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join('')),
  },
)
