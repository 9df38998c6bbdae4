/** Values of `json()`: kept as the text that was sent, so that members keep their order and numbers their digits. */
import { isStorable } from './kinds/strings.js'
import { Violation } from './violations.js'

/** A JSON value as its text, without white space between tokens. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

export const [maxJsonBytes, maxJsonLevels] = [64 * 1024, 100]

const [quote, backslash, colon, comma] = [...Buffer.from('"\\:,')]
const [openingBrace, closingBrace, openingBracket, closingBracket] = [...Buffer.from('{}[]')]

/**
 * Where a JSON string that begins at `from` ends, after its quote; 0 if it does not end. Not by a regular expression, whose stack is
 * too small for megabytes.
 */
export const endOfString = (json: string, from: number): number => {
  const end = json.indexOf('"', from + 1)
  if (end === -1 || json[end - 1] !== '\\') return end + 1
  for (let at = from + 1; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) return at + 1
    if (code === backslash) at++
  }
  return 0
}

/** A token of valid JSON, or the white space between two. */
const tokens = /[ \n\r\t]+|"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^ \n\r\t"{}[\],:]+/gs

const tokensIn = (text: string): string[] => (text.match(tokens) ?? []).filter((token) => token.trim() !== '')

/** A string, or white space that is not within one. */
const stringOrSpace = /("[^"\\]*(?:\\.[^"\\]*)*")|[ \n\r\t]+/gs

/** Why a JSON value cannot be stored, given as its tokens. */
const findJsonViolation = (textTokens: readonly string[]): Violation | undefined => {
  /** The names of each object that is open; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let isName = false
  for (const token of textTokens) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined)
      if (open.length > maxJsonLevels) return new Violation('json_too_deep', open.length, { max_levels: maxJsonLevels })
    } else if (token === '}' || token === ']') open.pop()
    else if (token.startsWith('"')) {
      const value: string = JSON.parse(token)
      if (!isStorable(value)) return new Violation('string_unicode', value)
      const names = isName ? open.at(-1) : undefined
      if (names?.has(value)) return new Violation('json_repeated_member', value)
      names?.add(value)
    }
    isName = token === '{' || (token === ',' && open.at(-1) !== undefined)
  }
  return undefined
}

export const parseJsonText = (text: string): JsonText | Violation => {
  const compact = text.replace(stringOrSpace, '$1')
  const bytes = Buffer.byteLength(compact)
  if (bytes > maxJsonBytes) return new Violation('json_too_large', bytes, { max_bytes: maxJsonBytes })
  return findJsonViolation(tokensIn(compact)) ?? new JsonText(compact)
}

/** A text that may be JSON. */
export const parseAnyText = (text: string): JsonText | Violation => {
  try {
    JSON.parse(text)
  } catch {
    return new Violation('json_parsing', text)
  }
  return parseJsonText(text)
}

/** Lines that are nested deeper begin where these do: with all their spaces, 64 KB became 6 MB. */
const maxIndents = 10

/** A JSON text with a line for each member; what is empty stays in its line. */
export const indentedJson = (text: string): string => {
  const parts = tokensIn(text)
  let level = 0
  return parts
    .map((token, n) => {
      const isEmpty = /^[}\]]$/.test(parts[n + 1] ?? '')
      const wasEmpty = /^[{[]$/.test(parts[n - 1] ?? '')
      if (token === '{' || token === '[') level++
      if (token === '}' || token === ']') level--
      const line = `\n${'  '.repeat(Math.min(level, maxIndents))}`
      if (token === '}' || token === ']') return wasEmpty ? token : `${line}${token}`
      if ((token === '{' || token === '[') && !isEmpty) return `${token}${line}`
      if (token === ',') return `,${line}`
      return token === ':' ? ': ' : token
    })
    .join('')
}

/** The texts of the members of an object, which is given as valid JSON; the last of two with the same name. */
export const memberTexts = (source: string): Map<string, string> => {
  const members = new Map<string, string>()
  let level = 0
  let name: string | undefined
  let from = 0
  // By character: half a million tokens would take a fifth of a second.
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(source, at)
      if (level === 1 && name === undefined) name = JSON.parse(source.slice(at, end))
      at = end - 1
    } else if (code === colon && level === 1 && from === 0) from = at + 1
    else if (level === 1 && name !== undefined && (code === comma || code === closingBrace)) {
      members.set(name, source.slice(from, at))
      name = undefined
      from = 0
    }
    if (code === openingBrace || code === openingBracket) level++
    if (code === closingBrace || code === closingBracket) level--
  }
  return members
}

/** The value that a text stands for: what is not JSON is itself. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
