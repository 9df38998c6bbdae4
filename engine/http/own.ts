/** The handler of a custom operation: who sends it, its parameters and body, and the code that it runs. */
import { setTimeout } from 'node:timers/promises'
import type { z } from 'zod'
import * as errors from '../contract/errors.js'
import type { CustomOperation } from '../contract/operations.js'
import { queryParameters } from '../contract/parameters.js'
import { isTransaction, maxTimeoutMs } from '../descriptor/operation.js'
import { managedResources } from '../descriptor/registry.js'
import { isErased } from '../storage/erasedResponses.js'
import type { IdempotencyKey } from '../storage/writeData.js'
import { idempotencyKeyOf, readValue } from './body.js'
import { type Permit, roleGuard } from './callers.js'
import { allowedTags } from './conditional.js'
import { failureOf } from './failedCode.js'
import { codeTools, type Work } from './handles.js'
import type { Handler, Service } from './serviceParts.js'
import { storeWrite, transactionWork, transactOnce } from './transact.js'
import { replayed, type Stored, sendStored } from './write.js'

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
  const valuesByName = new Map<string, string[]>()
  for (const [name, value] of queryParameters(querystring)) {
    const values = valuesByName.get(name)
    if (values) values.push(value)
    else valuesByName.set(name, [value])
  }
  return Object.fromEntries(
    [...valuesByName].map(([name, values]) => [name, values.length > 1 || lists.has(name) ? values : values[0]]),
  )
}

/** What was stored, unless it is erased. */
const kept = (stored: Stored): Stored => {
  if (stored.replayed && isErased(stored.body)) throw errors.responseErased()
  return stored
}

/** What is asked of an operation. */
interface Question {
  readonly params: Readonly<Record<string, string>>
  readonly querystring: string
  /** The JSON of the body; undefined if the operation has none. */
  readonly source: string | undefined
  readonly ifMatch?: readonly string[] | undefined
  readonly idempotencyKey?: IdempotencyKey | undefined
}

/** What code does outside a transaction: each write is stored by itself, and a GET makes none. */
const singleWork = (service: Service, permit: Permit, isRead: boolean): Work & { end(): void } => {
  let hasEnded = false
  const step: Work['step'] = async (run) => {
    if (hasEnded) throw new Error('the operation has ended; wait for what it does')
    return run()
  }
  return {
    storage: service.storage,
    step,
    write: (write, rights) =>
      step(() => {
        if (isRead) throw new TypeError('an operation with GET writes nothing; give it another method')
        return storeWrite(service, write, { permit, rights })
      }),
    // Each write has its own outcome.
    onFailure() {},
    end() {
      hasEnded = true
    },
  }
}

/** Makes the function that runs an operation for somebody; the body of what it returns is the response. */
export const ownRunner = (service: Service, { definition: own }: CustomOperation) => {
  const { query: querySchema, body: bodySchema, response: responseSchema } = own
  const lists = new Set(Object.entries(querySchema?.shape ?? {}).flatMap(([name, one]) => (isList(one) ? name : [])))
  const [managed] = managedResources(service.registry)

  /** The parameters and the body as the schemas read them: anew for each attempt, because the code may have changed them. */
  const readSent = async ({ params, querystring, source }: Question) => {
    const query = querySchema
      ? await querySchema.safeParseAsync(sentIn(querystring, lists))
      : { success: true as const, data: {} }
    if (!query.success) throw errors.parametersInvalid(issuesOf(query.error, 'query'))
    const body = bodySchema
      ? await bodySchema.safeParseAsync(JSON.parse(source ?? 'null'))
      : { success: true as const, data: undefined }
    if (!body.success) throw errors.bodyInvalid(issuesOf(body.error, 'body'))
    return { params: { ...params }, query: query.data, body: body.data }
  }

  const attempt = async (work: Work, permit: Permit, question: Question, sent: object): Promise<Stored> => {
    const ifMatch = question.ifMatch?.map((tag) => `"${tag}"`)
    const context = { ...sent, ifMatch, ...codeTools(service.registry, work, permit) }
    try {
      const result = await own.handle(context as Parameters<typeof own.handle>[0])
      const value = responseSchema ? await responseSchema.parseAsync(result) : (result ?? {})
      return { body: Buffer.from(JSON.stringify(value) ?? 'null'), replayed: false }
    } catch (error) {
      throw failureOf(`operations/${own.name}.ts`, error)
    }
  }

  const inTransaction = async (permit: Permit, question: Question): Promise<Stored> => {
    const { idempotencyKey: key } = question
    if (key && !managed) throw errors.keysNotSupported()
    const table = managed ?? service.registry[0]
    const earlier = key && table && (await service.storage.table(table).earlierWrite(key.key))
    if (earlier && key) return kept(replayed(earlier, key))
    let firstValues: object | undefined = await readSent(question)
    const result = await transactOnce(
      service,
      table,
      { key, permit, timeoutMs: own.timeoutMs },
      async (transaction) => {
        const work = transactionWork(service, transaction, permit)
        const sentValues = firstValues ?? (await readSent(question))
        firstValues = undefined
        const stored = await attempt(work, permit, question, sentValues)
        await work.end()
        return stored
      },
    )
    return kept(result)
  }

  const alone = async (permit: Permit, question: Question): Promise<Stored> => {
    const sentValues = await readSent(question)
    const work = singleWork(service, permit, own.method === 'GET')
    const ended = new AbortController()
    const late = async () => {
      await setTimeout(maxTimeoutMs, undefined, { signal: ended.signal, ref: false })
      throw errors.unavailable('The operation took too long.')
    }
    return Promise.race([attempt(work, permit, question, sentValues), late()]).finally(() => {
      work.end()
      ended.abort()
    })
  }
  return isTransaction(own) ? inTransaction : alone
}

export const ownHandler = (service: Service, operation: CustomOperation): Handler => {
  const { definition: own } = operation
  const { path, access } = own
  const guard = roleGuard(service, access)
  const run = ownRunner(service, operation)
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const pattern = new RegExp(`${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)

  return async (ctx) => {
    const permit = await guard(ctx)
    if (ctx.req.headers['idempotency-key'] !== undefined && !isTransaction(own)) throw errors.keyNotTaken()
    const segments = pattern.exec(ctx.path) ?? []
    const params = Object.fromEntries(names.map((name, n) => [name, decodeParameter(segments[n + 1] ?? '')]))
    const source = own.body ? (await readValue(ctx)).source : undefined
    const issues: errors.Issue[] = []
    const idempotencyKey = idempotencyKeyOf(ctx, permit.caller, [ctx.querystring, source ?? ''], issues)
    if (issues.length > 0) throw errors.bodyInvalid(issues)
    const { querystring } = ctx
    const stored = await run(permit, { params, querystring, source, ifMatch: allowedTags(ctx), idempotencyKey })
    // As bytes: Koa would take null for no content, and a text for a page.
    sendStored(ctx, 200, stored)
    ctx.set('Cache-Control', 'private, no-store')
  }
}

const decodeParameter = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw errors.pathNotFound()
  }
}
