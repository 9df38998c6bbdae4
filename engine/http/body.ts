/** Reads a write request: its JSON body and its Idempotency-Key. */
import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import * as errors from '../contract/errors.js'
import { invalidKeyIssue } from '../contract/headers.js'
import { bodyIssue } from '../contract/issues.js'
import { hasTooManyValues, maxValuesOf } from '../contract/jsonScan.js'
import { bodyLimit, fileFormLimit, formLimit, importLimit } from '../contract/rowBody.js'
import type { Identity } from '../descriptor/access.js'
import type { Resource } from '../descriptor/registry.js'
import { shorten } from '../descriptor/violations.js'
import { jsonErrorPlace } from '../process/jsonError.js'

const mergePatchType = 'application/merge-patch+json'
export const patchTypes = [mergePatchType, 'application/json']

const rejectBody = (type: string, msg: string): errors.HttpError => errors.bodyInvalid([bodyIssue(type, msg)])

/**
 * koa-bodyparser limits and inflates the body. Without an encoding it returns the bytes as they are; it would replace invalid UTF-8,
 * and we decode strictly.
 */
const parserOf = (limit: number) =>
  bodyParser({
    enableTypes: ['text'],
    extendTypes: {
      text: [
        'application/json',
        mergePatchType,
        'application/x-ndjson',
        'text/csv',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
      ],
    },
    textLimit: `${limit}b`,
    encoding: null as unknown as string,
  })

const parsers = new Map([bodyLimit, importLimit, formLimit, fileFormLimit].map((limit) => [limit, parserOf(limit)]))
const utf8 = new TextDecoder('utf-8', { fatal: true })

const checkContentType = ({ request }: Context, allowed: readonly string[]): void => {
  const type = request.type.trim().toLowerCase()
  if (!allowed.includes(type)) {
    const sentType = type === '' ? 'none' : `"${shorten(type)}"`
    throw rejectBody('content_type', `Content-Type must be ${allowed.join(' or ')}, but is ${sentType}.`)
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

/** One for all requests: each of them closes, and the stack of an error takes 20 µs. */
const connectionClosed = new Error('the connection closed')

/** Rejects when the client has gone; koa-bodyparser would wait for the rest of a compressed body. */
const responseClosed = ({ res }: Context): Promise<never> =>
  new Promise((_, reject) => {
    res.once('close', () => reject(connectionClosed))
  })

const readBody = async (ctx: Context, limit: number): Promise<Buffer> => {
  if (Number(ctx.get('Content-Length')) > limit) throw errors.payloadTooLarge(limit)
  if (awaitsContinue(ctx)) ctx.res.writeContinue()
  try {
    await Promise.race([parsers.get(limit)?.(ctx, async () => {}), responseClosed(ctx)])
  } catch (error) {
    if ((error as { status?: number }).status === 413) throw errors.payloadTooLarge(limit)
    throw rejectBody('body_read', 'The body could not be read as its Content-Encoding and Content-Length describe it.')
  }
  return Buffer.from((ctx.request.rawBody as unknown as Buffer | undefined) ?? '')
}

/** The body of a request with one of these types. */
export const readBytes = async <T extends string>(
  ctx: Context,
  types: readonly T[],
  limit: number,
): Promise<{ type: T; bytes: Buffer }> => {
  checkContentType(ctx, types)
  checkContentEncoding(ctx)
  return { type: ctx.request.type.trim().toLowerCase() as T, bytes: await readBody(ctx, limit) }
}

/** The text of a body with one of these types; throws if it is not UTF-8. */
export const readText = async (ctx: Context, types: readonly string[], limit: number): Promise<string> => {
  const { bytes } = await readBytes(ctx, types, limit)
  try {
    return utf8.decode(bytes)
  } catch {
    throw rejectBody('string_unicode', 'The body is not valid UTF-8.')
  }
}

/** The JSON value of a body, and its text. */
export const readValue = async (
  ctx: Context,
  types: readonly string[] = ['application/json'],
  maxValues = Number.POSITIVE_INFINITY,
) => {
  const { bytes } = await readBytes(ctx, types, bodyLimit)
  if (bytes.length === 0) throw rejectBody('missing', 'The body is missing; send a JSON object.')
  if (hasTooManyValues(bytes, maxValues))
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

export const readJson = (ctx: Context, resource: Resource, types?: readonly string[]) =>
  readValue(ctx, types, maxValuesOf(resource))

/** Nothing is stored beside a table of another program. */
export const rejectKey = ({ req }: Context, { existing }: Resource): void => {
  if (existing && req.headers['idempotency-key'] !== undefined) throw errors.keysNotSupported()
}

/** A key as it is stored: every caller has its own. No key that is sent has a space. */
export const ownKey = (key: string, { owner }: Identity): string =>
  owner === undefined ? key : `${createHash('sha256').update(owner).digest('base64url')} ${key}`

/** The Idempotency-Key of a request as it is stored. */
export const keyOf = ({ req }: Context, caller: Identity): string | undefined => {
  const key = req.headers['idempotency-key'] as string | undefined
  return key === undefined ? undefined : ownKey(key, caller)
}

/** The Idempotency-Key of a write, where it has one; an invalid key is one more issue of the request. */
export const idempotencyKeyOf = (
  ctx: Context,
  caller: Identity,
  sent: readonly (string | Buffer)[],
  issues: errors.Issue[],
) => {
  const key = keyOf(ctx, caller)
  if (key === undefined) return undefined
  const issue = invalidKeyIssue(String(ctx.req.headers['idempotency-key']))
  if (issue) issues.push(issue)
  // The digest includes method and path: the same body sent elsewhere is another request.
  const digest = createHash('sha256').update(`${ctx.method} ${ctx.path}`)
  for (const part of sent) digest.update('\n').update(part)
  return { key, digest: digest.digest('hex') }
}
