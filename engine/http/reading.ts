/** How a reading is sent: with a strong tag, not at all where the client has it, and compressed where that is wanted. */
import type { Context } from 'koa'
import type { Reading } from '../storage/storage.js'
import { compressed, encodingFor } from './compress.js'
import { jsonType } from './send.js'

/** A tag as it is in the storage: without its quotes, and without the encoding that is a part of it on the wire. */
const bare = (tag: string): string => tag.replace(/^(?:W\/)?"(.*?)(?:-(?:br|gzip))?"$/, '$1')

/** The tag, as the client sent it, by which it says that it has this state already. */
const sentTag = (ctx: Context, tag: string): string | undefined => {
  const sent = ctx.req.headers['if-none-match']
  // Almost every client sends back the one tag it was given.
  if (sent === undefined || sent === `"${tag}"`) return sent
  return sent
    .split(',')
    .map((one) => one.trim())
    .find((one) => one === '*' || bare(one) === tag)
}

/** Answers with what was read. */
export const sendReading = async (ctx: Context, { tag, body }: Reading, type = jsonType): Promise<void> => {
  const { res } = ctx
  res.setHeader('Cache-Control', 'no-cache')
  res.setHeader('Vary', 'Accept-Encoding')
  const sent = sentTag(ctx, tag)
  if (sent !== undefined) {
    ctx.status = 304
    res.setHeader('ETag', sent === '*' ? `"${tag}"` : sent)
    return
  }
  if (body === undefined) throw new TypeError('a reading without a body is for those who have it')
  const encoding = encodingFor(ctx, body)
  ctx.status = 200
  res.setHeader('ETag', encoding === undefined ? `"${tag}"` : `"${tag}-${encoding}"`)
  if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
  res.setHeader('Content-Type', type)
  ctx.body = encoding === undefined ? body : await compressed(body, encoding)
}
