/** Generates creates and updates: valid and invalid bodies in every framing, encoding, content type and key. */
import { deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Resource } from '../engine/descriptor/registry.js'
import type { Header } from '../support/rawHttp.js'
import { type BodyMethod, type Ids, type InvalidBody, invalidBody, toJson, validMembers } from './arbitraryBodies.js'
import { writeHeaders } from './service.js'

/** `isValid` is undefined if the service may accept or reject the write. */
export interface WriteCase {
  readonly label: string
  readonly headers: readonly Header[]
  readonly bytes: Buffer
  /** The JSON text of the body, if it has one. */
  readonly source?: string
  readonly isValid: boolean | undefined
  /** What must be reported of an invalid body. */
  readonly issue?: Omit<InvalidBody, 'members'>
}

const validCase = (source: string): WriteCase => ({
  label: 'valid',
  headers: writeHeaders,
  bytes: Buffer.from(source),
  source,
  isValid: true,
})

const [authorization, contentType] = writeHeaders as [Header, Header]

const chunked = (bytes: Buffer, size: number): Buffer => {
  const parts: Buffer[] = []
  for (let start = 0; start < bytes.length; start += size) {
    const part = bytes.subarray(start, start + size)
    parts.push(Buffer.from(`${part.length.toString(16)};a="b"\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\nX-Trailer: 1\r\n\r\n')])
}

const encoded = (write: WriteCase, encoding: string, bytes: Buffer): WriteCase => ({
  ...write,
  label: encoding,
  headers: [...write.headers, ['content-encoding', encoding]],
  bytes,
})

/** Exceeds the body limit once it is decompressed. */
const gzipBomb = gzipSync(Buffer.alloc(4 * 2 ** 20, ' '))

/** The same write with another framing, encoding or headers, which must not change the outcome. */
const reframed = (write: WriteCase): fc.Arbitrary<WriteCase> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(write) },
    fc.integer({ min: 1, max: 50 }).map((size) => ({
      ...write,
      label: 'chunked',
      headers: [...write.headers, ['transfer-encoding', 'chunked'] as const],
      bytes: chunked(write.bytes, size),
    })),
    fc.constantFrom(encoded(write, 'gzip', gzipSync(write.bytes)), encoded(write, 'deflate', deflateSync(write.bytes))),
    fc
      .constantFrom<Header[]>(
        [['expect', '100-continue']],
        [['expect', 'the-unexpected']],
        [['x-http-method-override', 'DELETE']],
        [['cookie', 'a=b; \x80\xff;;=']],
        [['accept-encoding', '*;q=0']],
        [['authorization', 'Bearer another']],
        [['content-type', 'text/plain']],
      )
      .map((more) => ({ ...write, label: `with ${more[0]?.[0]}`, headers: [...write.headers, ...more] })),
  )

/** The same write as an invalid request. */
const corrupted = (write: WriteCase): fc.Arbitrary<WriteCase> => {
  const { bytes } = write
  const invalid = (label: string, headers: readonly Header[], body = bytes): WriteCase => ({
    label,
    headers,
    bytes: body,
    isValid: false,
  })
  const zipped = gzipSync(bytes)
  const typed = (type: string) => invalid(`as ${type}`, [authorization, ['content-type', type]])
  const zippedAs = (encoding: string, body: Buffer) =>
    invalid(encoding, [...writeHeaders, ['content-encoding', encoding]], body)
  return fc.oneof(
    fc
      .nat(Math.max(0, bytes.length - 2))
      .map((length) => invalid('truncated', writeHeaders, bytes.subarray(0, length))),
    fc
      .constantFrom('}', 'x', '{}', '\0')
      .map((more) => invalid('trailing bytes', writeHeaders, Buffer.concat([bytes, Buffer.from(more)]))),
    fc
      .constantFrom([0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0x80])
      .map((bad) =>
        invalid(
          'invalid UTF-8',
          writeHeaders,
          Buffer.concat([bytes.subarray(0, -1), Buffer.from(',"'), Buffer.from(bad), Buffer.from('":1}')]),
        ),
      ),
    fc.nat(zipped.length - 1).map((length) => zippedAs('gzip', zipped.subarray(0, length))),
    fc.constantFrom(
      zippedAs('gzip', bytes),
      zippedAs('gzip', gzipBomb),
      zippedAs('gzip, gzip', zipped),
      zippedAs('zstd', bytes),
      zippedAs('deflate', zipped.subarray(0, 12)),
    ),
    fc
      .constantFrom('text/json', 'application/json; charset=utf-16', 'application/jsonx', '', 'json', '\x80', 'a/b')
      .map(typed),
    fc
      .constantFrom('', 'two words', '\xe9', 'x'.repeat(256), 'tab\there')
      .map((key) => invalid('invalid key', [...writeHeaders, ['idempotency-key', key]])),
    fc
      .constantFrom('', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer \x80')
      .map((value) => invalid('no token', [['authorization', value], contentType])),
    fc.constant(invalid('two keys', [...writeHeaders, ['idempotency-key', 'a'], ['idempotency-key', 'b']])),
    fc
      .constantFrom('null', '[]', '1', '"x"', '', ' ', '[{}]')
      .map((other) => invalid('not an object', writeHeaders, Buffer.from(other))),
  )
}

/** Valid, invalid and corrupted bodies of creates or updates of a resource. */
export const writeCase = (resource: Resource, method: BodyMethod, ids: Ids): fc.Arbitrary<WriteCase> => {
  const bodies = validMembers(resource, method, ids)
  const valid = fc
    .tuple(bodies, fc.constantFrom('', ' ', '\n\t '))
    .map(([members, space]) => validCase(toJson(members, space)))
  const duplicated = bodies.chain((members) =>
    members.length === 0
      ? fc.constant(toJson(members))
      : fc.constantFrom(...members).map(([name]) => toJson([[name, '1'], ...members])),
  )
  return fc.oneof(
    { weight: 5, arbitrary: valid.chain(reframed) },
    {
      weight: 4,
      arbitrary: invalidBody(resource, method, ids).map(({ members, ...issue }) => ({
        ...validCase(toJson(members)),
        label: `invalid ${issue.field}`,
        isValid: false,
        issue,
      })),
    },
    { weight: 3, arbitrary: valid.chain(corrupted) },
    // Of a repeated name the last one counts, as in JSON.parse.
    { weight: 1, arbitrary: duplicated.map((source) => ({ ...validCase(source), label: 'duplicate name' })) },
  )
}

/** Deletes, with and without the token. */
export const deleteCase: fc.Arbitrary<WriteCase> = fc
  .constantFrom(true, true, true, false)
  .map((isValid) => ({ label: 'delete', headers: isValid ? [authorization] : [], bytes: Buffer.alloc(0), isValid }))
