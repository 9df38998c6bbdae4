/** Values of `json()`: kept as the text that was sent, so that members keep their order and numbers their digits. */
import { isStorable, Violation } from './violations.js'

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

/**
 * Where a JSON string that begins at `from` ends, after its quote; 0 if it does not end. Not by a regular expression, whose stack is
 * too small for megabytes.
 */
export const endOfString = (json: string, from: number): number => {
  for (let end = json.indexOf('"', from + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return 0
}

/** A token of valid JSON, or the white space between two. */
const tokens = /[ \n\r\t]+|"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^ \n\r\t"{}[\],:]+/gs

const tokensIn = (text: string): string[] => (text.match(tokens) ?? []).filter((token) => token.trim() !== '')

/** Why a JSON value cannot be stored, given as its text and the tokens of that. */
const findJsonViolation = (text: string, found: readonly string[]): Violation | undefined => {
  const bytes = Buffer.byteLength(text)
  if (bytes > maxJsonBytes) return new Violation('json_too_large', bytes, { max_bytes: maxJsonBytes })
  /** The names of each object that is open; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let isName = false
  for (const token of found) {
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
  const found = tokensIn(text)
  const compact = found.join('')
  return findJsonViolation(compact, found) ?? new JsonText(compact)
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
      const line = `\n${'  '.repeat(level)}`
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
  for (const { 0: token, index } of source.matchAll(tokens)) {
    const isEnd = level === 1 && (token === ',' || token === '}')
    if (isEnd && name !== undefined) {
      members.set(name, source.slice(from, index))
      name = undefined
    } else if (level === 1 && name === undefined && token.startsWith('"')) name = JSON.parse(token)
    else if (level === 1 && from === 0 && token === ':') from = index + 1
    if (token === '{' || token === '[') level++
    if (token === '}' || token === ']') level--
    if (isEnd) from = 0
  }
  return members
}
