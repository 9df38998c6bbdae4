// The hand-written peer: Fastify over better-sqlite3, with statements prepared once and schemas for query and response.
import { createRequire } from 'node:module'
import Fastify from 'fastify'
import { columns, page, params, problem, querystring, row } from './employees.mjs'

// Platformatic installs its own better-sqlite3 in this folder; the service's copy has the same SQLite build as the service.
const Database = createRequire(new URL('../../package.json', import.meta.url))('better-sqlite3')

const { PORT, DATABASE } = process.env

const database = new Database(DATABASE, { readonly: true, fileMustExist: true })
const selectPage = database.prepare(`select ${columns} from employees order by id limit ? offset ?`)
const selectRow = database.prepare(`select ${columns} from employees where id = ?`)
const selectTotal = database.prepare('select count(*) from employees').pluck()

const app = Fastify({ logger: false, forceCloseConnections: true })

app.get('/api/v1/employees', { schema: { querystring, response: { 200: page } } }, (request, reply) => {
  const { limit, offset } = request.query
  reply.send({ data: selectPage.all(limit, offset), meta: { total: selectTotal.get(), limit, offset } })
})

app.get(
  '/api/v1/employees/:item_id',
  { schema: { params, response: { 200: row, 404: problem } } },
  (request, reply) => {
    const found = selectRow.get(request.params.item_id)
    if (found) reply.send(found)
    else reply.code(404).send({ error: { code: 'not_found', message: 'There is no such employee.' } })
  },
)

await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log('listening')

process.once('SIGTERM', async () => {
  await app.close()
  database.close()
})
