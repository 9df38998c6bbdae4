// The hand-written peer: Fastify over better-sqlite3, with statements prepared once and schemas for query and response.
import { createRequire } from 'node:module'
import Fastify from 'fastify'

// Platformatic brings a better-sqlite3 of its own into this folder: this one is the service's, so the SQLite build too.
const Database = createRequire(new URL('../../package.json', import.meta.url))('better-sqlite3')

const { PORT, DATABASE } = process.env

const optional = (type) => ({ type, nullable: true })
const row = {
  type: 'object',
  required: ['status', 'alumni'],
  properties: {
    id: optional('integer'),
    code: optional('string'),
    first_name: optional('string'),
    last_name: optional('string'),
    email: optional('string'),
    dept_id: optional('integer'),
    designation: optional('string'),
    manager_id: optional('integer'),
    branch: optional('string'),
    status: { type: 'string' },
    date_of_joining: optional('string'),
    gender: optional('string'),
    base_salary: optional('number'),
    candidate_id: optional('integer'),
    employment_type: optional('string'),
    probation_end: optional('string'),
    termination_date: optional('string'),
    alumni: { type: 'integer' },
    password_hash: { type: 'null' },
  },
}
const page = {
  type: 'object',
  required: ['data', 'meta'],
  properties: {
    data: { type: 'array', items: row },
    meta: {
      type: 'object',
      required: ['total', 'limit', 'offset'],
      properties: { total: { type: 'integer' }, limit: { type: 'integer' }, offset: { type: 'integer' } },
    },
  },
}
const problem = {
  type: 'object',
  properties: { error: { type: 'object', properties: { code: { type: 'string' }, message: { type: 'string' } } } },
}
const querystring = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    offset: { type: 'integer', minimum: 0, default: 0 },
  },
}
const params = { type: 'object', required: ['item_id'], properties: { item_id: { type: 'integer' } } }

const database = new Database(DATABASE, { readonly: true, fileMustExist: true })
const columns = Object.keys(row.properties)
  .map((name) => (name === 'password_hash' ? 'null as password_hash' : name))
  .join(', ')
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
