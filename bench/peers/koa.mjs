// The upper bound: Koa and its router send a page and a row as fixed bytes from memory.
import { readFileSync } from 'node:fs'
import Router from '@koa/router'
import Koa from 'koa'

const { PORT, PAGE, ROW } = process.env
const page = readFileSync(PAGE)
const row = readFileSync(ROW)

const send = (bytes) => (ctx) => {
  // Any If-None-Match gets 304, without comparing tags.
  if (ctx.headers['if-none-match'] !== undefined) {
    ctx.status = 304
    return
  }
  ctx.type = 'application/json; charset=utf-8'
  ctx.body = bytes
}

const router = new Router()
router.get('/api/v1/employees', send(page))
router.get('/api/v1/employees/:item_id', send(row))

const server = new Koa().use(router.routes()).listen(Number(PORT), '127.0.0.1', () => console.log('listening'))

process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
