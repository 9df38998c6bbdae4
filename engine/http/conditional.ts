/** Responds to a read: conditional requests (RFC 9110, section 13), compression, and bodies that are streamed. */
import { createHash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createGzip, gzip } from 'node:zlib'
import { preconditionFailed, unavailable } from '../contract/errors.js'
import type { CachedBody, StreamedBody } from '../storage/storage.js'
import type { AppContext } from './requestLog.js'

/** The tag is a hash of the bytes, so every process has the same one. */
export const taggedBody = (body: Buffer): CachedBody => ({
  tag: createHash('sha256').update(body).digest('hex').slice(0, 24),
  body,
})

export const jsonType = 'application/json; charset=utf-8'

type Encoding = 'br' | 'gzip'

/** Smaller bodies fit into one packet anyway. */
const minLength = 1024

/** Higher quality takes many times as long for a few per cent; a larger window takes megabytes of memory for each body. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 }

const encoders: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) => promisify(brotliCompress)(body, { params }),
  gzip: (body) => promisify(gzip)(body),
}

/** Longer Accept headers are ignored: to parse 15 KB of media types takes 50 ms, in which every other client waits. */
export const maxAcceptLength = 1_000

/** Compressed forms of bodies in use: a cached response is compressed once. */
const compressedBodies = new WeakMap<Buffer, Partial<Record<Encoding, Promise<Buffer>>>>()

const acceptedEncoding = (ctx: AppContext, ...encodings: Encoding[]): Encoding | undefined => {
  const accepted = ctx.req.headers['accept-encoding']
  if (accepted === undefined || accepted.length > maxAcceptLength) return undefined
  const best = ctx.acceptsEncodings(...encodings, 'identity')
  return encodings.find((encoding) => encoding === best)
}

/** The encoding for a body; none if it is small. */
const encodingFor = (ctx: AppContext, body: Buffer): Encoding | undefined =>
  body.length < minLength ? undefined : acceptedEncoding(ctx, 'br', 'gzip')

const compressed = (body: Buffer, encoding: Encoding): Promise<Buffer> => {
  const forms = compressedBodies.get(body) ?? {}
  forms[encoding] ??= encoders[encoding](body)
  compressedBodies.set(body, forms)
  return forms[encoding]
}

/**
 * One element of a list of entity tags, with the comma that follows it; commas may also be inside the quotes. White space can
 * match in one way only: in two, a header of spaces takes time quadratic in its length, 0.7 s for 15 KB.
 */
const listElement = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y

/** The strong tags of an If-Match or If-None-Match header, for a weak comparison the weak ones too; `*` for any. */
const tagsIn = (header: string, comparison: 'strong' | 'weak'): readonly string[] | '*' => {
  if (header.trim() === '*') return '*'
  const tags: string[] = []
  listElement.lastIndex = 0
  while (listElement.lastIndex < header.length) {
    const element = listElement.exec(header)
    // A header that is not a list of tags names none after its first error.
    if (!element) return tags
    const [, weak, tag] = element
    if (tag !== undefined && (weak === undefined || comparison === 'weak')) tags.push(tag)
  }
  return tags
}

export const namesTag = (header: string, etag: string, comparison: 'strong' | 'weak'): boolean => {
  const tags = tagsIn(header, comparison)
  return tags === '*' || tags.includes(etag)
}

/** A tag without quotes and without the name of an encoding, which is not a part of the row. */
const plainTag = (etag: string): string => etag.slice(1, -1).replace(/-(?:br|gzip)$/, '')

/** The tags of rows that an If-Match header allows; undefined if it allows any. */
export const tagsAllowedBy = (header: string | undefined): readonly string[] | undefined => {
  if (header === undefined) return undefined
  const tags = tagsIn(header, 'strong')
  return tags === '*' ? undefined : tags.map(plainTag)
}

export const allowedTags = ({ req }: AppContext): readonly string[] | undefined =>
  tagsAllowedBy(req.headers['if-match'])

/** The tag of a body in an encoding: each is a different representation, so each has its own strong tag. */
const formatEtag = (tag: string, encoding: string | undefined): string =>
  encoding === undefined ? `"${tag}"` : `"${tag}-${encoding}"`

interface Sent {
  readonly body: Buffer
  readonly etag: string
  readonly encoding: Encoding | undefined
  readonly isNotModified: boolean
  readonly type?: string | undefined
  readonly vary?: string | undefined
}

