/** The checks of the fuzzer; each sends a request and throws if the response is wrong. */
import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import { type Resource, type RowValues, updatableFields, type Value } from '../engine/descriptor/registry.js'
import type { ReceivedResponse } from '../support/conformance.js'
import type { Parameter } from '../support/oracle.js'
import { expectedRow, type Oracle, rowMismatch } from '../support/oracle.js'
import { type Header, type RawConnection, type RawResponse, requestBytes } from '../support/rawHttp.js'
import type { WriteCase } from './arbitraryWrites.js'
import { registry, rowPath, successes, writeHeaders } from './service.js'

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

const readIssues = ({ text }: RawResponse): { type: string; loc: string[] }[] => JSON.parse(text).error.details.issues

/** A list returns the rows of the oracle, or rejects exactly the invalid parameters. */
export const checkList = async (context: FuzzContext, resource: Resource, parameters: readonly Parameter[]) => {
  const query = parameters.map(({ name, written }) => `${name}=${written}`).join('&')
  const { status, text } = await send(context, 'GET', `${rowPath(resource)}?${query}`)
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

/** Sums of doubles depend on the order in which they are added. */
const isNearly = (a: unknown, b: unknown): boolean =>
  typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b))

/** The expected value with the actual numbers where they differ by rounding only. */
const withNearNumbers = (expected: unknown, actual: unknown): unknown => {
  if (isNearly(expected, actual)) return actual
  if (typeof expected !== 'object' || expected === null) return expected
  if (Array.isArray(expected)) return expected.map((member, n) => withNearNumbers(member, (actual as unknown[])?.[n]))
  return Object.fromEntries(
    Object.entries(expected).map(([name, member]) => [
      name,
      withNearNumbers(member, (actual as Record<string, unknown>)?.[name]),
    ]),
  )
}

/** A summary has the groups of the oracle, or rejects exactly the invalid parameters. */
export const checkSummary = async (context: FuzzContext, resource: Resource, parameters: readonly Parameter[]) => {
  const query = parameters.map(({ name, written }) => `${name}=${written}`).join('&')
  const { status, text } = await send(context, 'GET', `${rowPath(resource)}/summary?${query}`)
  if (status === 414 || status === 431) return ok(query.length > 14_000)
  const expected = context.oracle.summary(resource, parameters)
  const body = JSON.parse(text)
  if ('rejected' in expected) {
    equal(status, 422, text)
    const names = body.detail.map(({ loc }: { loc: string[] }) => loc[1])
    return deepStrictEqual(names.toSorted(), expected.rejected.toSorted())
  }
  equal(status, 200, text)
  deepStrictEqual(body, withNearNumbers(expected, body))
}

