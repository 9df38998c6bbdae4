/** Requests of every kind, each with the statuses that it may be answered with. */
import { basePath } from '../engine/contract/service.js'
import { filterFields, type Resource, type RowValues, searchedFields } from '../engine/descriptor/registry.js'
import { type Header, type RawResponse, requestBytes } from '../support/rawHttp.js'
import { sampleBody } from '../support/samples.js'
import type { Random } from './random.js'
import { creatable, createHeaders, pathOf, registry } from './service.js'

/** A request, and what may come of it. */
export interface Kind {
  readonly name: string
  readonly method: string
  readonly bytes: Buffer
  readonly statuses: readonly number[]
  /** Looks at the answer, for the requests that follow. */
  readonly look?: (answer: RawResponse) => void
}

/** Makes requests by chance: most of them reads, as it is with services. */
export const everyKind = (random: Random): (() => Kind) => {
  let n = 10_000_000
  const tags = new Map<string, string>()
  const get = (name: string, path: string, statuses: readonly number[], headers: Header[] = []): Kind => ({
    name,
    method: 'GET',
    bytes: requestBytes('GET', path, headers),
    statuses,
    look: ({ headers: answered }) => {
      const tag = answered.get('etag')
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
  ): Kind => ({
    name,
    method: 'POST',
    bytes: requestBytes('POST', pathOf(resource), headers, Buffer.from(body)),
    statuses,
  })
  const create = (...more: Header[]): Kind => {
    const resource = random.pick(creatable)
    // A reference that has to be unique is taken by the first that names it.
    const statuses = resource.fields.some((field) => field.unique && field.references) ? [201, 422] : [201]
    const body = JSON.stringify(sampleBody(registry, resource, n))
    return post('create', resource, [...createHeaders, ...more], body, statuses)
  }
  const kinds: readonly [share: number, make: (resource: Resource) => Kind][] = [
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
    [2, (resource) => get('no row', pathOf(resource, 'nobody'), [404])],
    [1, () => get('no path', '/nowhere', [404])],
    [1, () => post('no token', random.pick(creatable), [], '{}', [401])],
    [1, () => post('bad body', random.pick(creatable), createHeaders, '{"', [422])],
    [1, () => get('description', `${basePath}/openapi.json`, [200])],
  ]
  const deck = kinds.flatMap(([share, make]) => Array.from({ length: share }, () => make))
  return () => {
    n++
    return random.pick(deck)(random.pick(registry))
  }
}