const send = async (
  ctx: AppContext,
  { body, etag, encoding, isNotModified, type = jsonType, vary = 'Accept-Encoding' }: Sent,
): Promise<void> => {
  const bytes = encoding === undefined || isNotModified ? body : await compressed(body, encoding)
  const { res } = ctx
  // The parser has found an error in the request since, and the connection has its response.
  if (res.headersSent) return
  const { isPrivate } = ctx.state
  res.setHeader('Cache-Control', isPrivate ? 'private, no-cache' : 'no-cache')
  res.setHeader('Vary', isPrivate ? `${vary}, Authorization` : vary)
  res.setHeader('ETag', etag)
  if (isNotModified) {
    ctx.status = 304
    return
  }
  if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
  res.setHeader('Content-Type', type)
  ctx.body = bytes
}

/** Sends what is right at this moment and for this caller only. */
export const sendUncached = async (ctx: AppContext, body: Buffer): Promise<void> => {
  const encoding = encodingFor(ctx, body)
  const bytes = encoding === undefined ? body : await compressed(body, encoding)
  ctx.set('Cache-Control', 'private, no-store')
  if (encoding !== undefined) ctx.set('Content-Encoding', encoding)
  ctx.set('Content-Type', jsonType)
  ctx.body = bytes
}

/** Sends a row. Its tag names the row, whatever its encoding: a client may send back any of them. */
export const sendRow = (ctx: AppContext, { tag, body }: CachedBody): Promise<void> => {
  const allowed = allowedTags(ctx)
  if (allowed && !allowed.includes(tag)) throw preconditionFailed(`"${tag}"`)
  const knownTags = tagsIn(ctx.req.headers['if-none-match'] ?? '', 'weak')
  const isNotModified = knownTags === '*' || knownTags.map(plainTag).includes(tag)
  const encoding = encodingFor(ctx, body)
  return send(ctx, { body, etag: formatEtag(tag, encoding), encoding, isNotModified })
}

/** Sends a body whose tag is that of the encoding the client gets; 412 where If-Match fails. */
export const sendTagged = (ctx: AppContext, { tag, body }: CachedBody, type?: string, vary?: string): Promise<void> => {
  const encoding = encodingFor(ctx, body)
  const etag = formatEtag(tag, encoding)
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = ctx.req.headers
  if (ifMatch !== undefined && !namesTag(ifMatch, etag, 'strong')) throw preconditionFailed()
  const isNotModified = ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag, 'weak')
  return send(ctx, { body, etag, encoding, isNotModified, type, vary })
}

export async function* counted(ctx: AppContext, parts: StreamedBody['body']) {
  for await (const part of parts) {
    ctx.state.streamedBytes = (ctx.state.streamedBytes ?? 0) + part.length
    yield part
  }
}

/** How many bodies this process is streaming; each holds about 0.2 MB while its client does not read. */
let streams = 0

/** While more are streamed, further ones are not compressed, because zlib takes 80 KB of memory for each. */
const maxCompressed = 100

/** Compression with some 80 KB of memory; by default it would take 260, and more for what it reads ahead. */
const gzipOptions = { level: 1, windowBits: 11, memLevel: 3, chunkSize: 8 * 1024, highWaterMark: 1 }

/** Sends a body of many megabytes as it is read. It has no tag, so the only If-Match that succeeds is `*`. */
export const sendStreamed = (
  ctx: AppContext,
  { body }: StreamedBody,
  maxStreams = Number.POSITIVE_INFINITY,
  type = jsonType,
): void => {
  if (tagsIn(ctx.req.headers['if-match'] ?? '*', 'strong') !== '*') throw preconditionFailed()
  if (streams >= maxStreams) throw unavailable('Too many downloads are in progress. Try again shortly.')
  streams++
  // Koa, the streams and the reads of the database all listen for its end; Node warns of more than ten listeners.
  ctx.res.setMaxListeners(20)
  ctx.res.once('close', () => streams--)
  const { isPrivate } = ctx.state
  ctx.set('Cache-Control', isPrivate ? 'private, no-cache' : 'no-cache')
  ctx.set('Vary', `Accept, Accept-Encoding${isPrivate ? ', Authorization' : ''}`)
  ctx.set('Content-Type', type)
  // With a high-water mark of 0, no part is read before the client has taken the previous one.
  const parts = Readable.from(counted(ctx, body), { objectMode: false, highWaterMark: 0 })
  // Brotli takes megabytes of memory for each stream.
  const isCompressed = streams <= maxCompressed && acceptedEncoding(ctx, 'gzip') !== undefined
  if (isCompressed) ctx.set('Content-Encoding', 'gzip')
  ctx.body = isCompressed
    ? pipeline(parts, createGzip(gzipOptions), (error) => error && ctx.app.emit('error', error, ctx))
    : parts
}
