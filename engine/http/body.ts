/** Reads a write request: its token, its JSON body and its Idempotency-Key. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import * as errors from '../contract/errors.js'
import { invalidKeyIssue } from '../contract/headers.js'
import { bodyIssue } from '../contract/issues.js'
import { bodyLimit } from '../contract/rowBody.js'
import { maxJsonBytes } from '../descriptor/jsonText.js'
import type { Resource } from '../descriptor/registry.js'
import { shorten } from '../descriptor/violations.js'
import { jsonErrorPlace } from '../process/jsonError.js'

/** Digests have one length, so comparing two takes the same time whatever was sent. */
const sha256 = (token: Buffer): Buffer => createHash('sha256').update(token).digest()

export const writeGuard = (token: string | undefined): ((authorization: string | undefined) => void) => {
  const expected = token === undefined ? undefined : sha256(Buffer.from(token, 'utf8'))
  return (authorization = '') => {
    if (!expected) throw errors.writesDisabled()
    const [, sent] = /^bearer +(\S.*)$/i.exec(authorization) ?? []
    if (sent === undefined) throw errors.tokenMissing()
    // Node decodes headers as Latin-1; as bytes, a token in UTF-8 compares as it was sent.
    if (!timingSafeEqual(sha256(Buffer.from(sent, 'latin1')), expected)) throw errors.tokenWrong()
  }
}

const mergePatchType = 'application/merge-patch+json'
export const patchTypes = [mergePatchType, 'application/json']

const rejectBody = (type: string, msg: string): errors.HttpError => errors.bodyInvalid([bodyIssue(type, msg)])

/**
 * koa-bodyparser limits and inflates the body but replaces invalid UTF-8. So it reads the bytes as Latin-1, which keeps
 * each one, and we decode them strictly.
 */
const readBytes = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/json', mergePatchType] },
  textLimit: `${bodyLimit}b`,
  encoding: 'latin1',
})
const utf8 = new TextDecoder('utf-8', { fatal: true })

const checkContentType = ({ request }: Context, allowed: readonly string[]): void => {
  const type = request.type.trim().toLowerCase()
  if (!allowed.includes(type)) {
    const sent = type === '' ? 'none' : `"${shorten(type)}"`
    throw rejectBody('content_type', `Content-Type must be ${allowed.join(' or ')}, but is ${sent}.`)
  }
  if (!/^(?:utf-?8)?$/i.test(request.charset)) {
    throw rejectBody('content_type', 'The body must be JSON in UTF-8; leave out the charset or send charset=utf-8.')
  }
}

const checkContentEncoding = ({ req: { headers } }: Context): void => {
  const encoding = headers['content-encoding']?.trim().toLowerCase()
  if (encoding === undefined) return
  if (!['br', 'gzip', 'deflate', 'identity'].includes(encoding)) {
    throw rejectBody('content_encoding', 'Content-Encoding must be br, gzip or deflate; or leave it out.')
  }
  // Encodings are case-insensitive, but koa-bodyparser knows only their lower-case names.
  headers['content-encoding'] = encoding
}

/** The client waits for `100 Continue` before it sends the body; HTTP/1.0 has no such response. */
const awaitsContinue = ({ req: { headers, httpVersion } }: Context): boolean =>
  httpVersion === '1.1' && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect ?? '')

/** Rejects when the client has gone; koa-bodyparser would wait for the rest of a compressed body. */
const responseClosed = ({ res }: Context): Promise<never> =>
  new Promise((_, reject) => {
    res.once('close', () => reject(new Error('the connection closed')))
  })

const readBody = async (ctx: Context): Promise<Buffer> => {
  if (Number(ctx.get('Content-Length')) > bodyLimit) throw errors.payloadTooLarge(bodyLimit)
  if (awaitsContinue(ctx)) ctx.res.writeContinue()
  try {
    await Promise.race([readBytes(ctx, async () => {}), responseClosed(ctx)])
  } catch (error) {
    if ((error as { status?: number }).status === 413) throw errors.payloadTooLarge(bodyLimit)
    throw rejectBody('body_read', 'The body could not be read as its Content-Encoding and Content-Length describe it.')
  }
  return Buffer.from(ctx.request.rawBody ?? '', 'latin1')
}

/** Bodies of more bytes than this are scanned first: JSON.parse() takes 220 ms for 500,000 brackets, and 80 ms for 80,000 properties. */
const scannedBytes = 64 * 1024

/** The most values of such a body, those of all arrays and objects counted. A row has as many as its resource has fields, and more in JSON. */
const maxFieldValues = 20_000
const maxValuesOf = ({ fields }: Resource): number =>
  maxFieldValues + (maxJsonBytes / 2) * fields.filter(({ kind }) => kind === 'json').length

const [quote, backslash, ...beforeValue] = [...Buffer.from('"\\,[{')]

const hasTooManyValues = (bytes: Buffer, maxValues: number): boolean => {
  let values = 0
  let isText = false
  for (let at = 0; at < bytes.length && values <= maxValues; at++) {
    const byte = bytes[at] as number
    if (byte === quote) isText = !isText
    else if (isText) at += byte === backslash ? 1 : 0
    else if (beforeValue.includes(byte)) values++
  }
  return values > maxValues
}

export const readJson = async (ctx: Context, resource: Resource, types: readonly string[] = ['application/json']) => {
  checkContentType(ctx, types)
  checkContentEncoding(ctx)
  const bytes = await readBody(ctx)
  if (bytes.length === 0) throw rejectBody('missing', 'The body is missing; send a JSON object.')
  const maxValues = maxValuesOf(resource)
  if (bytes.length > scannedBytes && hasTooManyValues(bytes, maxValues))
    throw rejectBody('too_long', `The body has more than ${maxValues} values; send the fields of one row.`)
  let source: string
  try {
    source = utf8.decode(bytes)
  } catch {
    throw rejectBody('string_unicode', 'The body is not valid UTF-8.')
  }
  try {
    return { value: JSON.parse(source) as unknown, source }
  } catch {
    throw rejectBody('json_invalid', `The body is not valid JSON: ${jsonErrorPlace(source)}.`)
  }
}

/** The Idempotency-Key of a write, where it has one; an invalid key is one more issue of the request. */
export const readIdempotencyKey = (ctx: Context, source: string, issues: errors.Issue[]) => {
  const key = ctx.req.headers['idempotency-key'] as string | undefined
  if (key === undefined) return undefined
  const issue = invalidKeyIssue(key)
  if (issue) issues.push(issue)
  // The digest includes method and path: the same body sent elsewhere is another request.
  return { key, digest: createHash('sha256').update(`${ctx.method} ${ctx.path}\n${source}`).digest('hex') }
}
