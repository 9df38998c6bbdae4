/** The handler of a custom operation: who sends it, its parameters and body, and the tools that its code uses. */
import { setTimeout } from 'node:timers/promises'
import type { z } from 'zod'
import { readOperations } from '../contract/batchBody.js'
import * as errors from '../contract/errors.js'
import { forbiddenParameters } from '../contract/hiddenFields.js'
import { batchWriters, deriveOperations, type OwnOperation } from '../contract/operations.js'
import { itemIdParser, listQueryParser, queryParameters } from '../contract/parameters.js'
import { allRights, type Rights } from '../descriptor/access.js'
import {
  ApiError,
  type BatchResult,
  isApiError,
  type ResourceReader,
  type Resources,
  type Tools,
} from '../descriptor/operation.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { batchRunner } from './batch.js'
import { readValue } from './body.js'
import { type Permit, roleGuard } from './callers.js'
import { jsonType } from './conditional.js'
import type { Handler, Service } from './serviceParts.js'

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
const readerOf = (storage: Storage, registry: Registry, resource: Resource) => {
  const parseId = itemIdParser(resource)
  const parseQuery = listQueryParser(resource, registry)
  return (rights: Rights): ResourceReader => ({
    async get(given) {
      const { id } = parseId(encodeURIComponent(String(given)))
      const row = id === undefined ? undefined : await storage.table(resource, [], rights).get(id)
      return row ? JSON.parse(String(row.body)) : null
    },
    async list(query = {}) {
      const pairs = Object.entries(query).flatMap(([name, values]) =>
        [values].flat().map((value) => [name, String(value)]),
      )
      const parsed = orApiError(() => {
        const sent = String(new URLSearchParams(pairs as [string, string][]))
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
const toolsFor = (service: Service) => {
  const { storage, registry } = service
  const run = batchRunner(service, batchWriters(registry, deriveOperations(registry)))
  const makers = registry.map((resource) => [resource.path, readerOf(storage, registry, resource)] as const)
  return (rights: Rights): Tools => {
    const readers = new Map(makers.map(([path, make]) => [path, make(rights)]))
    const of = ({ table }: { readonly table: string }) => {
      const resource = registry.find((one) => one.table === table)
      if (!resource) throw new TypeError(`no resource has the table "${table}"`)
      return readers.get(resource.path)
    }
    return {
      resources: { ...Object.fromEntries(readers), of } as unknown as Resources,
      async batch(operations) {
        const sent = orApiError(() => [...readOperations(JSON.stringify({ operations }))])
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

/** Whether a parameter is a list, which may be sent with one value too. */
const isList = (schema: unknown): boolean => {
  const { type, innerType, in: input } = (schema as z.ZodType)._zod.def as unknown as Record<string, unknown>
  return type === 'array' || ((innerType ?? input) !== undefined && isList(innerType ?? input))
}

/** The parameters of a query by name: a text, or a list of those that were sent. */
const sentIn = (querystring: string, lists: ReadonlySet<string>): object => {
  const sent = new Map<string, string[]>()
  for (const [name, value] of queryParameters(querystring)) {
    const values = sent.get(name)
    if (values) values.push(value)
    else sent.set(name, [value])
  }
  return Object.fromEntries(
    [...sent].map(([name, values]) => [name, values.length > 1 || lists.has(name) ? values : values[0]]),
  )
}

/** Only an ApiError is a response: errors of other libraries may have a status and headers too. */
const failed = (error: unknown): never => {
  // What is no JSON is an error of the code.
  if (isApiError(error)) JSON.stringify(error.details)
  else if (Object(error) === error && !(error instanceof errors.HttpError) && 'status' in (error as object))
    throw new Error('an operation failed', { cause: error })
  throw error
}

/** One for all operations of a service. */
const makers = new WeakMap<Service, ReturnType<typeof toolsFor>>()

/** What is asked of an operation. */
interface Question {
  readonly params: Readonly<Record<string, string>>
  readonly querystring: string
  readonly readBody: () => Promise<unknown>
}

/** Makes the function that runs an operation for somebody; it resolves with the response as JSON. */
export const ownRunner = (service: Service, { own }: OwnOperation) => {
  const { query: querySchema, body: bodySchema, response: responseSchema } = own
  const makeTools = makers.get(service) ?? toolsFor(service)
  makers.set(service, makeTools)
  const lists = new Set(Object.entries(querySchema?.shape ?? {}).flatMap(([name, one]) => (isList(one) ? name : [])))
  const asService = makeTools(allRights)

  return async ({ caller, rights }: Permit, { params, querystring, readBody }: Question): Promise<string> => {
    const query = querySchema
      ? await querySchema.safeParseAsync(sentIn(querystring, lists))
      : { success: true as const, data: {} }
    if (!query.success) throw errors.parametersInvalid(issuesOf(query.error, 'query'))
    const body = bodySchema
      ? await bodySchema.safeParseAsync(await readBody())
      : { success: true as const, data: undefined }
    if (!body.success) throw errors.bodyInvalid(issuesOf(body.error, 'body'))
    const { name, roles, claims } = caller
    const ended = new AbortController()
    const handle = async () =>
      own.handle({
        params,
        query: query.data,
        body: body.data,
        caller: { name, roles, claims },
        ...makeTools(rights),
        asService,
      })
    const result = await Promise.race([
      handle().catch(failed),
      setTimeout(limitMs, undefined, { signal: ended.signal, ref: false }).then(() => {
        throw errors.unavailable('The operation took too long.')
      }),
    ]).finally(() => ended.abort())
    const value = responseSchema ? await responseSchema.parseAsync(result) : (result ?? {})
    return JSON.stringify(value) ?? 'null'
  }
}

export const ownHandler = (service: Service, operation: OwnOperation): Handler => {
  const { path, access } = operation.own
  const guard = roleGuard(service, access)
  const run = ownRunner(service, operation)
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const pattern = new RegExp(`${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)

  return async (ctx) => {
    const permit = await guard(ctx)
    if (ctx.req.headers['idempotency-key'] !== undefined) throw errors.keyNotTaken()
    const found = pattern.exec(ctx.path) ?? []
    const params = Object.fromEntries(names.map((name, n) => [name, decodeParameter(found[n + 1] ?? '')]))
    const readBody = async () => (await readValue(ctx)).value
    const text = await run(permit, { params, querystring: ctx.querystring, readBody })
    ctx.state.usedDatabase = true
    ctx.set('Cache-Control', 'private, no-store')
    // As text: Koa would take null for no content, and a text for a page.
    ctx.set('Content-Type', jsonType)
    ctx.body = text
  }
}

const decodeParameter = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw errors.pathNotFound()
  }
}
