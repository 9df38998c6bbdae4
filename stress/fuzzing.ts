/** Fuzzes the built service: requests made by chance from the descriptors, each held against the document and an oracle. */
import { join } from 'node:path'
import fc from 'fast-check'
import { basePath } from '../engine/contract/service.js'
import type { Resource } from '../engine/descriptor/registry.js'
import { temporaryFolder } from '../support/cleanup.js'
import { conformance } from '../support/conformance.js'
import { startProcess } from '../support/process.js'
import { type Header, RawConnection } from '../support/rawHttp.js'
import { type CreateCase, createCase } from './arbitraryCreates.js'
import { itemId, listParameters, type Parameter } from './arbitraryQueries.js'
import { wildEscaped } from './arbitraryText.js'
import { Oracle } from './oracle.js'
import { createHolds, getHolds, listHolds, oddHolds, type Tried } from './properties.js'
import { allRows, creatable, environmentOf, makeFile, pathOf, read, registry } from './service.js'

export interface Fuzz {
  readonly cases: number
  readonly seed: number
  /** How many rows each table has beforehand, besides the demo rows. */
  readonly rows: number
  readonly told: (done: number) => void
}

type Case =
  | { readonly kind: 'list'; readonly resource: Resource; readonly parameters: readonly Parameter[] }
  | { readonly kind: 'get'; readonly resource: Resource; readonly segment: string }
  | { readonly kind: 'create'; readonly resource: Resource; readonly create: CreateCase; readonly isKeyed: boolean }
  | { readonly kind: 'odd'; readonly method: string; readonly path: string; readonly headers: readonly Header[] }

/** A case as a failure shows it: what goes over the wire, and not the descriptor behind it. */
const shown = (one: Case): string => {
  if (one.kind === 'odd') return JSON.stringify(one)
  if (one.kind === 'create')
    return `${one.resource.path}: ${one.create.what} ${one.create.source ?? one.create.bytes.toString('latin1')}`
  const { resource, kind, ...rest } = one
  return `${kind} ${resource.path}: ${JSON.stringify(rest, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`
}

const oddHeaders: Header[][] = [
  [],
  [['if-none-match', 'W/"x", *']],
  [['if-none-match', '"'.repeat(500)]],
  [['accept-encoding', 'identity;q=0, x']],
  [
    ['range', 'bytes=9-1'],
    ['accept', '\x80'],
  ],
  [
    ['content-length', '0'],
    ['x-forwarded-host', '\xff'],
  ],
]

const caseOf = (oracle: Oracle): fc.Arbitrary<Case> => {
  const resource = fc.constantFrom(...registry)
  const paths = fc.oneof(
    fc.constantFrom(basePath, `${basePath}/docs`, '/', '/swagger.json', `${basePath}/v1/health`, '*'),
    resource.map((one) => pathOf(one)),
    wildEscaped.map((any) => `/${any}`),
  )
  const methods = fc.constantFrom(
    'GET',
    'HEAD',
    'OPTIONS',
    'PUT',
    'PATCH',
    'DELETE',
    'TRACE',
    'PROPFIND',
    'get',
    'POST',
  )
  return fc.oneof(
    {
      weight: 10,
      arbitrary: resource.chain((one) =>
        listParameters(one, oracle.someRows(one)).map(
          (parameters): Case => ({ kind: 'list', resource: one, parameters }),
        ),
      ),
    },
    {
      weight: 2,
      arbitrary: resource.chain((one) =>
        itemId(oracle.ids(one.path)).map((segment): Case => ({ kind: 'get', resource: one, segment })),
      ),
    },
    {
      weight: 7,
      arbitrary: fc.constantFrom(...creatable).chain((one) =>
        fc
          .tuple(
            createCase(one, (path) => oracle.ids(path)),
            fc.boolean(),
          )
          .map(([create, isKeyed]): Case => ({ kind: 'create', resource: one, create, isKeyed })),
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(methods, paths, fc.constantFrom(...oddHeaders))
        .map(([method, path, headers]): Case => ({ kind: 'odd', method, path, headers })),
    },
  )
}

/** Runs so many cases; throws at the first that does not hold, made as small as it can be. */
export const fuzz = async ({ cases, seed, rows, told }: Fuzz): Promise<void> => {
  const folder = temporaryFolder('fuzz')
  const path = join(folder.path, 'fuzz.sqlite')
  await makeFile(path, rows)
  const running = await startProcess(environmentOf(path))
  const wire = new RawConnection(running.address)
  const oracle = new Oracle()
  for (const resource of registry) oracle.learn(resource, await allRows(wire, resource))
  const document = JSON.parse((await read(wire, `${basePath}/openapi.json`)).text)
  told(0)
  const tried: Tried = { wire, oracle, conforms: conformance(document, basePath) }
  let done = 0
  const holds = async (one: Case): Promise<void> => {
    told(++done)
    if (one.kind === 'list') return listHolds(tried, one.resource, one.parameters)
    if (one.kind === 'get') return getHolds(tried, one.resource, one.segment)
    if (one.kind === 'odd') return oddHolds(tried, one.method, one.path, one.headers)
    const isKeyed = one.isKeyed && one.create.isSound === true
    return createHolds(tried, one.resource, one.create, isKeyed ? `fuzz-${seed}-${done}` : undefined)
  }
  const property = fc.asyncProperty(
    caseOf(oracle).map((one) => Object.assign(one, { [fc.toStringMethod]: () => shown(one).slice(0, 2_000) })),
    holds,
  )
  try {
    await fc.assert(property, { numRuns: cases, seed, includeErrorInReport: true })
    if (running.child.exitCode !== null) throw new Error(`the service has ended: ${running.output()}`)
    // Whatever it was sent, the service has had nothing to complain of.
    if (/"level":(?:50|60)/.test(running.output())) throw new Error(`the log tells of failures: ${running.output()}`)
  } finally {
    wire.close()
    await running.end('SIGTERM')
    folder.remove()
  }
}
