/** Case folding for search: what counts as the same letter, in every script. */

/** Dotless ı has I as its capital and yet is another letter than i. */
const dotlessI = 'ı'

const foldCharacter = (character: string): string => {
  if (character === dotlessI) return character
  // By way of the capital, so that ς and σ, or ſ and s, become one; a capital of several letters (ß) is no case of it.
  const upper = character.toUpperCase()
  const lower = (upper.length === character.length ? upper : character).toLowerCase()
  return lower.length === character.length ? lower : character
}

const isAscii = /^[\0-\x7f]*$/

/** Unicode's simple case folding: as long as the text itself, so positions and lengths stay what they are. */
export const fold = (text: string): string =>
  isAscii.test(text) ? text.toLowerCase() : Array.from(text, foldCharacter).join('')
