/** How a reading is sent: with a strong tag, not at all where the client has it, and compressed where that is wanted. */
import type { Context } from 'koa'
import type { Known, Reading } from '../storage/storage.js'
import { compressed, encodingFor } from './compress.js'
import { jsonType } from './send.js'

/** The tags a request says it has, as they were sent. */
const tagsSent = (ctx: Context): string[] =>
  ctx
    .get('If-None-Match')
    .split(',')
    .map((tag) => tag.trim())

/** A tag as it is in the storage: without its quotes, and without the encoding that is a part of it on the wire. */
const bare = (tag: string): string => tag.replace(/^(?:W\/)?"(.*?)(?:-(?:br|gzip))?"$/, '$1')

const nothingKnown: Known = () => false

/** What the client has already. */
export const knownBy = (ctx: Context): Known => {
  if (ctx.req.headers['if-none-match'] === undefined) return nothingKnown
  const tags = tagsSent(ctx).map(bare)
  return (tag) => tags.includes(tag) || tags.includes('*')
}

/** Answers with what was read. */
export const sendReading = async (ctx: Context, { tag, body }: Reading, type = jsonType): Promise<void> => {
  const { res } = ctx
  res.setHeader('Cache-Control', 'no-cache')
  res.setHeader('Vary', 'Accept-Encoding')
  if (body === undefined || knownBy(ctx)(tag)) {
    ctx.status = 304
    res.setHeader('ETag', tagsSent(ctx).find((sent) => bare(sent) === tag) ?? `"${tag}"`)
    return
  }
  const encoding = encodingFor(ctx, body)
  ctx.status = 200
  res.setHeader('ETag', encoding === undefined ? `"${tag}"` : `"${tag}-${encoding}"`)
  if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
  res.setHeader('Content-Type', type)
  ctx.body = encoding === undefined ? body : await compressed(body, encoding)
}
