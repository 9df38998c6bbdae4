/** Fuzzes the service: sends random requests and checks every response against the OpenAPI document and an oracle. */
import fc from 'fast-check'
import { basePath } from '../engine/contract/service.js'
import type { Resource } from '../engine/descriptor/registry.js'
import { conformance } from '../support/conformance.js'
import { Oracle, type Parameter } from '../support/oracle.js'
import { startProcess } from '../support/process.js'
import { RawConnection } from '../support/rawHttp.js'
import { itemId, listParameters, summaryParameters } from './arbitraryQueries.js'
import { deleteCase, writeCase } from './arbitraryWrites.js'
import {
  checkExports,
  checkGet,
  checkList,
  checkSummary,
  checkWrite,
  type FuzzContext,
  type FuzzedWrite,
} from './properties.js'
import { allRows, fillDatabase, project, read, registry, serviceEnvironment } from './service.js'

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
  | { readonly kind: 'summary'; readonly resource: Resource; readonly parameters: readonly Parameter[] }
  | { readonly kind: 'get'; readonly resource: Resource; readonly segment: string }
  | (Omit<FuzzedWrite, 'key'> & { readonly kind: 'write'; readonly hasKey: boolean })

/** What a failure prints: the request without its descriptor. */
const describe = (one: Case): string => {
  if (one.kind === 'write') {
    const { label, source, bytes } = one.write
    return `${one.method} ${one.resource.path} ${one.id ?? ''}: ${label}, If-Match ${one.ifMatch} ${source ?? bytes.toString('latin1')}`
  }
  const { resource, kind, ...rest } = one
  return `${kind} ${resource.path}: ${JSON.stringify(rest, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`
}

/** What clients may do with each resource. */
const writes = registry.flatMap((resource) => [
  ...(resource.create ? [{ resource, method: 'POST' as const, weight: 4 }] : []),
  ...(resource.update ? [{ resource, method: 'PATCH' as const, weight: 8 }] : []),
  ...(resource.delete ? [{ resource, method: 'DELETE' as const, weight: 2 }] : []),
])

const arbitraryWrite = (oracle: Oracle): fc.Arbitrary<Case> => {
  const ids = (path: string) => oracle.ids(path)
  return fc.oneof(
    ...writes.map(({ resource, method, weight }) => {
      // Chained: the values of references depend on the rows at the time.
      const write = fc.constant(ids).chain(() => (method === 'DELETE' ? deleteCase : writeCase(resource, method, ids)))
      const id = fc.nat(1_000_000).map((index) => {
        const known = ids(resource.path)
        return method === 'POST' ? undefined : (known[index % (known.length + 1)] ?? 999_999_999)
      })
      const ifMatch = fc.constantFrom('none' as const, 'none' as const, 'current' as const, 'other' as const)
      const fixed = { kind: 'write' as const, resource, method }
      const arbitrary = fc
        .record({ write, id, ifMatch, hasKey: fc.boolean() })
        .map((one): Case => ({ ...fixed, ...one }))
      return { weight, arbitrary }
    }),
  )
}

const summarized = registry.filter(({ summary }) => summary)

const arbitraryCase = (oracle: Oracle): fc.Arbitrary<Case> => {
  const resource = fc.constantFrom(...registry)
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
      weight: 3,
      arbitrary: fc
        .constantFrom(...summarized)
        .chain((one) =>
          summaryParameters(one, oracle.someRows(one)).map(
            (parameters): Case => ({ kind: 'summary', resource: one, parameters }),
          ),
        ),
    },
    {
      weight: 2,
      arbitrary: resource.chain((one) =>
        itemId(oracle.ids(one.path)).map((segment): Case => ({ kind: 'get', resource: one, segment })),
      ),
    },
    { weight: 7, arbitrary: arbitraryWrite(oracle) },
  )
}

/** Throws at the first wrong response, with the request shrunk to the smallest that fails and the seed. */
export const fuzz = async ({ url, cases, seed, rows, onProgress }: FuzzOptions): Promise<void> => {
  await fillDatabase(url, rows)
  const running = await startProcess(serviceEnvironment(url), { project })
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
    if (one.kind === 'summary') return checkSummary(context, one.resource, one.parameters)
    if (one.kind === 'get') return checkGet(context, one.resource, one.segment)
    const hasKey = one.hasKey && one.write.isValid === true
    return checkWrite(context, { ...one, key: hasKey ? `fuzz-${seed}-${done}` : undefined })
  }
  const property = fc.asyncProperty(
    arbitraryCase(oracle).map((one) =>
      Object.assign(one, { [fc.toStringMethod]: () => describe(one).slice(0, 2_000) }),
    ),
    check,
  )
  try {
    await fc.assert(property, { numRuns: cases, seed, includeErrorInReport: true })
    for (const resource of registry.filter((one) => one.import && one.update)) await checkExports(context, resource)
    if (running.child.exitCode !== null) throw new Error(`the service has exited: ${running.output()}`)
    // No request may cause an error in the log.
    if (/"level":(?:50|60)/.test(running.output())) throw new Error(`the log has errors: ${running.output()}`)
  } finally {
    connection.close()
    await running.end('SIGTERM')
  }
}
