// What the least Koa service costs that sends this service's headers and logs each request: fixed bytes, no query, no validation.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Router from '@koa/router'
import Koa from 'koa'
import { pino } from 'pino'

const { PORT, PAGE, ROW } = process.env
const logger = pino({ base: { pid: process.pid } }, pino.destination({ dest: 1, sync: false, minLength: 4096 }))

const exposed = 'Server-Timing, ETag, Idempotency-Replayed, Location, Retry-After, WWW-Authenticate, X-Request-Id'
const commonHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposed,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
}

const logRequests = async (ctx, next) => {
  const start = performance.now()
  const id = randomUUID()
  ctx.set('X-Request-Id', id)
  ctx.set(commonHeaders)
  await next()
  const duration = Math.round((performance.now() - start) * 1000) / 1000
  ctx.set('Server-Timing', `parse;dur=${duration}, query;dur=${duration}, total;dur=${duration}`)
  const { method, path, status, length } = ctx
  logger.info({ id, method, path, status, bytes: length, duration }, 'request')
}

const send = (bytes) => (ctx) => {
  ctx.set({ 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding', ETag: '"0123456789abcdef01234567"' })
  ctx.type = 'application/json; charset=utf-8'
  ctx.body = bytes
}

const router = new Router()
router.get('/api/v1/employees', send(readFileSync(PAGE)))
router.get('/api/v1/employees/:item_id', send(readFileSync(ROW)))

const app = new Koa().use(logRequests).use(router.routes())
const server = app.listen(Number(PORT), '127.0.0.1', () => console.log('listening'))

process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
