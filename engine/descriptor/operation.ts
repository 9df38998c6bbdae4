/** A custom operation: code that a deployment adds, with the envelope, documents, log and access of all others. */
import { z } from 'zod'
import type { Identity } from './access.js'
import type { Descriptor, Row } from './define.js'

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

  constructor(status: number, code: string, message: string, details?: object) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

export const isApiError = (value: unknown): value is ApiError =>
  typeof value === 'object' && value !== null && errorBrand in value

/** Who sends a request. */
export type Caller = Pick<Identity, 'name' | 'roles' | 'claims'>

export interface ListOf<R> {
  readonly data: readonly R[]
  readonly meta: { readonly total: number; readonly limit: number; readonly offset: number }
}

/** Reads of one resource, as the API answers them. */
export interface ResourceReader<R = Readonly<Record<string, unknown>>> {
  /** The row with an id; null if there is none. */
  get(id: string | number): Promise<R | null>
  /** A page; the query has the parameters of the list. */
  list(query?: Readonly<Record<string, string | number | boolean | readonly string[]>>): Promise<ListOf<R>>
}

export type Resources = Readonly<Record<string, ResourceReader>> & {
  /** The resource of a descriptor, with its types. */
  of<D extends Descriptor>(descriptor: D): ResourceReader<Row<D>>
}

/** A write of a batch, as `POST /v1/batch` takes it. */
export interface BatchWrite {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly as?: string
  readonly ifMatch?: string
}

export interface BatchResult {
  readonly status: number
  readonly body?: Readonly<Record<string, unknown>>
}

/** What an operation may use, within the rights of somebody. */
export interface Tools {
  readonly resources: Resources
  /** Makes several writes, all or none; throws the ApiError that a batch would answer. */
  batch(operations: readonly BatchWrite[]): Promise<readonly BatchResult[]>
}

export interface OperationContext<Q, B> extends Tools {
  /** The values of `{name}` in the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Q
  readonly body: B
  readonly caller: Caller
  /** The same with all rights. */
  readonly asService: Tools
}

export const operationMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type OperationMethod = (typeof operationMethods)[number]

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
  handle(context: OperationContext<z.output<Q>, z.output<B>>): Promise<z.input<R>> | z.input<R>
}

/** Declares an operation; the file name becomes its name. */
export const defineOperation = <
  Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodUnknown,
>(
  operation: OwnOperation<Q, B, R>,
): OwnOperation<Q, B, R> => operation
