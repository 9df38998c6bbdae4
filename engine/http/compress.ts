/** Compresses bodies for clients that accept it. */
import { promisify } from 'node:util'
import { brotliCompress, constants, createGzip, type Gzip, gzip } from 'node:zlib'
import type { Context } from 'koa'

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

export const acceptedEncoding = (ctx: Context, ...encodings: Encoding[]): Encoding | undefined => {
  const accepted = ctx.req.headers['accept-encoding']
  if (accepted === undefined || accepted.length > maxAcceptLength) return undefined
  const best = ctx.acceptsEncodings(...encodings, 'identity')
  return encodings.find((encoding) => encoding === best)
}

/** The encoding for a body; none if it is small. */
export const encodingFor = (ctx: Context, body: Buffer): Encoding | undefined =>
  body.length < minLength ? undefined : acceptedEncoding(ctx, 'br', 'gzip')

/** Compresses a stream with some 80 KB of memory; by default it would take 260, and more for what it reads ahead. */
export const gzipStream = (): Gzip => {
  const options = { level: 1, windowBits: 11, memLevel: 3, chunkSize: 8 * 1024, highWaterMark: 1 }
  return createGzip(options)
}

export const compressed = (body: Buffer, encoding: Encoding): Promise<Buffer> => {
  const forms = compressedBodies.get(body) ?? {}
  forms[encoding] ??= encoders[encoding](body)
  compressedBodies.set(body, forms)
  return forms[encoding]
}
