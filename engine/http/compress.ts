/** Compresses responses for clients that accept it. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'koa'

type Encoding = 'br' | 'gzip'

/** Smaller bodies fit into one packet uncompressed. */
const minLength = 1024

/** A higher quality takes many times as long for a few per cent; a larger window takes megabytes of memory. */
const brotli = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 }

const encoders: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { ...brotli, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  gzip: (body) => promisify(gzip)(body),
}

/** A cached response is compressed once, and its compressed forms live as long as it does. */
const compressedForms = new WeakMap<Buffer, Partial<Record<Encoding, Promise<Buffer>>>>()

/** The encoding for a body: none where it is small, or where the client accepts none. */
export const encodingFor = (ctx: Context, body: Buffer): Encoding | undefined => {
  if (body.length < minLength || ctx.req.headers['accept-encoding'] === undefined) return undefined
  const best = ctx.acceptsEncodings('br', 'gzip', 'identity')
  return best === 'br' || best === 'gzip' ? best : undefined
}

/** The body in an encoding. */
export const compressed = (body: Buffer, encoding: Encoding): Promise<Buffer> => {
  const forms = compressedForms.get(body) ?? {}
  forms[encoding] ??= encoders[encoding](body)
  compressedForms.set(body, forms)
  return forms[encoding]
}
