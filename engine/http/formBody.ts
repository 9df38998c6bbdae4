/** Reads what a form has posted: its texts, and its files. */
import * as errors from '../contract/errors.js'
import { bodyIssue } from '../contract/issues.js'
import { bodyLimit } from '../contract/rowBody.js'
import { nextTurn } from '../process/batchPerTick.js'
import { readBytes } from './body.js'
import type { AppContext } from './requestLog.js'

export interface FormBody {
  readonly texts: URLSearchParams
  readonly files: ReadonlyMap<string, Buffer>
}

/** The most values of a form: a million of them would be read for a second. */
const maxValues = 10_000

const tooManyValues = (): Error =>
  errors.bodyInvalid([bodyIssue('too_long', `A form has at most ${maxValues} values.`)])

const invalid = (): Error => errors.bodyInvalid([bodyIssue('body_read', 'The body is not a form.')])

const urlencoded = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data'

const readUrlencoded = (bytes: Buffer): FormBody => {
  const source = bytes.toString()
  let [count, at] = [0, source.indexOf('&')]
  for (; at !== -1; at = source.indexOf('&', at + 1)) if (++count > maxValues) throw tooManyValues()
  return { texts: new URLSearchParams(source), files: new Map() }
}

/** The value of a parameter of a header; browsers escape nothing but quotes and line breaks. */
const parameterIn = (header: string, name: string): string | undefined =>
  new RegExp(`; *${name}="?([^"\\r\\n;]*)"?`, 'i').exec(header)?.[1]?.replaceAll('%22', '"')

const readMultipart = (bytes: Buffer, boundary: string): FormBody => {
  const [texts, files] = [new URLSearchParams(), new Map<string, Buffer>()]
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // Before the first delimiter is no line break.
  let from = delimiter.length - 2
  if (!bytes.subarray(0, from).equals(delimiter.subarray(2))) throw invalid()
  for (let count = 0; bytes.toString('latin1', from, from + 2) !== '--'; count++) {
    const [head, end] = [bytes.indexOf('\r\n\r\n', from), bytes.indexOf(delimiter, from)]
    if (head === -1 || end === -1 || head > end) throw invalid()
    if (count >= maxValues) throw tooManyValues()
    const header = bytes.toString('utf8', from, head)
    const name = parameterIn(header, 'name')
    const content = bytes.subarray(head + 4, end)
    if (name === undefined) throw invalid()
    if (parameterIn(header, 'filename') === undefined) texts.append(name, content.toString())
    else files.set(name, content)
    from = end + delimiter.length
  }
  return { texts, files }
}

/** The most characters of a boundary (RFC 2046); to look for a longer one could take seconds. */
const maxBoundary = 70

export const readForm = async (ctx: AppContext, limit: number): Promise<FormBody> => {
  const boundary = parameterIn(ctx.get('Content-Type'), 'boundary') ?? ''
  if (ctx.is(multipart) && (boundary === '' || boundary.length > maxBoundary)) throw invalid()
  // To decode a form of 16 MiB that is urlencoded takes a second.
  const { type, bytes } = await readBytes(ctx, [urlencoded, multipart], ctx.is(multipart) ? limit : bodyLimit)
  await nextTurn()
  if (type === urlencoded) return readUrlencoded(bytes)
  return readMultipart(bytes, boundary)
}