/** The id of a row returns it, any other text 404, and invalid percent-encoding 422. */
export const checkGet = async (context: FuzzContext, resource: Resource, segment: string): Promise<void> => {
  const { status, text } = await send(context, 'GET', rowPath(resource, segment))
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

/** What is exported and imported again by id changes no row, in either format. */
export const checkExports = async ({ connection, oracle }: FuzzContext, resource: Resource): Promise<void> => {
  const settable = new Set(['id', ...updatableFields(resource).map(({ name }) => name)])
  const hidden = resource.fields.filter(({ name, redacted }) => !settable.has(name) || redacted)
  const query = ['match=id', 'dryRun=true', ...hidden.map(({ name }) => `ignore=${name}`)].join('&')
  const headers = writeHeaders.filter(([name]) => name !== 'content-type')
  for (const type of ['text/csv', 'application/x-ndjson']) {
    const exported = await connection.send(requestBytes('GET', rowPath(resource), [['accept', type]]), 'GET')
    const path = `${rowPath(resource)}/import?${query}`
    const bytes = requestBytes('POST', path, [...headers, ['content-type', type]], Buffer.from(exported.text))
    const { status, text } = await connection.send(bytes, 'POST')
    equal(status, 200, text)
    const unchanged = oracle.ids(resource.path).length
    deepStrictEqual(JSON.parse(text), { created: 0, updated: 0, unchanged, ids: [] }, `${resource.path} as ${type}`)
  }
}

const readTotal = async (context: FuzzContext, resource: Resource): Promise<number> =>
  JSON.parse((await send(context, 'GET', `${rowPath(resource)}?limit=1`)).text).meta.total

/** A write: a create, or a change or delete of the row with an id, which may not exist. */
interface FuzzedWrite {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly resource: Resource
  readonly id: number | undefined
  readonly write: WriteCase
  readonly ifMatch: 'none' | 'current' | 'other'
  readonly key: string | undefined
}

/** A valid write stores exactly what it describes; an invalid one changes nothing, and reports exactly what is wrong. */
export const checkWrite = async (
  context: FuzzContext,
  { method, resource, id, write, ifMatch, key }: FuzzedWrite,
): Promise<void> => {
  const { oracle } = context
  const { bytes, source, isValid, issue } = write
  const before = id === undefined ? undefined : oracle.row(resource, id)
  const get = () => send(context, 'GET', rowPath(resource, id))
  const current = before && (await get())
  const tag =
    id === undefined || ifMatch === 'none' ? undefined : ifMatch === 'current' ? current?.headers.get('etag') : '"x"'
  const headers: Header[] = [...write.headers]
  if (tag !== undefined) headers.push(['if-match', tag])
  if (key !== undefined) headers.push(['idempotency-key', key])
  const sendWrite = () => send(context, method, rowPath(resource, id), headers, method === 'DELETE' ? undefined : bytes)
  const values = isValid && source !== undefined ? (JSON.parse(source) as Record<string, Value>) : undefined
  const duplicates = values ? oracle.duplicates(resource, expectedRow(resource, values, before)) : []
  const deletion = method === 'DELETE' && id !== undefined ? oracle.deletion(registry, resource, id) : undefined
  const response = await sendWrite()
  const { status, text } = response
  if (status !== successes[method]) {
    equal(await readTotal(context, resource), oracle.ids(resource.path).length, 'a rejected write changed the total')
    if (current) equal((await get()).text, current.text, 'a rejected write changed the row')
    if (status === 401) return ok(!isValid, text)
    if (id !== undefined && !before) return equal(status, 404, text)
    if (ifMatch === 'other' && id !== undefined) return equal(status, 412, text)
    if (deletion) {
      equal(status, 409, text)
      const named = JSON.parse(text).error.details.references as { resource: string; field: string }[]
      return deepStrictEqual(
        named.map((reference) => `${reference.resource} ${reference.field}`).sort(),
        deletion.preventedBy.sort(),
      )
    }
    ok(duplicates.length > 0 || !isValid, `a valid write was rejected: ${text}`)
    if (duplicates.length === 0 && !issue) return
    const issues = readIssues(response)
    const reported = issues.filter(({ loc }) => loc[1] === issue?.field)
    if (issue) {
      ok(reported.length > 0, text)
      if (issue.type !== undefined)
        ok(
          reported.some(({ type }) => type === issue.type),
          text,
        )
      return ok(
        issues.every((other) => reported.includes(other) || other.type === 'unique'),
        text,
      )
    }
    return deepStrictEqual(
      issues.map(({ loc }) => loc[1]),
      duplicates,
    )
  }
  // The oracle first: otherwise one failure would make all later checks fail too.
  const row = text === '' ? undefined : (JSON.parse(text) as RowValues)
  if (deletion) deletion.apply()
  else if (row && id === undefined) oracle.add(resource, [row])
  else if (row) oracle.update(resource, row)
  ok(isValid !== false, `an invalid write was stored: ${text}`)
  ok(
    id === undefined || (before && ifMatch !== 'other'),
    `a write of no row, or of another version, succeeded: ${text}`,
  )
  deepStrictEqual(duplicates, [], 'a duplicate of a unique value was stored')
  deepStrictEqual(deletion?.preventedBy ?? [], [], 'a delete of a referenced row succeeded')
  if (values && row) equal(rowMismatch(resource, values, before, row), undefined, text)
  if (row) {
    const path = rowPath(resource, row['id'])
    const now = await send(context, 'GET', path)
    equal(now.text, text)
    equal(response.headers.get(method === 'POST' ? 'location' : 'content-location'), path)
    if (method === 'PATCH') equal(response.headers.get('etag'), now.headers.get('etag'))
  } else equal((await get()).status, 404)
  if (key === undefined) return
  const replay = await sendWrite()
  deepStrictEqual([replay.status, replay.text], [status, text])
  equal(replay.headers.get('idempotency-replayed'), 'true')
}
