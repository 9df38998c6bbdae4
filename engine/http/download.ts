/** Streams all rows of a query in the format that the client requested: NDJSON or CSV. */
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import type { Rights } from '../descriptor/access.js'
import { memberTexts } from '../descriptor/jsonText.js'
import { jsonFieldNames } from '../descriptor/kinds/index.js'
import type { ListQuery } from '../descriptor/listQuery.js'
import type { Resource } from '../descriptor/registry.js'
import { csvHeader, toCsv } from '../storage/csv.js'
import { maxAcceptLength, sendStreamed } from './conditional.js'
import type { AppContext } from './requestLog.js'
import type { Service } from './serviceParts.js'

/** The lines of JSON with some of their members, in this order. */
async function* pickMembers(names: readonly string[], rows: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest = ''
  for await (const part of rows) {
    const lines = (rest + Buffer.from(part).toString()).split('\n')
    rest = lines.pop() ?? ''
    const picked = lines.map((line) => {
      const members = memberTexts(line)
      return `{${names.map((name) => `${JSON.stringify(name)}:${members.get(name) ?? 'null'}`).join(',')}}\n`
    })
    yield Buffer.from(picked.join(''))
  }
}

async function* asCsv({ fields }: Resource, names: readonly string[], rows: AsyncIterable<Uint8Array>) {
  const json = jsonFieldNames(fields)
  for await (const part of rows) yield toCsv(names, part, json)
}

async function* withHeader(names: readonly string[], rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield csvHeader(names)
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
  query: Omit<ListQuery, 'page'>,
  format: FormatName,
  rights: Rights,
  columns?: readonly string[],
): void => {
  const { type, extension } = formats[format]
  const names = columns ?? resource.fields.map(({ name }) => name)
  const isCsv = format === 'text/csv'
  const table = storage.table(resource, query.expand, rights)
  const picked = columns && pickMembers(columns, table.stream(query, ctx.res, 'json'))
  const some = picked && (isCsv ? asCsv(resource, columns, picked) : picked)
  const rows = some ?? table.stream(query, ctx.res, isCsv ? 'csv' : 'json')
  ctx.set('Content-Disposition', `attachment; filename="${resource.path}.${extension}"`)
  sendStreamed(ctx, { body: isCsv ? withHeader(names, rows) : rows }, maxDownloads, type)
}
