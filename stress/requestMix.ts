/** A random mix of requests of every kind, each with the statuses that are correct for it. */
import { basePath } from '../engine/contract/service.js'
import { filterFields, type Resource, type RowValues, searchedFields } from '../engine/descriptor/registry.js'
import { type Header, type RawResponse, requestBytes } from '../support/rawHttp.js'
import { sampleBody } from '../support/samples.js'
import type { Random } from './random.js'
import { creatable, createHeaders, pathOf, registry } from './service.js'

export interface MixedRequest {
  readonly name: string
  readonly method: string
  readonly bytes: Buffer
  readonly statuses: readonly number[]
  /** Receives the response, for later requests. */
  readonly onResponse?: (response: RawResponse) => void
}

/** Generates requests at random, most of them reads. */
export const requestMix = (random: Random): (() => MixedRequest) => {
  let n = 10_000_000
  const tags = new Map<string, string>()
  const get = (name: string, path: string, statuses: readonly number[], headers: Header[] = []): MixedRequest => ({
    name,
    method: 'GET',
    bytes: requestBytes('GET', path, headers),
    statuses,
    onResponse: ({ headers: received }) => {
      const tag = received.get('etag')
      if (tag !== undefined && tags.size < 1_000) tags.set(path, tag)
    },
  })
  const rowOf = ({ demo }: Resource): RowValues => random.pick(demo)
  const partOf = (resource: Resource, length: number): string => {
    const row = rowOf(resource)
    const letters = Array.from(
      searchedFields(resource)
        .flatMap(({ name }) => row[name] ?? [])
        .join(' '),
    )
    const start = random.below(Math.max(1, letters.length - length))
    return encodeURIComponent(letters.slice(start, start + length).join(''))
  }
  const post = (
    name: string,
    resource: Resource,
    headers: readonly Header[],
    body: string,
    statuses: number[],
  ): MixedRequest => ({
    name,
    method: 'POST',
    bytes: requestBytes('POST', pathOf(resource), headers, Buffer.from(body)),
    statuses,
  })
  const create = (...more: Header[]): MixedRequest => {
    const resource = random.pick(creatable)
    // A unique reference can be used once.
    const statuses = resource.fields.some((field) => field.unique && field.references) ? [201, 422] : [201]
    const body = JSON.stringify(sampleBody(registry, resource, n))
    return post('create', resource, [...createHeaders, ...more], body, statuses)
  }
  const kinds: readonly [share: number, make: (resource: Resource) => MixedRequest][] = [
    [
      30,
      (resource) => get('page', `${pathOf(resource)}?limit=${1 + random.below(50)}&offset=${random.below(500)}`, [200]),
    ],
    [20, (resource) => get('row', pathOf(resource, rowOf(resource)['id']), [200])],
    [5, (resource) => get('compressed', pathOf(resource), [200], [['accept-encoding', 'br']])],
    [
      15,
      () => {
        const [path, tag] = random.pick([...tags.entries()].slice(0, 50).concat([[basePath, '"none"']]))
        return get('conditional', path, [200, 304], [['if-none-match', tag]])
      },
    ],
    [8, (resource) => get('search', `${pathOf(resource)}?q=${partOf(resource, 3 + random.below(12))}&limit=10`, [200])],
    [1, (resource) => get('scan', `${pathOf(resource)}?q=${partOf(resource, 1)}&limit=5`, [200])],
    [
      8,
      (resource) => {
        const fields = filterFields(resource)
        const name = fields.length > 0 ? random.pick(fields).name : 'none'
        return get(
          'filter',
          `${pathOf(resource)}?limit=10&${name}=${encodeURIComponent(String(rowOf(resource)[name] ?? 1))}`,
          [200],
        )
      },
    ],
    [5, () => create(['idempotency-key', `soak-${n}`])],
    [2, () => create()],
    [2, (resource) => get('bad parameter', `${pathOf(resource)}?limit=0&offset=x`, [422])],
    [2, (resource) => get('unknown row', pathOf(resource, 'unknown'), [404])],
    [1, () => get('unknown path', '/unknown', [404])],
    [1, () => post('no token', random.pick(creatable), [], '{}', [401])],
    [1, () => post('bad body', random.pick(creatable), createHeaders, '{"', [422])],
    [1, () => get('description', `${basePath}/openapi.json`, [200])],
  ]
  const weighted = kinds.flatMap(([share, make]) => Array.from({ length: share }, () => make))
  return () => {
    n++
    return random.pick(weighted)(random.pick(registry))
  }
}
