/** Compression of what is read, where the client accepts it and it is worth it. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'koa'

type Encoding = 'br' | 'gzip'

/** Smaller bodies fit into one packet as they are. */
const least = 1024

const encoders: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  // Past this quality brotli takes many times as long for a few per cent.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => promisify(gzip)(body),
}

/** The compressed forms of bodies that are still in use: an answer that is kept ready is compressed once. */
const kept = new WeakMap<Buffer, Partial<Record<Encoding, Promise<Buffer>>>>()

const encodingFor = (ctx: Context): Encoding | undefined => {
  if (ctx.req.headers['accept-encoding'] === undefined) return undefined
  const best = ctx.acceptsEncodings('br', 'gzip', 'identity')
  return best === 'br' || best === 'gzip' ? best : undefined
}

/** The bytes to send, and the encoding they are in. */
export const compressed = async (
  ctx: Context,
  body: Buffer,
): Promise<{ bytes: Buffer; encoding: Encoding | undefined }> => {
  const encoding = body.length < least ? undefined : encodingFor(ctx)
  if (encoding === undefined) return { bytes: body, encoding }
  const forms = kept.get(body) ?? {}
  forms[encoding] ??= encoders[encoding](body)
  kept.set(body, forms)
  return { bytes: await forms[encoding], encoding }
}
