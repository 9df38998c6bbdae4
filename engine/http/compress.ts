/** Compression of what is read, where the client accepts it and it is worth it. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'koa'

type Encoding = 'br' | 'gzip'

/** Smaller bodies fit into one packet as they are. */
const least = 1024

/** Past this quality brotli takes many times as long for a few per cent; past this window, megabytes for pages of kilobytes. */
const brotli = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 }

const encoders: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { ...brotli, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  gzip: (body) => promisify(gzip)(body),
}

/** The compressed forms of bodies that are still in use: an answer that is kept ready is compressed once. */
const kept = new WeakMap<Buffer, Partial<Record<Encoding, Promise<Buffer>>>>()

/** The encoding to send a body in: none where it is small, or where the client asks for none. */
export const encodingFor = (ctx: Context, body: Buffer): Encoding | undefined => {
  if (body.length < least || ctx.req.headers['accept-encoding'] === undefined) return undefined
  const best = ctx.acceptsEncodings('br', 'gzip', 'identity')
  return best === 'br' || best === 'gzip' ? best : undefined
}

/** The body in an encoding. */
export const compressed = (body: Buffer, encoding: Encoding): Promise<Buffer> => {
  const forms = kept.get(body) ?? {}
  forms[encoding] ??= encoders[encoding](body)
  kept.set(body, forms)
  return forms[encoding]
}
