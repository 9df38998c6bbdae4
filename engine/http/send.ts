/** How a JSON body is sent. */
import type { Context } from 'koa'

export const jsonType = 'application/json; charset=utf-8'

/** Answers with JSON: bytes that the database wrote, or a value. */
export const sendJson = (ctx: Context, status: number, body: Buffer | object): void => {
  ctx.status = status
  ctx.set('Content-Type', jsonType)
  ctx.body = Buffer.isBuffer(body) ? body : JSON.stringify(body)
}
