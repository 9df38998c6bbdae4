// The hand-written peer on PostgreSQL: Fastify over a pg pool, with named statements and schemas for query and response.
import Fastify from 'fastify'
import pg from 'pg'
import { columns, page, params, problem, querystring, row } from './employees.mjs'

const { PORT, DATABASE, POOL_SIZE } = process.env

// Ids and counts are safe integers; as text they would have to be converted row by row.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

const pool = new pg.Pool({ connectionString: DATABASE, max: Number(POOL_SIZE) })
const named = (name, text) => (values) => pool.query({ name, text, values })
const selectPage = named('page', `select ${columns} from employees order by id limit $1 offset $2`)
const selectTotal = named('total', 'select count(*) as total from employees')
const selectRow = named('row', `select ${columns} from employees where id = $1`)

const app = Fastify({ logger: false, forceCloseConnections: true })

app.get('/api/v1/employees', { schema: { querystring, response: { 200: page } } }, async (request) => {
  const { limit, offset } = request.query
  const [found, counted] = await Promise.all([selectPage([limit, offset]), selectTotal()])
  return { data: found.rows, meta: { total: counted.rows[0].total, limit, offset } }
})

app.get(
  '/api/v1/employees/:item_id',
  { schema: { params, response: { 200: row, 404: problem } } },
  async (request, reply) => {
    const [found] = (await selectRow([request.params.item_id])).rows
    if (found) return found
    return reply.code(404).send({ error: { code: 'not_found', message: 'There is no such employee.' } })
  },
)

await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log('listening')

process.once('SIGTERM', async () => {
  await app.close()
  await pool.end()
})
