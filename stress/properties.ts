/** The checks of the fuzzer; each sends a request and throws if the response is wrong. */
import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import type { Resource, RowValues, Value } from '../engine/descriptor/registry.js'
import type { ReceivedResponse } from '../support/conformance.js'
import { type Header, type RawConnection, type RawResponse, requestBytes } from '../support/rawHttp.js'
import type { CreateCase } from './arbitraryCreates.js'
import type { Parameter } from './arbitraryQueries.js'
import { expectedRow, type Oracle, rowMismatch } from './oracle.js'
import { pathOf } from './service.js'

export interface FuzzContext {
  readonly connection: RawConnection
  readonly oracle: Oracle
  /** Throws if a response differs from the OpenAPI document. */
  readonly checkDocumented: (response: ReceivedResponse) => void
}

/** The HTTP parser sends these before routing, so no operation documents them. */
const parserStatuses = new Set([400, 408, 414, 431])

/** Sends a request; its response must be documented and below 500. */
const send = async (
  context: FuzzContext,
  method: string,
  path: string,
  headers: readonly Header[] = [],
  body?: Buffer,
) => {
  const response = await context.connection.send(requestBytes(method, path, headers, body), method)
  const { status, text } = response
  ok(status < 500, `${status}: ${text}`)
  const header = (name: string) => response.headers.get(name)
  context.checkDocumented({ method, path: parserStatuses.has(status) ? '/' : path, status, header, text })
  return response
}

const issuesOf = ({ text }: RawResponse): { type: string; loc: string[] }[] => JSON.parse(text).error.details.issues

/** A list returns the rows of the oracle, or rejects exactly the invalid parameters. */
export const checkList = async (
  context: FuzzContext,
  resource: Resource,
  parameters: readonly Parameter[],
): Promise<void> => {
  const query = parameters.map(({ name, written }) => `${name}=${written}`).join('&')
  const { status, text } = await send(context, 'GET', `${pathOf(resource)}?${query}`)
  // Long escaped texts exceed the limit of the request head.
  if (status === 414 || status === 431) return ok(query.length > 14_000)
  const expected = context.oracle.list(resource, parameters)
  const body = JSON.parse(text)
  if ('rejected' in expected) {
    equal(status, 422, text)
    const locs = body.detail.map(({ loc }: { loc: string[] }) => loc)
    return deepStrictEqual(
      locs,
      expected.rejected.map((name) => ['query', name]),
    )
  }
  equal(status, 200, text)
  equal(body.meta.total, expected.total, 'the total')
  deepStrictEqual(body.data, expected.data)
  ok(text.endsWith(`"limit":${expected.limit},"offset":${expected.offset}}}`), text.slice(-100))
}

/** The id of a row returns it, any other text 404, and invalid percent-encoding 422. */
export const checkGet = async (context: FuzzContext, resource: Resource, segment: string): Promise<void> => {
  const { status, text } = await send(context, 'GET', pathOf(resource, segment))
  if (status === 414 || status === 431) return ok(segment.length > 14_000)
  let id: string | undefined
  try {
    id = decodeURIComponent(segment)
  } catch {
    // Invalid percent-encoding, rejected like a NUL.
  }
  if (id === undefined || id.includes('\0')) return equal(status, 422, text)
  const row = /^[1-9]\d{0,15}$/.test(id) ? context.oracle.row(resource, Number(id)) : undefined
  equal(status, row ? 200 : 404, text)
  if (row) deepStrictEqual(JSON.parse(text), row)
}

const totalOf = async (context: FuzzContext, resource: Resource): Promise<number> =>
  JSON.parse((await send(context, 'GET', `${pathOf(resource)}?limit=1`)).text).meta.total

/** A valid create stores exactly the row it describes; an invalid one stores nothing. */
export const checkCreate = async (
  context: FuzzContext,
  resource: Resource,
  create: CreateCase,
  key?: string,
): Promise<void> => {
  const { oracle } = context
  const { bytes, source, isValid } = create
  const headers: readonly Header[] = key === undefined ? create.headers : [...create.headers, ['idempotency-key', key]]
  const post = () => send(context, 'POST', pathOf(resource), headers, bytes)
  const sent = isValid && source !== undefined ? (JSON.parse(source) as Record<string, Value>) : undefined
  const duplicates = sent ? oracle.duplicates(resource, expectedRow(resource, sent)) : []
  const response = await post()
  if (response.status !== 201) {
    equal(await totalOf(context, resource), oracle.ids(resource.path).length, 'a rejected create changed the total')
    ok(duplicates.length > 0 || !isValid, `a valid create was rejected: ${response.text}`)
    if (duplicates.length > 0)
      deepStrictEqual(
        issuesOf(response).map(({ loc }) => loc[1]),
        duplicates,
      )
    return
  }
  const row = JSON.parse(response.text) as RowValues
  // Added first: otherwise one failure would make all later checks fail too.
  oracle.add(resource, [row])
  ok(isValid !== false, `an invalid create was stored: ${response.text}`)
  deepStrictEqual(duplicates, [], 'a duplicate of a unique value was stored')
  if (sent) equal(rowMismatch(resource, sent, row), undefined, response.text)
  equal(response.headers.get('location'), pathOf(resource, row['id']))
  equal((await send(context, 'GET', pathOf(resource, row['id']))).text, response.text)
  if (key === undefined) return
  const replay = await post()
  equal(replay.text, response.text)
  equal(replay.headers.get('idempotency-replayed'), 'true')
}

/** Any method on any path gets a documented response and creates nothing. */
export const checkUnusual = async (
  context: FuzzContext,
  method: string,
  path: string,
  headers: readonly Header[],
): Promise<void> => {
  const { status } = await send(context, method, path, headers)
  ok(status !== 201)
}
