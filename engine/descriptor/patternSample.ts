/** Makes texts that match a pattern, for samples of a field without an example. A pattern that it cannot read gives texts that do not match. */

const tokens =
  /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?::|<\w+>))?|\{\d+(?:,\d*)?\}|./gsu

/** What a class of characters is tried with: digits and letters, the rest of ASCII, and a letter of some other scripts. */
const letters = [
  ...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  ...' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
  ...'éßΩЖאع中あ',
]

const shorthands: Readonly<Record<string, string>> = { '*': '{0,}', '+': '{1,}', '?': '{0,1}' }

/** The nth text: a different one for each n, as far as the pattern allows. `more` is how often a part is repeated beyond its minimum. */
export const matchingText = (pattern: string, n: number, more: number): string => {
  const source = pattern.match(tokens) ?? []
  let at = 0
  let left = n
  /** Uses up a digit of n, in a number system with a digit for each choice. */
  const pick = <T>(choices: readonly T[]): T | undefined => {
    const chosen = choices[left % choices.length]
    left = Math.floor(left / Math.max(1, choices.length))
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
      const inside = readAlternatives()
      at++
      return inside
    }
    if (/^(?:[$^]|\\b)$/.test(token)) return () => ''
    const isMember = new RegExp(`^${token}$`, 'u')
    const members = letters.filter((letter) => isMember.test(letter))
    const [, code] = /^\\[ux]\{?([\da-f]+)/i.exec(token) ?? []
    const itself = code === undefined ? token : String.fromCodePoint(Number.parseInt(code, 16))
    return () => pick(members) ?? itself
  }
  const readSequence = (): (() => string) => {
    const parts: (() => string)[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const part = readPart()
      const count = readCount()
      parts.push(() => Array.from({ length: count }, part).join(''))
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
