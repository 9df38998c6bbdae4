/** Ambiguous, malformed and expensive requests, with the statuses that the service must send. */
import { token } from './service.js'

/** Bytes for one connection, and the allowed statuses of each response, in order. */
export interface Odd {
  readonly name: string
  readonly bytes: string
  readonly statuses: readonly (readonly number[])[]
}

const create = (headers: string, body: string): string =>
  `POST /api/v1/leave HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`
const get = (headers: string): string => `GET /api/v1/health HTTP/1.1\r\nHost: a\r\n${headers}\r\n`
/** A request that an attacker tries to smuggle in. */
const smuggled = 'GET /api/v1/employees HTTP/1.1\r\nHost: a\r\n\r\n'
const valid = '{"leave_type":"x"}'

/** A create with a chunked body. */
const chunked = (body: string, coding = ': chunked'): string => create(`Transfer-Encoding${coding}\r\n`, body)
const attempt = `0\r\n\r\n${smuggled}`
const odd = (name: string, bytes: string, ...statuses: (number | readonly number[])[]): Odd => ({
  name,
  bytes,
  statuses: statuses.length > 0 ? statuses.map((status) => [status].flat()) : [[400]],
})

/** Bodies with an ambiguous length. */
const framing: Odd[] = [
  odd('a length and chunks', create('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', attempt)),
  odd('chunks and a length', create('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', attempt)),
  odd('two lengths', create('Content-Length: 18\r\nContent-Length: 19\r\n', valid)),
  odd('two equal lengths', create('Content-Length: 18\r\nContent-Length: 18\r\n', valid)),
  ...['18, 18', '+18', '-18', '0x12', '1 8', '18.0', '', '9'.repeat(30)].map((length) =>
    odd(`the length "${length.slice(0, 10)}"`, create(`Content-Length: ${length}\r\n`, valid)),
  ),
  ...['xchunked', 'chunked, identity', 'chunked, chunked', '"chunked"', 'chunked\x0b', 'identity, chunked, x'].map(
    (coding) => odd(`the coding ${JSON.stringify(coding)}`, chunked(attempt, `: ${coding}`), [400, 422]),
  ),
  odd('a space before the colon', chunked(attempt, ' : chunked')),
  odd('a folded coding', chunked(attempt, ':\r\n chunked')),
  odd('the coding in capitals', chunked(`12\r\n${valid}\r\n0\r\n\r\n`, ': CHUNKED'), 201),
  odd('chunks with an extension', chunked(`12;a=b\r\n${valid}\r\n0\r\n\r\n`), 201),
  odd('a chunk longer than its size', chunked(`2\r\n${valid}\r\n0\r\n\r\n`)),
  odd('a chunk with a huge size', chunked(`${'f'.repeat(17)}\r\n${valid}\r\n0\r\n\r\n`)),
  odd('chunks that end in bare LF', chunked(`12\n${valid}\n0\n\n`)),
  odd('an endless extension', chunked(`12;${'a'.repeat(40_000)}\r\n${valid}\r\n0\r\n\r\n`), [400, 413, 431]),
]

/** Invalid headers. */
const heads: Odd[] = [
  odd('a folded header', get('X: a\r\n b\r\n')),
  odd('a bare CR in a header', get('X: a\rY: b\r\n')),
  odd('a NUL in a name', get('X\0: a\r\n')),
  odd('a header without a colon', get('nonsense\r\n')),
  odd('a header without a name', get(': a\r\n')),
  odd('a space before the first header', 'GET /api/v1/health HTTP/1.1\r\n Host: a\r\n\r\n'),
  odd('a bare LF', 'GET /api/v1/health HTTP/1.1\nHost: a\n\n', [400, 200]),
  odd('two hosts', get('Host: b\r\n')),
  odd('two hosts that are equal', get('Host: a\r\n')),
  odd('no host', 'GET /api/v1/health HTTP/1.1\r\n\r\n'),
  odd('very many headers', get(Array.from({ length: 3_000 }, (_, n) => `X-${n}: y\r\n`).join('')), 431),
]

/** Invalid and unusual request lines. */
const lines: Odd[] = [
  odd('an absolute target', 'GET http://a/api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n', [200, 404, 400]),
  odd('an absolute target elsewhere', 'GET http://b/api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n', [200, 404, 400]),
  odd('an authority as a target', 'GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n', [400, 404]),
  odd('no target', 'GET  HTTP/1.1\r\nHost: a\r\n\r\n'),
  odd('HTTP/0.9', 'GET /api/v1/health\r\n\r\n', 505),
  odd('HTTP/1.10', 'GET /api/v1/health HTTP/1.10\r\nHost: a\r\n\r\n'),
  odd('a method in small letters', 'get /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n'),
  odd('the beginning of a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
]

/** Several requests on one connection, each with its response, in order. */
const pipelines: Odd[] = [
  odd('three at once', get('').repeat(3), 200, 200, 200),
  odd('a create between reads', `${get('')}${create('Content-Length: 18\r\n', valid)}${get('')}`, 200, 201, 200),
  odd('a refused one between reads', `${get('')}GET /none HTTP/1.1\r\nHost: a\r\n\r\n${get('')}`, 200, 404, 200),
  odd('a body that looks like a request', create(`Content-Length: ${smuggled.length}\r\n`, smuggled), 422),
  odd('a read with a body', `${get(`Content-Length: ${smuggled.length}\r\n`)}${smuggled}${get('')}`, 200, 200),
  odd('invalid bytes after a read', `${get('')}\0\0\0`, 200, 400),
]

export const corpus: readonly Odd[] = [...framing, ...heads, ...lines, ...pipelines]

/** Paths that would leave the folder of the docs, if they were resolved as files. */
// biome-ignore format: one list
export const traversals: readonly string[] = [
  '/api/docs/../../package.json', '/api/docs/..%2f..%2fpackage.json', '/api/docs/%2e%2e/%2e%2e/package.json',
  '/api/docs/%252e%252e/package.json', '/api/docs/....//....//package.json', '/api/docs/..\\..\\package.json',
  '/api/docs/..%5c..%5cpackage.json', '/api/docs//etc/passwd', '/api/docs/%00/../package.json',
  '/api/docs/swagger-ui.css%00.json', '/api/docs/swagger-ui.css/../../../package.json',
  '/api/docs/%c0%ae%c0%ae/package.json', '/api/docs/.', '/api/docs/..', '/api/docs/package.json',
  '/api/docs/swagger-ui-dist/package.json', '/../package.json', '/api/../package.json',
]
