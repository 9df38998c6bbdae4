/** Finds the properties of literals in a source text, TypeScript or JSON, without evaluating it, to show where a mistake is. */

/** A property, or an element of an array with its index as the key: what names it, its value, and what is in that. */
interface LiteralEntry {
  readonly key: string
  readonly start: number
  readonly end: number
  readonly value: string
  readonly entries: readonly LiteralEntry[]
}

export interface SourceFile {
  readonly text: string
  /** The properties of its literal; empty if it has none that could be found. */
  readonly entries: readonly LiteralEntry[]
}

/** The path of a property in a literal: `['fields', 'days', 'filter']`, or `[2, 'days']` in demo rows. */
export type PropertyPath = readonly (string | number)[]

/** A part of a source line; line and column count from 1. */
export interface SourcePosition {
  readonly line: number
  readonly column: number
  readonly length: number
  readonly text: string
}

const gap = String.raw`\s+|\/\/[^\n]*|\/\*.*?\*\/`
const quoted = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
/** A regular expression, where a value can be: quotes and brackets in it have no meaning. */
const pattern = String.raw`(?<=[(,=:[!&|?{};>]\s*)\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*`
const template = `\`(?:[^\`\\\\$]|\\\\.|\\$(?!\\{)|\\$\\{(?:${quoted}|${pattern}|[^{}\`'"])*\\})*\``
const word = String.raw`[\p{L}_$][\p{L}\p{N}_$]*|-?\d[\w.]*(?:[eE][+-]?\d+)?`
const token = new RegExp(`${gap}|(?<key>${quoted}|(?<word>${word}))|(?<sign>${pattern}|${template}|.)`, 'gsu')

interface Token {
  readonly text: string
  readonly start: number
  readonly isKey: boolean
  readonly isWord: boolean
}

const tokenize = (text: string): Token[] =>
  [...text.matchAll(token)].flatMap(({ index: start, groups: { key, word, sign } = {} }) => {
    const text = key ?? sign
    return text ? [{ text, start, isKey: key !== undefined, isWord: word !== undefined }] : []
  })

const literalEntries = (source: string, tokens: readonly Token[], n: number): LiteralEntry[] => {
  let at = n
  const isAt = (signs: string): boolean => signs.includes(tokens[at]?.text ?? signs)
  /** Moves past a token, and past everything in its brackets. */
  const skip = (): void => {
    const isOpening = isAt('([{')
    at++
    if (!isOpening) return
    while (!isAt(')]}')) skip()
    at++
  }
  /** Moves past a value, which may be a call with a literal. */
  const readValue = (): LiteralEntry[] => {
    const start = at
    while (tokens[at]?.isWord || tokens[at]?.text === '.') at++
    const isCall = at > start && isAt('(') && tokens[at + 1]?.text === '{'
    if (isCall) at++
    const entries = isAt('{') || isAt('[') ? readEntries() : []
    if (isCall) {
      while (!isAt(')')) skip()
      at++
    }
    while (!isAt(',)]}')) skip()
    return entries
  }
  const readEntries = (): LiteralEntry[] => {
    const entries: LiteralEntry[] = []
    const isArray = isAt('[')
    at++
    for (let index = 0; !isAt('}]'); index++) {
      const first = at
      const { start, text, isKey, isWord } = tokens[at] as Token
      const key = isArray ? String(index) : isWord ? text : text.slice(1, -1)
      if (!isArray && isKey) at++
      if (isAt(':')) at++
      const from = tokens[at]?.start ?? source.length
      const innerEntries = readValue()
      const last = tokens[at - 1] as Token
      const to = last.start + last.text.length
      const end = isArray ? to : start + text.length
      // Without a key it is a spread or a computed name.
      if (isArray || isKey) entries.push({ key, start, end, value: source.slice(from, to), entries: innerEntries })
      // A file with a syntax error may have any other sign here.
      if (isAt(',') || at === first) at++
    }
    at++
    return entries
  }
  return isAt('{') || isAt('[') ? readEntries() : []
}

/** The source of a resource file, with the literal that it passes to `defineResource`, or exports without it. */
export const resourceSource = (text: string): SourceFile => {
  const tokens = tokenize(text)
  const before = (n: number): string => tokens[n - 1]?.text ?? ''
  const isLiteral = (n: number): boolean =>
    ['defineResource', 'default'].includes(before(before(n) === '(' ? n - 1 : n))
  const start = tokens.findIndex(({ text: sign }, n) => sign === '{' && isLiteral(n))
  return { text, entries: start < 0 ? [] : literalEntries(text, tokens, start) }
}

/** The source of a seed file; only an error needs its literal, which takes 0.3 s for all demo rows. */
export const seedSource = (text: string): SourceFile => {
  let entries: readonly LiteralEntry[] | undefined
  return {
    text,
    get entries() {
      entries ??= literalEntries(text, tokenize(text), 0)
      return entries
    },
  }
}

/** The position of a part of the text, which ends with its first line. */
export const positionBetween = ({ text }: { text: string }, start: number, end: number): SourcePosition => {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const [line = ''] = text.slice(lineStart).split(/\r?\n/, 1)
  const column = start - lineStart + 1
  const length = Math.max(1, Math.min(end - start, line.length - column + 1))
  return { line: text.slice(0, lineStart).split('\n').length, column, length, text: line }
}

export const wordPosition = (source: SourceFile, word: string): SourcePosition | undefined => {
  const token = tokenize(source.text).find(({ text }) => text === word)
  return token && positionBetween(source, token.start, token.start + word.length)
}

/** The entries on the path to a place, as far as they exist. If a key occurs twice, the last one counts. */
const entriesTo = ({ entries }: SourceFile, place: PropertyPath): LiteralEntry[] => {
  const trail: LiteralEntry[] = []
  for (const key of place) {
    const entry = (trail.at(-1)?.entries ?? entries).findLast((candidate) => candidate.key === String(key))
    if (!entry) break
    trail.push(entry)
  }
  return trail
}

export const placePosition = (source: SourceFile, place: PropertyPath): SourcePosition | undefined => {
  const entry = entriesTo(source, place).at(-1)
  return entry && positionBetween(source, entry.start, entry.end)
}

/** A value as it is written in the file: JavaScript rounds `9007199254740993`. */
export const textAt = (source: SourceFile, place: PropertyPath): string | undefined =>
  entriesTo(source, place)[place.length - 1]?.value

/** The properties that occur twice, each with the line of the first. */
export const duplicatesIn = (
  source: SourceFile,
  { entries }: Pick<LiteralEntry, 'entries'> = source,
  above: PropertyPath = [],
): { place: PropertyPath; firstLine: number }[] =>
  entries.flatMap((entry, n) => {
    const place = [...above, entry.key]
    const first = entries.findIndex(({ key }) => key === entry.key)
    const inner = duplicatesIn(source, entry, place)
    const start = entries[first]?.start ?? 0
    return first < n ? [{ place, firstLine: positionBetween(source, start, start).line }, ...inner] : inner
  })
