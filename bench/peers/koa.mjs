// The upper bound: Koa and its router send a page and a row as fixed bytes from memory.
import { readFileSync } from 'node:fs'
import Router from '@koa/router'
import Koa from 'koa'

const { PORT, PAGE, ROW, RESOURCES } = process.env
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
for (const resource of RESOURCES.split(',')) {
  router.get(`/api/v1/${resource}`, send(page))
  router.get(`/api/v1/${resource}/:item_id`, send(row))
  router.post(`/api/v1/${resource}`, send(row))
}

const app = new Koa().use(router.routes())
const server = app.listen(Number(PORT), '127.0.0.1', () => console.log('listening'))

process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
