/** A custom operation: code that a deployment adds, with the envelope, documents, log and access of all others. */
import { z } from 'zod'
import type { Identity } from './access.js'
import type { Of, ServiceOf } from './handle.js'

export { z }

/** Not by identity: a project may have two copies of this module. */
const errorBrand = Symbol.for('resource-registry-engine.error')

/** An error response: `throw new ApiError(409, 'closed', 'This visit is closed.')`. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly [errorBrand] = true
  readonly status: number
  readonly code: string
  readonly details: object | undefined

  constructor(status: number, code: string, message: string, details?: object, options?: ErrorOptions) {
    super(message, options)
    this.status = status
    this.code = code
    this.details = details
  }
}

export const isApiError = (value: unknown): value is ApiError =>
  typeof value === 'object' && value !== null && errorBrand in value

/** Who sends a request. */
export type Caller = Pick<Identity, 'name' | 'roles' | 'claims'>

/** What code of a project reads and writes with. */
export interface CodeContext {
  readonly caller: Caller
  /** The rows of a resource, within the rights of the caller. */
  readonly of: Of
  /** The same with all rights. */
  readonly asService: { readonly of: ServiceOf }
}

export interface OperationContext<Q, B> extends CodeContext {
  /** The values of `{name}` in the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Q
  readonly body: B
  /** The tags that the request allows in `If-Match`; undefined if it allows any. */
  readonly ifMatch: readonly string[] | undefined
}

export const operationMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type OperationMethod = (typeof operationMethods)[number]

/** The longest that code may take, in milliseconds. */
export const maxTimeoutMs = 30_000

export interface OwnOperation<
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> {
  readonly method: OperationMethod
  /** Its path below the base path: `/v1/visits/{visit_id}/close`. */
  readonly path: string
  /** A one-sentence description. */
  readonly about: string
  /** The group in the documents; by default `Operations`. */
  readonly area?: string
  /** Roles, or `'signed-in'`; `'public'` only for GET. By default only the write token. */
  readonly access?: string | readonly string[]
  readonly query?: Q
  readonly body?: B
  readonly response?: R
  /** `false`: each write is stored by itself, for code that calls other systems. By default all of them are one transaction. */
  readonly transaction?: boolean
  /** How long a transaction may take, in milliseconds: by default 5,000, at most 30,000. */
  readonly timeoutMs?: number
  handle(context: OperationContext<z.output<Q>, z.output<B>>): Promise<z.input<R>> | z.input<R>
}

/** Whether what an operation writes is one transaction. */
export const isTransaction = ({ method, transaction }: Pick<OwnOperation, 'method' | 'transaction'>): boolean =>
  method !== 'GET' && transaction !== false

/** Declares an operation; the file name becomes its name. */
export const defineOperation = <
  Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodUnknown,
>(
  operation: OwnOperation<Q, B, R>,
): OwnOperation<Q, B, R> => operation
