/** Fuzzes the service: sends random requests and checks every response against the OpenAPI document and an oracle. */
import fc from 'fast-check'
import { basePath } from '../engine/contract/service.js'
import type { Resource } from '../engine/descriptor/registry.js'
import { conformance } from '../support/conformance.js'
import { Oracle } from '../support/oracle.js'
import { startProcess } from '../support/process.js'
import { RawConnection } from '../support/rawHttp.js'
import { itemId, listParameters, summaryParameters } from './arbitraryQueries.js'
import { deleteCase, writeCase } from './arbitraryWrites.js'
import { checkExports, checkGet, checkList, checkSummary, checkWrite, type FuzzContext } from './properties.js'
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

/** A request and the check of its response; `n` is the number of the request. */
interface Case {
  readonly text: string
  check(context: FuzzContext, n: number): Promise<void>
}

const detailed = (kind: string, { path }: Resource, detail: unknown): string =>
  `${kind} ${path}: ${JSON.stringify(detail, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`

/** What clients may do with each resource. */
const writes = registry.flatMap((resource) => [
  ...(resource.create ? [{ resource, method: 'POST' as const, weight: 4 }] : []),
  ...(resource.update ? [{ resource, method: 'PATCH' as const, weight: 8 }] : []),
  ...(resource.delete ? [{ resource, method: 'DELETE' as const, weight: 2 }] : []),
])

const arbitraryWrite = (oracle: Oracle, seed: number): fc.Arbitrary<Case> => {
  const ids = (path: string) => oracle.ids(path)
  return fc.oneof(
    ...writes.map(({ resource, method, weight }) => {
      // Chained: the values of references depend on the rows at the time.
      const write = fc.constant(ids).chain(() => (method === 'DELETE' ? deleteCase : writeCase(resource, method, ids)))
      const id = fc.nat(1_000_000).map((index) => {
        const rowIds = ids(resource.path)
        return method === 'POST' ? undefined : (rowIds[index % (rowIds.length + 1)] ?? 999_999_999)
      })
      const ifMatch = fc.constantFrom('none' as const, 'none' as const, 'current' as const, 'other' as const)
      const arbitrary = fc.record({ write, id, ifMatch, hasKey: fc.boolean() }).map(({ hasKey, ...request }): Case => {
        const { label, source, bytes, isValid } = request.write
        return {
          text: `${method} ${resource.path} ${request.id ?? ''}: ${label}, If-Match ${request.ifMatch} ${source ?? bytes.toString('latin1')}`,
          check(context, n) {
            const key = hasKey && isValid === true ? `fuzz-${seed}-${n}` : undefined
            return checkWrite(context, { ...request, method, resource, key })
          },
        }
      })
      return { weight, arbitrary }
    }),
  )
}

const summarized = registry.filter(({ summary }) => summary)

const arbitraryCase = (oracle: Oracle, seed: number): fc.Arbitrary<Case> => {
  const anyResource = fc.constantFrom(...registry)
  const list = anyResource.chain((resource) =>
    listParameters(resource, oracle.someRows(resource)).map(
      (parameters): Case => ({
        text: detailed('list', resource, parameters),
        check: (context) => checkList(context, resource, parameters),
      }),
    ),
  )
  const summary = fc.constantFrom(...summarized).chain((resource) =>
    summaryParameters(resource, oracle.someRows(resource)).map(
      (parameters): Case => ({
        text: detailed('summary', resource, parameters),
        check: (context) => checkSummary(context, resource, parameters),
      }),
    ),
  )
  const row = anyResource.chain((resource) =>
    itemId(oracle.ids(resource.path)).map(
      (segment): Case => ({
        text: detailed('get', resource, segment),
        check: (context) => checkGet(context, resource, segment),
      }),
    ),
  )
  return fc.oneof(
    { weight: 10, arbitrary: list },
    { weight: 3, arbitrary: summary },
    { weight: 2, arbitrary: row },
    { weight: 7, arbitrary: arbitraryWrite(oracle, seed) },
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
  const property = fc.asyncProperty(
    arbitraryCase(oracle, seed).map((request) =>
      Object.assign(request, { [fc.toStringMethod]: () => request.text.slice(0, 2_000) }),
    ),
    async (request) => {
      onProgress(++done)
      await request.check(context, done)
    },
  )
  try {
    await fc.assert(property, { numRuns: cases, seed, includeErrorInReport: true })
    for (const resource of registry.filter((candidate) => candidate.import && candidate.update))
      await checkExports(context, resource)
    if (running.child.exitCode !== null) throw new Error(`the service has exited: ${running.output()}`)
    // No request may cause an error in the log.
    if (/"level":(?:50|60)/.test(running.output())) throw new Error(`the log has errors: ${running.output()}`)
  } finally {
    connection.close()
    await running.end('SIGTERM')
  }
}
