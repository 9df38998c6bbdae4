/** Compresses bodies for clients that accept it. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'koa'

type Encoding = 'br' | 'gzip'

/** Smaller bodies fit into one packet anyway. */
const minLength = 1024

/** Higher quality takes many times as long for a few per cent; a larger window takes megabytes of memory for each body. */
const brotli = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 }

const encoders: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { ...brotli, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  gzip: (body) => promisify(gzip)(body),
}

/** Compressed forms of bodies in use: a cached response is compressed once. */
const compressedBodies = new WeakMap<Buffer, Partial<Record<Encoding, Promise<Buffer>>>>()

/** The encoding for a body; none if it is small or the client accepts none. */
export const encodingFor = (ctx: Context, body: Buffer): Encoding | undefined => {
  if (body.length < minLength || ctx.req.headers['accept-encoding'] === undefined) return undefined
  const best = ctx.acceptsEncodings('br', 'gzip', 'identity')
  return best === 'br' || best === 'gzip' ? best : undefined
}

/** The body, compressed. */
export const compressed = (body: Buffer, encoding: Encoding): Promise<Buffer> => {
  const forms = compressedBodies.get(body) ?? {}
  forms[encoding] ??= encoders[encoding](body)
  compressedBodies.set(body, forms)
  return forms[encoding]
}
