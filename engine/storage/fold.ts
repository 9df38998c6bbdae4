/** Case in search: what counts as the same letter, in every script, and how SQLite is asked for it. */

/** Dotless ı has I as its capital and yet is another letter than i; the nine old Cyrillic shapes are letters of their own. */
const isItself = /[ı\u1c80-\u1c88]/

const foldCharacter = (character: string): string => {
  if (isItself.test(character)) return character
  // By way of the capital, so that ς and σ, or ſ and s, become one; a capital of several letters (ß) is no case of it.
  const upper = character.toUpperCase()
  const lower = (upper.length === character.length ? upper : character).toLowerCase()
  return lower.length === character.length ? lower : character
}

const isAscii = /^[\0-\x7f]*$/

/** Unicode's simple case folding, letter by letter; of plain letters the language knows it faster. */
export const fold = (text: string): string =>
  isAscii.test(text) ? text.toLowerCase() : Array.from(text, foldCharacter).join('')

/**
 * Letters whose case came to Unicode after the tables that SQLite's trigram index folds by: Georgian, Cherokee, Osage and
 * the like. A text with one of them is looked for without the index.
 */
const unindexed =
  /[\u019b\u025c-\u029e\u037f\u03f3\u0528-\u052f\u10d0-\u10ff\u13a0-\u13fd\u1c80-\u1cbf\u1d8e\u2c2f\u2c5f\ua698-\ua69b\ua794-\ua7ff\uab53\uab70-\uabbf\u{104b0}-\u{104fb}\u{10570}-\u{105bc}\u{10c80}-\u{10cf2}\u{10d50}-\u{10d85}\u{118a0}-\u{118df}\u{16e40}-\u{16ed3}\u{1e900}-\u{1e943}]/u

/** Three characters, of which the index has the case: fewer make no trigram. */
const threeCharacters = /^.{3}/su

/** Whether the trigram index can find the text. */
export const isIndexed = (text: string): boolean => threeCharacters.test(text) && !unindexed.test(text)

/** The text as one phrase for the trigram index: nothing in it is an operator. */
export const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`

const hasCase = /\p{Changes_When_Casemapped}/u

/** Every letter that folds like a given one; made when it is first needed. */
let shapes: Map<string, string[]> | undefined
const shapesOf = (letter: string): readonly string[] => {
  if (!shapes) {
    shapes = new Map()
    for (let point = 0x41; point <= 0x1ffff; point++) {
      const character = String.fromCodePoint(point)
      if (!hasCase.test(character)) continue
      const folded = foldCharacter(character)
      const alike = shapes.get(folded) ?? [folded]
      if (!alike.includes(character)) alike.push(character)
      shapes.set(folded, alike)
    }
  }
  return shapes.get(foldCharacter(letter)) ?? [letter]
}

/** The longest pattern SQLite takes is 50,000 bytes; no character's shapes need more than 16. */
const longestPattern = 3_000

/** Characters that SQLite takes for one another. */
const confused = /[\ufffd-\uffff]/

/** Whether SQLite's own comparison is not enough: what it finds for this text has to be looked at once more. */
export const isBeyondPattern = (text: string): boolean => text.length > longestPattern || confused.test(text)

/** The text as a GLOB pattern that matches it anywhere and in any case. */
export const anywhere = (text: string): string => {
  const classes = Array.from(text)
    .slice(0, longestPattern)
    .map((character) => {
      const alike = shapesOf(character)
      return alike.length > 1 || '*?['.includes(character) ? `[${alike.join('')}]` : character
    })
  return `*${classes.join('')}*`
}
