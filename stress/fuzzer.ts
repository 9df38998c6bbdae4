/** Fuzzes the service: sends random requests and checks every response against the OpenAPI document and an oracle. */
import fc from 'fast-check'
import { basePath } from '../engine/contract/service.js'
import type { Resource } from '../engine/descriptor/registry.js'
import { conformance } from '../support/conformance.js'
import { startProcess } from '../support/process.js'
import { type Header, RawConnection } from '../support/rawHttp.js'
import { type CreateCase, createCase } from './arbitraryCreates.js'
import { itemId, listParameters, type Parameter } from './arbitraryQueries.js'
import { anyEscaped } from './arbitraryText.js'
import { Oracle } from './oracle.js'
import { checkCreate, checkGet, checkList, checkUnusual, type FuzzContext } from './properties.js'
import { allRows, creatable, environmentOf, fillDatabase, pathOf, read, registry, server } from './service.js'

export interface FuzzOptions {
  /** An empty database. */
  readonly url: string
  readonly cases: number
  readonly seed: number
  /** Rows in each table, in addition to the demo rows. */
  readonly rows: number
  readonly onProgress: (done: number) => void
}

type Case =
  | { readonly kind: 'list'; readonly resource: Resource; readonly parameters: readonly Parameter[] }
  | { readonly kind: 'get'; readonly resource: Resource; readonly segment: string }
  | { readonly kind: 'create'; readonly resource: Resource; readonly create: CreateCase; readonly hasKey: boolean }
  | { readonly kind: 'unusual'; readonly method: string; readonly path: string; readonly headers: readonly Header[] }

/** What a failure prints: the request without its descriptor. */
const describe = (one: Case): string => {
  if (one.kind === 'unusual') return JSON.stringify(one)
  if (one.kind === 'create')
    return `${one.resource.path}: ${one.create.label} ${one.create.source ?? one.create.bytes.toString('latin1')}`
  const { resource, kind, ...rest } = one
  return `${kind} ${resource.path}: ${JSON.stringify(rest, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`
}

const unusualHeaders: Header[][] = [
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

const arbitraryCase = (oracle: Oracle): fc.Arbitrary<Case> => {
  const resource = fc.constantFrom(...registry)
  const paths = fc.oneof(
    fc.constantFrom(basePath, `${basePath}/docs`, '/', '/swagger.json', `${basePath}/v1/health`, '*'),
    resource.map((one) => pathOf(one)),
    anyEscaped.map((escaped) => `/${escaped}`),
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
          .map(([create, hasKey]): Case => ({ kind: 'create', resource: one, create, hasKey })),
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(methods, paths, fc.constantFrom(...unusualHeaders))
        .map(([method, path, headers]): Case => ({ kind: 'unusual', method, path, headers })),
    },
  )
}

/** Throws at the first wrong response, with the request shrunk to the smallest that fails and the seed. */
export const fuzz = async ({ url, cases, seed, rows, onProgress }: FuzzOptions): Promise<void> => {
  await fillDatabase(url, rows)
  const running = await startProcess(environmentOf(url), { server })
  const connection = new RawConnection(running.address)
  const oracle = new Oracle()
  for (const resource of registry) oracle.add(resource, await allRows(connection, resource))
  const document = JSON.parse((await read(connection, `${basePath}/openapi.json`)).text)
  onProgress(0)
  const context: FuzzContext = { connection, oracle, checkDocumented: conformance(document, basePath) }
  let done = 0
  const check = async (one: Case): Promise<void> => {
    onProgress(++done)
    if (one.kind === 'list') return checkList(context, one.resource, one.parameters)
    if (one.kind === 'get') return checkGet(context, one.resource, one.segment)
    if (one.kind === 'unusual') return checkUnusual(context, one.method, one.path, one.headers)
    const hasKey = one.hasKey && one.create.isValid === true
    return checkCreate(context, one.resource, one.create, hasKey ? `fuzz-${seed}-${done}` : undefined)
  }
  const property = fc.asyncProperty(
    arbitraryCase(oracle).map((one) =>
      Object.assign(one, { [fc.toStringMethod]: () => describe(one).slice(0, 2_000) }),
    ),
    check,
  )
  try {
    await fc.assert(property, { numRuns: cases, seed, includeErrorInReport: true })
    if (running.child.exitCode !== null) throw new Error(`the service has exited: ${running.output()}`)
    // No request may cause an error in the log.
    if (/"level":(?:50|60)/.test(running.output())) throw new Error(`the log has errors: ${running.output()}`)
  } finally {
    connection.close()
    await running.end('SIGTERM')
  }
}
