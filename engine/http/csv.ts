/** Turns rows of JSON, one per line, into CSV (RFC 4180). */
import type { Value } from '../descriptor/registry.js'

/** Null is empty; an empty string is quoted, so that the two differ. */
const cell = (value: Value | undefined): string => {
  if (value === null || value === undefined) return ''
  const text = String(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`

/** The alternating names and values of a row of JSON. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|null|-?\d[\d.eE+-]*/g

const isRounded = (value: Value): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)

/** The row's values; integers beyond 2^53, which JSON.parse() rounds, are copied as the database printed them. */
const rowOf = (json: string): Record<string, Value> => {
  const row = JSON.parse(json) as Record<string, Value>
  if (!Object.values(row).some(isRounded)) return row
  const tokens = json.match(token) ?? []
  for (const [n, name] of Object.keys(row).entries()) {
    if (isRounded(row[name] ?? null)) row[name] = tokens[2 * n + 1] ?? null
  }
  return row
}

/** A function of its own, so that a download that waits for its client holds none of the strings. */
const convert = (names: readonly string[], chunk: Uint8Array): Buffer => {
  const rows = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString().split('\n').slice(0, -1)
  const lines = rows.map((json) => {
    const row = rowOf(json)
    return line(names.map((name) => cell(row[name])))
  })
  return Buffer.from(lines.join(''))
}

/** Each chunk must end with a line feed, as those of a storage's stream do. */
export async function* csvOf(names: readonly string[], chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(line(names))
  for await (const chunk of chunks) yield convert(names, chunk)
}
