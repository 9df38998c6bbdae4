/** When two letters count as equal in a search, in every script, and whether one text contains another. */

/** The upper case of dotless ı is I, but ı is not i; the nine old Cyrillic letter forms are separate letters, too. */
const isItself = /[ı\u1c80-\u1c88]/

const foldCharacter = (character: string): string => {
  if (isItself.test(character)) return character
  // Upper case first, so that ς and σ, or ſ and s, become equal; except where it has several letters (ß becomes SS).
  const upper = character.toUpperCase()
  const lower = (upper.length === character.length ? upper : character).toLowerCase()
  return lower.length === character.length ? lower : character
}

const cased = /\p{Changes_When_Casemapped}/u

/** Matches the letters that toLowerCase() folds differently; Σ is among them because its lower case depends on its place. */
const makeExceptions = (): RegExp => {
  let letters = 'Σ'
  for (let point = 0x80; point <= 0x1ffff; point++) {
    const character = String.fromCodePoint(point)
    if (cased.test(character) && foldCharacter(character) !== character.toLowerCase()) letters += character
  }
  return new RegExp(`[${letters}]`, 'u')
}

/** Made on first use: it takes some 20 ms. */
let exceptions: RegExp | undefined

const isAscii = /^[\0-\x7f]*$/

/** Unicode's simple case folding. */
export const fold = (text: string): string => {
  if (isAscii.test(text)) return text.toLowerCase()
  exceptions ??= makeExceptions()
  return exceptions.test(text) ? Array.from(text, foldCharacter).join('') : text.toLowerCase()
}

/** For each position of a pattern, the length of the longest proper prefix that ends there (Knuth, Morris and Pratt). */
const prefixLengths = (pattern: string): Int32Array => {
  const lengths = new Int32Array(pattern.length)
  let length = 0
  for (let i = 1; i < pattern.length; i++) {
    while (length > 0 && pattern.charCodeAt(i) !== pattern.charCodeAt(length)) length = lengths[length - 1] as number
    if (pattern.charCodeAt(i) === pattern.charCodeAt(length)) length++
    lengths[i] = length
  }
  return lengths
}

/** Up to this length of a pattern, the naive comparison costs at most this many steps for each letter of the text. */
export const shortPattern = 64

/**
 * Makes the test whether a folded text contains a pattern. Its cost is linear in the text, whatever both contain:
 * includes() takes 6 s for 15,000 letters in 1 MB of repeated ones.
 */
export const containment = (pattern: string): ((folded: string) => boolean) => {
  if (pattern.length <= shortPattern) return (folded) => folded.includes(pattern)
  const lengths = prefixLengths(pattern)
  return (folded) => {
    let matched = 0
    for (let i = 0; i < folded.length; i++) {
      const code = folded.charCodeAt(i)
      while (matched > 0 && code !== pattern.charCodeAt(matched)) matched = lengths[matched - 1] as number
      if (code === pattern.charCodeAt(matched)) matched++
      if (matched === pattern.length) return true
    }
    return false
  }
}
