/** What an operation is: everything the router and the documents need to know of one, as data. */
import { z } from 'zod'
import type { Resource } from '../descriptor/registry.js'
import { type HttpError, hostUnclear, internalError, preconditionFailed, unavailable } from './errors.js'
import { errorSchema } from './schemas.js'

export interface Answer {
  readonly description: string
  /** Missing where there is no body. */
  readonly schema?: z.ZodType
  readonly example?: unknown
  readonly headers?: z.ZodObject
}

interface Described {
  readonly id: string
  readonly method: 'get' | 'post'
  /** Relative to the base path, parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly pathParameters?: z.ZodObject
  readonly query?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown }
  readonly secured: boolean
  /** By status; `default` stands for whatever the HTTP layer itself answers. */
  readonly answers: Readonly<Record<string, Answer>>
}

export type Operation = Described &
  ({ readonly kind: 'index' | 'health' } | { readonly kind: 'list' | 'get' | 'create'; readonly resource: Resource })

/** An error answer whose example is the very body the service sends. */
export const refused = (description: string, { body }: HttpError, schema: z.ZodType = errorSchema): Answer => ({
  description,
  schema,
  example: body,
})

/** What the HTTP layer can answer to any operation. */
export const always = {
  400: refused('The request is not HTTP that the server understands.', hostUnclear()),
  default: refused('Any other failure, in the same envelope.', internalError()),
} satisfies Record<string, Answer>

export const databaseDown = refused('The database does not answer.', unavailable())

/** The tag that every read has, to be sent back as `If-None-Match`. */
export const tagged = z.object({ ETag: z.string().meta({ description: 'Another whenever the rows have changed.' }) })

/** What a read answers to a client that has it already. */
export const unchanged: Answer = {
  description: 'Nothing has changed since the answer whose ETag was sent as `If-None-Match`.',
  headers: tagged,
}

export const notCurrent = refused('`If-Match` does not name the current ETag.', preconditionFailed())
