/** Responds to a read: conditional requests (RFC 9110, section 13), compression, and bodies that are streamed. */

import { createHash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { preconditionFailed, tooManyDownloads } from '../contract/errors.js'
import type { CachedBody, StreamedBody } from '../storage/storage.js'
import { acceptedEncoding, compressed, compressSmallest, encodingFor, gzipStream } from './compress.js'
import type { AppContext } from './requestLog.js'

/** The tag is a hash of the bytes, so every process has the same one. */
export const taggedBody = (body: Buffer): CachedBody => ({
  tag: createHash('sha256').update(body).digest('hex').slice(0, 24),
  body,
})

/** A body that is the same as long as the process runs. */
export const fixedBody = (body: Buffer): CachedBody => {
  const tagged = taggedBody(body)
  compressSmallest(body, tagged.tag)
  return tagged
}

export const jsonType = 'application/json; charset=utf-8'

/**
 * One element of a list of entity tags, with the comma that follows it; commas may also be inside the quotes. White space can
 * match in one way only: in two, a header of spaces takes time quadratic in its length, 0.7 s for 15 KB.
 */
const listElement = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y

/** Whether an If-Match or If-None-Match header names this tag; a header that is not a list of tags names none. */
export const namesTag = (header: string, etag: string, comparison: 'strong' | 'weak'): boolean => {
  if (header.trim() === '*') return true
  listElement.lastIndex = 0
  while (listElement.lastIndex < header.length) {
    const element = listElement.exec(header)
    if (!element) return false
    const [, weak, tag] = element
    if (tag === etag && (weak === undefined || comparison === 'weak')) return true
  }
  return false
}

/** Sends the body, 304 where the client has it already, or 412 where If-Match fails. */
export const sendTagged = async (
  ctx: AppContext,
  { tag, body }: CachedBody,
  type = jsonType,
  vary = 'Accept-Encoding',
): Promise<void> => {
  const encoding = encodingFor(ctx, body)
  // Each encoding is a different representation, so each has its own strong tag.
  const etag = encoding === undefined ? `"${tag}"` : `"${tag}-${encoding}"`
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = ctx.req.headers
  if (ifMatch !== undefined && !namesTag(ifMatch, etag, 'strong')) throw preconditionFailed()
  const isNotModified = ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag, 'weak')
  const sent = encoding === undefined || isNotModified ? body : await compressed(body, encoding)
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('Vary', vary)
  ctx.set('ETag', etag)
  if (isNotModified) {
    ctx.status = 304
    return
  }
  if (encoding !== undefined) ctx.set('Content-Encoding', encoding)
  ctx.set('Content-Type', type)
  ctx.body = sent
}

/** The parts of a body, counted for the log. */
async function* counted(ctx: AppContext, parts: StreamedBody['body']) {
  for await (const part of parts) {
    ctx.state.streamedBytes = (ctx.state.streamedBytes ?? 0) + part.length
    yield part
  }
}

/** How many bodies this process is streaming; each holds about 0.2 MB while its client does not read. */
let streams = 0

/** Sends a body of many megabytes as it is read. It has no tag, so the only If-Match that succeeds is `*`. */
export const sendStreamed = (
  ctx: AppContext,
  { body }: StreamedBody,
  maxStreams = Number.POSITIVE_INFINITY,
  type = jsonType,
): void => {
  const ifMatch = ctx.req.headers['if-match']
  if (ifMatch !== undefined && ifMatch.trim() !== '*') throw preconditionFailed()
  if (streams >= maxStreams) throw tooManyDownloads()
  streams++
  ctx.res.once('close', () => streams--)
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('Vary', 'Accept, Accept-Encoding')
  ctx.set('Content-Type', type)
  // With a high-water mark of one byte, no part is read before the previous one was taken.
  const parts = Readable.from(counted(ctx, body), { objectMode: false, highWaterMark: 1 })
  // Brotli takes megabytes of memory for each stream.
  const isCompressed = acceptedEncoding(ctx, 'gzip') !== undefined
  if (isCompressed) ctx.set('Content-Encoding', 'gzip')
  ctx.body = isCompressed ? pipeline(parts, gzipStream(), (error) => error && ctx.app.emit('error', error, ctx)) : parts
}
