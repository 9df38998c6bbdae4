/** An answer as data: the handlers make it, and the app sends it in one piece. */

/** Names and values in turn, as Node takes them at once: objects that are put together anew cost every request more. */
export type Headers = readonly string[]

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body?: Buffer
}

export const jsonType = 'application/json; charset=utf-8'

/** An answer with a body. */
export const answer = (status: number, type: string, body: Buffer, headers: Headers = []): Answer => ({
  status,
  headers: [...headers, 'Content-Type', type, 'Content-Length', String(body.length)],
  body,
})

/** An answer with JSON: bytes that the database wrote, or a value. */
export const jsonAnswer = (status: number, body: Buffer | object, headers?: Headers): Answer =>
  answer(status, jsonType, Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)), headers)
