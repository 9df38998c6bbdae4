/** Rows of JSON as CSV (RFC 4180), without parsing them: a row takes a microsecond instead of ten. */

import { endOfString } from '../descriptor/jsonText.js'

const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`

/** Null is empty; an empty string is quoted, so that the two differ. */
const textCell = (text: string): string =>
  text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** Where a value ends that is no string, and the given character follows. */
const endOfValue = (json: string, from: number, next: string): number => {
  if (json[from] !== '{' && json[from] !== '[') return json.indexOf(next, from)
  let at = from
  for (let level = 0; ; ) {
    const sign = json[at]
    if (sign === '{' || sign === '[') level++
    if (sign === '}' || sign === ']') level--
    at = sign === '"' ? endOfString(json, at) : at + 1
    if (level === 0) return at
  }
}

export const csvHeader = (names: readonly string[]): Buffer => Buffer.from(line(names))

/**
 * Turns lines of JSON, each an object with these names in this order and no white space, but for that of a value that is an object,
 * into lines of CSV. The cell of a JSON field is the text of its value, so that `"1"` and `1` differ.
 */
export const toCsv = (names: readonly string[], lines: Uint8Array, jsonNames: readonly string[] = []): Buffer => {
  const json = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString()
  const keyLengths = names.map((name) => JSON.stringify(name).length + 1)
  const isJson = names.map((name) => jsonNames.includes(name))
  let csv = ''
  for (let at = 0; at < json.length; ) {
    const cells = keyLengths.map((length, n) => {
      // A brace or a comma, and the name with its colon.
      const from = at + 1 + length
      if (json[from] === '"') {
        at = endOfString(json, from)
        if (isJson[n]) return textCell(json.slice(from, at))
        const text = json.slice(from + 1, at - 1)
        return textCell(text.includes('\\') ? JSON.parse(`"${text}"`) : text)
      }
      at = endOfValue(json, from, n === names.length - 1 ? '}' : ',')
      const literal = json.slice(from, at)
      if (/^[{[]/.test(literal)) return textCell(literal)
      return literal === 'null' ? '' : literal
    })
    // A brace and a line feed.
    at += 2
    csv += line(cells)
  }
  return Buffer.from(csv)
}
