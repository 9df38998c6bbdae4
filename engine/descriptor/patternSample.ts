/** Makes texts that match a pattern, for samples of a field without an example. A pattern that it cannot read gives texts that do not match. */

const tokens =
  /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[a-z-]*:|<\w+>))?|\{\d+(?:,\d*)?\}|./gsu

export const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** What a class of characters is tried with: digits and letters, the rest of ASCII, and a letter of some other scripts. */
const letters = [...alphabet, ...' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', ...'éßΩЖאع中あ']

const membersByToken = new Map<string, readonly string[]>()

/** Some characters that an expression for one character matches; of an unusual class the first of all of Unicode. */
const membersOf = (token: string): readonly string[] => {
  if ([...token].length === 1 && token !== '.') return [token]
  const members = membersByToken.get(token)
  if (members) return members
  const isMember = new RegExp(`^${token}$`, 'u')
  const matching = letters.filter((letter) => isMember.test(letter))
  for (let code = 1; matching.length === 0 && code <= 0x10_ff_ff; code++) {
    const letter = String.fromCodePoint(code)
    if (isMember.test(letter) && letter.isWellFormed()) matching.push(letter)
  }
  membersByToken.set(token, matching)
  return matching
}

/** How often parts are repeated: no field with a pattern is longer, but repetitions of repetitions would be. */
const maxLength = 2_000

const shorthands: Readonly<Record<string, string>> = { '*': '{0,}', '+': '{1,}', '?': '{0,1}' }

/** The nth text: a different one for each n, as far as the pattern allows. `more` is how often a part is repeated beyond its minimum. */
export const matchingText = (pattern: string, n: number, more: number): string => {
  const source = pattern.match(tokens) ?? []
  let at = 0
  let remaining = n
  let size = 0
  /** Uses up a digit of n, in a number system with a digit for each choice. */
  const pick = <T>(choices: readonly T[]): T | undefined => {
    const chosen = choices[remaining % choices.length]
    remaining = Math.floor(remaining / Math.max(1, choices.length))
    return chosen
  }
  const readCount = (): number => {
    const token = source[at] ?? ''
    const [, min, comma, max] = /^\{(\d+)(,?)(\d*)\}$/.exec(shorthands[token] ?? token) ?? []
    if (min === undefined) return 1
    // A lazy quantifier matches the same texts.
    at += source[at + 1] === '?' ? 2 : 1
    return comma ? Math.min(Number(min) + more, Number(max || Number.POSITIVE_INFINITY)) : Number(min)
  }
  const readPart = (): (() => string) => {
    const token = source[at++] ?? ''
    if (token.startsWith('(')) {
      const alternatives = readAlternatives()
      at++
      return alternatives
    }
    if (/^(?:[$^]|\\[bB])$/.test(token)) return () => ''
    const members = membersOf(token)
    return () => pick(members) ?? ''
  }
  const readSequence = (): (() => string) => {
    const parts: (() => string)[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const part = readPart()
      const count = readCount()
      parts.push(() => {
        let text = ''
        for (let times = 0; times < count && size < maxLength; times++, size++) text += part()
        return text
      })
    }
    return () => parts.map((part) => part()).join('')
  }
  const readAlternatives = (): (() => string) => {
    const alternatives = [readSequence()]
    for (; source[at] === '|'; alternatives.push(readSequence())) at++
    return () => pick(alternatives)?.() ?? ''
  }
  return readAlternatives()()
}
