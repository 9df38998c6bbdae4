/** How headers and a JSON body are set. */
import type { ServerResponse } from 'node:http'
import type { Context } from 'koa'

type Headers = Readonly<Record<string, string>>

/** Sets headers straight on the response: Koa's way of it looks at each value once more. */
export const setHeaders = (response: ServerResponse, headers: Headers): void => {
  for (const name in headers) response.setHeader(name, headers[name] as string)
}

export const jsonType = 'application/json; charset=utf-8'

/** Answers with JSON: bytes that the database wrote, or a value. */
export const sendJson = (ctx: Context, status: number, body: Buffer | object): void => {
  ctx.status = status
  ctx.set('Content-Type', jsonType)
  ctx.body = Buffer.isBuffer(body) ? body : JSON.stringify(body)
}
