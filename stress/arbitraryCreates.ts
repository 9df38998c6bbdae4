/** Creates for the fuzzer as they go over the wire: bodies sound and not, framed, compressed, labelled and keyed in every way. */
import { deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Resource } from '../engine/descriptor/registry.js'
import type { Header } from '../support/rawHttp.js'
import { type Ids, refusedMembers, soundMembers, sourceOf } from './arbitraryBodies.js'
import { createHeaders } from './service.js'

/** A create, and whether it must be taken: undefined where the service may do either. */
export interface CreateCase {
  readonly what: string
  readonly headers: readonly Header[]
  readonly bytes: Buffer
  /** The text of the body, where the bytes hold one. */
  readonly source?: string
  readonly isSound: boolean | undefined
}

const sound = (source: string): CreateCase => ({
  what: 'sound',
  headers: createHeaders,
  bytes: Buffer.from(source),
  source,
  isSound: true,
})

const [authorization, contentType] = createHeaders as [Header, Header]

const chunked = (bytes: Buffer, size: number): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size)
    parts.push(Buffer.from(`${part.length.toString(16)};a="b"\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\nX-Trailer: 1\r\n\r\n')])
}

const encoded = (one: CreateCase, encoding: string, bytes: Buffer): CreateCase => ({
  ...one,
  what: encoding,
  headers: [...one.headers, ['content-encoding', encoding]],
  bytes,
})

/** Larger, once it is inflated, than any body may be. */
const bomb = gzipSync(Buffer.alloc(4 * 2 ** 20, ' '))

/** The same create in another dress, which changes nothing. */
const dressed = (one: CreateCase): fc.Arbitrary<CreateCase> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(one) },
    fc.integer({ min: 1, max: 50 }).map((size) => ({
      ...one,
      what: 'chunked',
      headers: [...one.headers, ['transfer-encoding', 'chunked'] as const],
      bytes: chunked(one.bytes, size),
    })),
    fc.constantFrom(encoded(one, 'gzip', gzipSync(one.bytes)), encoded(one, 'deflate', deflateSync(one.bytes))),
    fc
      .constantFrom<Header[]>(
        [['expect', '100-continue']],
        [['expect', 'the-unexpected']],
        [['x-http-method-override', 'DELETE']],
        [
          ['cookie', 'a=b; \x80\xff;;='],
          ['range', 'bytes=0-1'],
        ],
        [
          ['accept', 'text/html;q=0'],
          ['accept-encoding', '*;q=0'],
          ['origin', 'null'],
        ],
        [
          ['if-none-match', '*'],
          ['if-match', '"x"'],
          ['te', 'trailers'],
        ],
        [['authorization', 'Bearer another']],
        [['content-type', 'text/plain']],
        Array.from({ length: 60 }, (_, n): Header => [`x-${n}`, 'y']),
      )
      .map((more) => ({ ...one, what: `with ${more[0]?.[0]}`, headers: [...one.headers, ...more] })),
  )

/** The same create made wrong on the wire. */
const broken = (one: CreateCase): fc.Arbitrary<CreateCase> => {
  const { bytes } = one
  const wrong = (what: string, headers: readonly Header[], wire = bytes): CreateCase => ({
    what,
    headers,
    bytes: wire,
    isSound: false,
  })
  const zipped = gzipSync(bytes)
  const typed = (type: string) => wrong(`as ${type}`, [authorization, ['content-type', type]])
  const zippedAs = (encoding: string, wire: Buffer) =>
    wrong(encoding, [...createHeaders, ['content-encoding', encoding]], wire)
  return fc.oneof(
    fc.nat(Math.max(0, bytes.length - 2)).map((length) => wrong('cut off', createHeaders, bytes.subarray(0, length))),
    fc
      .constantFrom('}', 'x', '{}', '\0')
      .map((more) => wrong('with more behind', createHeaders, Buffer.concat([bytes, Buffer.from(more)]))),
    fc
      .constantFrom([0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0x80])
      .map((bad) =>
        wrong(
          'no UTF-8',
          createHeaders,
          Buffer.concat([bytes.subarray(0, -1), Buffer.from(',"'), Buffer.from(bad), Buffer.from('":1}')]),
        ),
      ),
    fc.nat(zipped.length - 1).map((length) => zippedAs('gzip', zipped.subarray(0, length))),
    fc.constantFrom(
      zippedAs('gzip', bytes),
      zippedAs('gzip', bomb),
      zippedAs('gzip, gzip', zipped),
      zippedAs('zstd', bytes),
      zippedAs('deflate', zipped.subarray(0, 12)),
    ),
    fc
      .constantFrom('text/json', 'application/json; charset=utf-16', 'application/jsonx', '', 'json', '\x80', 'a/b')
      .map(typed),
    fc
      .constantFrom('', 'two words', '\xe9', 'x'.repeat(256), 'tab\there')
      .map((key) => wrong('an odd key', [...createHeaders, ['idempotency-key', key]])),
    fc
      .constantFrom('', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer \x80')
      .map((value) => wrong('no token', [['authorization', value], contentType])),
    fc.constant(wrong('two keys', [...createHeaders, ['idempotency-key', 'a'], ['idempotency-key', 'b']])),
    fc
      .constantFrom('null', '[]', '1', '"x"', '', ' ', '[{}]')
      .map((other) => wrong('no object', createHeaders, Buffer.from(other))),
  )
}

/** Creates of a resource: taken, refused, and broken on their way. */
export const createCase = (resource: Resource, ids: Ids): fc.Arbitrary<CreateCase> => {
  const taken = fc
    .tuple(soundMembers(resource, ids), fc.constantFrom('', ' ', '\n\t '))
    .map(([members, space]) => sound(sourceOf(members, space)))
  const doubled = soundMembers(resource, ids)
    .filter((members) => members.length > 0)
    .chain((members) => fc.constantFrom(...members).map(([name]) => sourceOf([[name, '1'], ...members])))
  return fc.oneof(
    { weight: 5, arbitrary: taken.chain(dressed) },
    {
      weight: 3,
      arbitrary: refusedMembers(resource, ids).map((members) => ({
        ...sound(sourceOf(members)),
        what: 'refused',
        isSound: false,
      })),
    },
    { weight: 3, arbitrary: taken.chain(broken) },
    // Of a name that comes twice the last counts, as everywhere in JavaScript.
    { weight: 1, arbitrary: doubled.map((source) => ({ ...sound(source), what: 'a name twice' })) },
  )
}
