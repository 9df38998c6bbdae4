/** Streams all rows of a query in the format that the client requested: NDJSON, or CSV (RFC 4180). */
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import type { Selection } from '../descriptor/listQuery.js'
import type { Resource, Value } from '../descriptor/registry.js'
import { maxAcceptLength, sendStreamed } from './conditional.js'
import type { Service } from './handlers.js'
import type { AppContext } from './requestLog.js'

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
const parseRow = (json: string): Record<string, Value> => {
  const row = JSON.parse(json) as Record<string, Value>
  if (!Object.values(row).some(isRounded)) return row
  const tokens = json.match(token) ?? []
  for (const [n, name] of Object.keys(row).entries()) {
    if (isRounded(row[name] ?? null)) row[name] = tokens[2 * n + 1] ?? null
  }
  return row
}

/** Rows as CSV; a line feed must end each, as in a storage's stream. */
const toCsv = (names: readonly string[], chunk: Uint8Array): Buffer => {
  const rows = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString().split('\n').slice(0, -1)
  const lines = rows.map((json) => {
    const row = parseRow(json)
    return line(names.map((name) => cell(row[name])))
  })
  return Buffer.from(lines.join(''))
}

async function* withHeader(names: readonly string[], rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(line(names))
  yield* rows
}

/** The format that the Accept header prefers to JSON, if any; most headers name none of them. */
export const requestedFormat = (ctx: AppContext): FormatName | undefined => {
  const { accept } = ctx.req.headers
  if (accept === undefined || accept.length > maxAcceptLength || !/csv|ndjson/i.test(accept)) return undefined
  // With their parameters, so that `text/csv;charset=utf-8` is found too.
  const best = ctx.accepts('application/json; charset=utf-8', ...formatNames.map((name) => formats[name].type))
  return formatNames.find((name) => formats[name].type === best)
}

/** The stream ends when the client has gone: Koa destroys it, which ends the generators. */
export const sendRows = (
  ctx: AppContext,
  { storage, maxDownloads }: Service,
  resource: Resource,
  query: Selection,
  format: FormatName,
): void => {
  const { type, extension } = formats[format]
  const names = resource.fields.map(({ name }) => name)
  const isCsv = format === 'text/csv'
  const rows = storage.table(resource).stream(query, ctx.res, isCsv ? (part) => toCsv(names, part) : undefined)
  ctx.set('Content-Disposition', `attachment; filename="${resource.path}.${extension}"`)
  sendStreamed(ctx, { body: isCsv ? withHeader(names, rows) : rows }, maxDownloads, type)
}
