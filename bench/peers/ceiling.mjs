// The ceiling of answering each request as it comes: Koa and its router sending a page and a row as fixed bytes from memory, with no other work done.
import { readFileSync } from 'node:fs'
import Router from '@koa/router'
import Koa from 'koa'

const { PORT, PAGE, ROW } = process.env
const page = readFileSync(PAGE)
const row = readFileSync(ROW)

const send = (bytes) => (ctx) => {
  // Whoever claims to have it is believed: no other work is done here.
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
