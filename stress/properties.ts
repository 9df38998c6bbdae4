/** What must hold for every request the fuzzer makes; each check throws where it does not. */
import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import type { Resource, RowValues, Value } from '../engine/descriptor/registry.js'
import type { ReceivedResponse } from '../support/conformance.js'
import { type Header, type RawConnection, type RawResponse, requestBytes } from '../support/rawHttp.js'
import type { CreateCase } from './arbitraryCreates.js'
import type { Parameter } from './arbitraryQueries.js'
import { type Oracle, rowOf, wrongIn } from './oracle.js'
import { pathOf } from './service.js'

export interface Tried {
  readonly wire: RawConnection
  readonly oracle: Oracle
  /** Throws where an answer is not what the served document says. */
  readonly conforms: (received: ReceivedResponse) => void
}

/** What the parser refuses is refused ahead of every path, and so no path documents it. */
const byParser = new Set([400, 408, 431])

/** Sends a request whose answer must come, be documented, and not be the service's own failure. */
const ask = async (tried: Tried, method: string, path: string, headers: readonly Header[] = [], body?: Buffer) => {
  const answer = await tried.wire.send(requestBytes(method, path, headers, body), method)
  const { status, text } = answer
  ok(status < 500, `${status}: ${text}`)
  const header = (name: string) => answer.headers.get(name)
  tried.conforms({ method, path: byParser.has(status) ? '/' : path, status, header, text })
  return answer
}

const issuesOf = ({ text }: RawResponse): { type: string; loc: string[] }[] => JSON.parse(text).error.details.issues

/** A list answers what the rows say, or refuses exactly the parameters that are wrong. */
export const listHolds = async (tried: Tried, resource: Resource, parameters: readonly Parameter[]): Promise<void> => {
  const query = parameters.map(({ name, written }) => `${name}=${written}`).join('&')
  const { status, text } = await ask(tried, 'GET', `${pathOf(resource)}?${query}`)
  // A head larger than the server takes: long texts, escaped.
  if (status === 431) return ok(query.length > 14_000)
  const expected = tried.oracle.list(resource, parameters)
  const body = JSON.parse(text)
  if ('refused' in expected) {
    equal(status, 422, text)
    const locs = body.detail.map(({ loc }: { loc: string[] }) => loc)
    return deepStrictEqual(
      locs,
      expected.refused.map((name) => ['query', name]),
    )
  }
  equal(status, 200, text)
  equal(body.meta.total, expected.total, 'the total')
  deepStrictEqual(body.data, expected.data)
  ok(text.endsWith(`"limit":${expected.limit},"offset":${expected.offset}}}`), text.slice(-100))
}

/** An id that names a row answers it, any other text 404, and what is no text 422. */
export const getHolds = async (tried: Tried, resource: Resource, segment: string): Promise<void> => {
  const { status, text } = await ask(tried, 'GET', pathOf(resource, segment))
  if (status === 431) return ok(segment.length > 14_000)
  let name: string | undefined
  try {
    name = decodeURIComponent(segment)
  } catch {
    // No text: refused like a NUL.
  }
  if (name === undefined || name.includes('\0')) return equal(status, 422, text)
  const row = /^[1-9]\d{0,15}$/.test(name) ? tried.oracle.row(resource, Number(name)) : undefined
  equal(status, row ? 200 : 404, text)
  if (row) deepStrictEqual(JSON.parse(text), row)
}

const totalOf = async (tried: Tried, resource: Resource): Promise<number> =>
  JSON.parse((await ask(tried, 'GET', `${pathOf(resource)}?limit=1`)).text).meta.total

/** A create that is sound makes the row it describes, to the bit; one that is not leaves no trace. */
export const createHolds = async (
  tried: Tried,
  resource: Resource,
  create: CreateCase,
  key?: string,
): Promise<void> => {
  const { oracle } = tried
  const { bytes, source, isSound } = create
  const headers: readonly Header[] = key === undefined ? create.headers : [...create.headers, ['idempotency-key', key]]
  const send = () => ask(tried, 'POST', pathOf(resource), headers, bytes)
  const sent = isSound && source !== undefined ? (JSON.parse(source) as Record<string, Value>) : undefined
  const taken = sent ? oracle.taken(resource, rowOf(resource, sent)) : []
  const answer = await send()
  if (answer.status !== 201) {
    equal(await totalOf(tried, resource), oracle.ids(resource.path).length, 'a refused create changed the count')
    ok(taken.length > 0 || !isSound, `a sound create was refused: ${answer.text}`)
    if (taken.length > 0)
      deepStrictEqual(
        issuesOf(answer).map(({ loc }) => loc[1]),
        taken,
      )
    return
  }
  const row = JSON.parse(answer.text) as RowValues
  // Learnt first: a fault must not make every later request look wrong.
  oracle.learn(resource, [row])
  ok(isSound !== false, `what must be refused was stored: ${answer.text}`)
  deepStrictEqual(taken, [], 'a value that is taken was stored')
  if (sent) equal(wrongIn(resource, sent, row), undefined, answer.text)
  equal(answer.headers.get('location'), pathOf(resource, row['id']))
  equal((await ask(tried, 'GET', pathOf(resource, row['id']))).text, answer.text)
  if (key === undefined) return
  const again = await send()
  equal(again.text, answer.text)
  equal(again.headers.get('idempotency-replayed'), 'true')
}

/** Any method on any path is answered, and changes nothing. */
export const oddHolds = async (
  tried: Tried,
  method: string,
  path: string,
  headers: readonly Header[],
): Promise<void> => {
  const { status } = await ask(tried, method, path, headers)
  ok(status !== 201)
}
