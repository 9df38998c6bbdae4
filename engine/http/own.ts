/** The handler of an operation of one's own: who sends it, its parameters and body, and the tools that its code uses. */
import { setTimeout } from 'node:timers/promises'
import type { z } from 'zod'
import { readOperations } from '../contract/batchBody.js'
import * as errors from '../contract/errors.js'
import { forbiddenParameters } from '../contract/hiddenFields.js'
import { batchWriters, deriveOperations, type OwnOperation } from '../contract/operations.js'
import { itemIdParser, listQueryParser, queryParameters } from '../contract/parameters.js'
import { allRights, type Rights } from '../descriptor/access.js'
import { ApiError, type BatchResult, type ResourceReader, type Resources, type Tools } from '../descriptor/operation.js'
import type { Resource } from '../descriptor/registry.js'
import { batchRunner } from './batch.js'
import { readValue } from './body.js'
import { roleGuard } from './callers.js'
import type { Handler, Service } from './handlers.js'

/** How long an operation may take, in milliseconds. */
const limitMs = 30_000

/** An error of ours as the code of an operation gets it. */
const asApiError = (error: unknown): never => {
  if (!(error instanceof errors.HttpError)) throw error
  const { error: sent } = error.body as { error?: { code: string; details?: object } }
  const details = sent?.details ?? (sent ? undefined : error.body)
  throw new ApiError(error.status, sent?.code ?? 'validation_error', error.message, details)
}

const orApiError = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    return asApiError(error)
  }
}

/** Makes the function that makes the reader of a resource for somebody with some rights. */
const readerMaker = ({ storage, registry }: Service, resource: Resource) => {
  const parseId = itemIdParser(resource)
  const parseQuery = listQueryParser(resource, registry)
  return (rights: Rights): ResourceReader => ({
    async get(given) {
      const { id } = orApiError(() => parseId(encodeURIComponent(String(given))))
      const row = id === undefined ? undefined : await storage.table(resource, [], rights).get(id)
      return row ? JSON.parse(String(row.body)) : null
    },
    async list(query = {}) {
      const pairs = Object.entries(query).flatMap(([name, values]) =>
        [values].flat().map((value): [string, string] => [name, String(value)]),
      )
      const parsed = orApiError(() => {
        const sent = String(new URLSearchParams(pairs))
        forbiddenParameters(registry, resource, rights, sent)
        return parseQuery(sent)
      })
      const { body } = await storage.table(resource, parsed.expand ?? [], rights).list(parsed)
      const parts: Uint8Array[] = []
      for await (const part of Buffer.isBuffer(body) ? [body] : body) parts.push(part)
      return JSON.parse(String(Buffer.concat(parts)))
    },
  })
}

/** Makes the function that makes the tools for somebody with some rights. */
const toolsMaker = (service: Service) => {
  const { registry } = service
  const run = batchRunner(service, batchWriters(registry, deriveOperations(registry)))
  const makers = registry.map((resource) => ({ resource, make: readerMaker(service, resource) }))
  return (rights: Rights): Tools => {
    const readers = new Map(makers.map(({ resource, make }) => [resource, make(rights)]))
    const byPath = [...readers].map(([{ path }, reader]) => [path, reader])
    const of = ({ table }: { readonly table: string }) => {
      const resource = registry.find((one) => one.table === table)
      if (!resource) throw new TypeError(`no resource has the table "${table}"`)
      return readers.get(resource)
    }
    return {
      resources: { ...Object.fromEntries(byPath), of } as Resources,
      async batch(writes) {
        const sent = orApiError(() => [...readOperations(JSON.stringify({ operations: writes }))])
        const { body } = await run(sent, rights).catch(asApiError)
        return (JSON.parse(String(body)) as { results: BatchResult[] }).results
      },
    }
  }
}

/** The issues of a zod schema, in the form of ours. */
const issuesOf = (error: z.ZodError, place: 'query' | 'body'): errors.Issue[] =>
  error.issues.map(({ code, path, message }) => ({
    type: code,
    loc: [place, ...path.map((one) => (typeof one === 'number' ? one : String(one)))],
    msg: message,
  }))

/** One for all operations of a service. */
const makers = new WeakMap<Service, ReturnType<typeof toolsMaker>>()

export const ownHandler = (service: Service, { own }: OwnOperation): Handler => {
  const { path, query: querySchema, body: bodySchema, response: responseSchema } = own
  const guard = roleGuard(service, own.access)
  const makeTools = makers.get(service) ?? toolsMaker(service)
  makers.set(service, makeTools)
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const pattern = new RegExp(`${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)

  return async (ctx) => {
    const { caller, rights } = await guard(ctx)
    if (ctx.req.headers['idempotency-key'] !== undefined) throw errors.keyNotTaken()
    const found = pattern.exec(ctx.path) ?? []
    const params = Object.fromEntries(names.map((name, n) => [name, decodeParameter(found[n + 1] ?? '')]))
    const sent: Record<string, string | string[]> = {}
    for (const [name, value] of queryParameters(ctx.querystring)) {
      const before = sent[name]
      sent[name] = before === undefined ? value : [before, value].flat()
    }
    const query = querySchema ? querySchema.safeParse(sent) : { success: true as const, data: {} }
    if (!query.success) throw errors.parametersInvalid(issuesOf(query.error, 'query'))
    const body = bodySchema
      ? bodySchema.safeParse((await readValue(ctx)).value)
      : { success: true as const, data: undefined }
    if (!body.success) throw errors.bodyInvalid(issuesOf(body.error, 'body'))
    const { name, roles, claims } = caller
    const ended = new AbortController()
    const result = await Promise.race([
      own.handle({
        params,
        query: query.data,
        body: body.data,
        caller: { name, roles, claims },
        ...makeTools(rights),
        asService: makeTools(allRights),
      }),
      setTimeout(limitMs, undefined, { signal: ended.signal, ref: false }).then(() => {
        throw errors.unavailable('The operation took too long.')
      }),
    ]).finally(() => ended.abort())
    ctx.state.usedDatabase = true
    ctx.set('Cache-Control', 'private, no-store')
    ctx.body = responseSchema ? responseSchema.parse(result) : (result ?? {})
  }
}

const decodeParameter = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw errors.pathNotFound()
  }
}
