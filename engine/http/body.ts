/** Reads the body of a create: bounded, decoded without loss, and parsed, or refused in the interface's words. */
import type { Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import { bodyIssue, bodyLimit } from '../contract/createBody.js'
import { bodyInvalid, type HttpError, payloadTooLarge } from '../contract/errors.js'

const refuse = (type: string, msg: string): HttpError => bodyInvalid([bodyIssue(type, msg)])

/**
 * koa-bodyparser bounds and inflates the body but decodes it leniently, so it is asked for the bytes (Latin-1 keeps
 * each as it is) and the decoding is done here: text that is not UTF-8 is refused instead of being replaced.
 */
const readBytes = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: `${bodyLimit}b`,
  encoding: 'latin1',
})
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Only JSON is taken, and JSON is UTF-8. */
const checkContentType = (ctx: Context): void => {
  const type = ctx.get('Content-Type')
  const [mediaType, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase())
  if (mediaType !== 'application/json') {
    const sent = mediaType ? `"${mediaType.slice(0, 60)}" was sent` : 'none was sent'
    throw refuse('content_type', `The body takes the content type application/json, but ${sent}.`)
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length)
  if (charset !== undefined && !['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(charset)) {
    throw refuse('content_type', 'The body takes JSON in UTF-8; leave the charset out or send utf-8.')
  }
}

const readFailure = (error: { status?: number; type?: string }): Error => {
  if (error.status === 413) return payloadTooLarge(bodyLimit)
  if (error.status === 415)
    return refuse('content_encoding', 'The body takes the content encoding gzip, deflate or none.')
  return refuse('body_read', 'The body could not be read as its Content-Encoding and Content-Length describe it.')
}

/** The value that the request's body holds. */
export const readJson = async (ctx: Context): Promise<{ value: unknown; source: string }> => {
  checkContentType(ctx)
  // A client that waits to be asked for its body is asked now: its token was accepted.
  if (ctx.get('Expect').toLowerCase() === '100-continue') ctx.res.writeContinue()
  try {
    await readBytes(ctx, async () => {})
  } catch (error) {
    throw readFailure(error as { status?: number })
  }
  const bytes = Buffer.from(ctx.request.rawBody ?? '', 'latin1')
  if (bytes.length === 0) throw refuse('missing', 'The body is missing; send a JSON object.')
  let source: string
  try {
    source = utf8.decode(bytes)
  } catch {
    throw refuse('string_unicode', 'The body is not valid UTF-8.')
  }
  try {
    return { value: JSON.parse(source), source }
  } catch {
    throw refuse('json_invalid', 'The body is not valid JSON.')
  }
}
