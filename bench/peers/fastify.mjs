// The hand-written peer: Fastify over better-sqlite3 or a pg pool, with statements prepared once and schemas for query and response.
import { createRequire } from 'node:module'
import Fastify from 'fastify'
import pg from 'pg'

const { PORT, DATABASE, POOL_SIZE } = process.env

const types = {
  integer: ['id', 'dept_id', 'manager_id', 'candidate_id', 'alumni'],
  number: ['base_salary'],
  null: ['password_hash'],
}
const names =
  'id code first_name last_name email dept_id designation manager_id branch status date_of_joining gender base_salary candidate_id employment_type probation_end termination_date alumni password_hash'.split(
    ' ',
  )
const required = ['status', 'alumni']
const typeOf = (name) => Object.keys(types).find((type) => types[type].includes(name)) ?? 'string'
const row = {
  type: 'object',
  required,
  properties: Object.fromEntries(
    names.map((name) => [name, { type: typeOf(name), nullable: !required.includes(name) }]),
  ),
}
const integers = (...keys) => ({
  type: 'object',
  required: keys,
  properties: Object.fromEntries(keys.map((key) => [key, { type: 'integer' }])),
})
const page = {
  type: 'object',
  required: ['data', 'meta'],
  properties: { data: { type: 'array', items: row }, meta: integers('total', 'limit', 'offset') },
}
const querystring = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    offset: { type: 'integer', minimum: 0, default: 0 },
  },
}

// The password hash is never selected.
const columns = names.map((name) => (name === 'password_hash' ? `null as ${name}` : name)).join(', ')

const sqlite = () => {
  // Platformatic installs its own better-sqlite3 in this folder; the service's copy has the same SQLite build as the service.
  const name = Number.parseInt(process.versions.node, 10) < 22 ? 'better-sqlite3-node20' : 'better-sqlite3'
  const Database = createRequire(new URL('../../package.json', import.meta.url))(name)
  const database = new Database(DATABASE, { readonly: true, fileMustExist: true })
  const selectPage = database.prepare(`select ${columns} from employees order by id limit ? offset ?`)
  const selectRow = database.prepare(`select ${columns} from employees where id = ?`)
  const selectTotal = database.prepare('select count(*) from employees').pluck()
  return {
    readPage: (limit, offset) => ({
      data: selectPage.all(limit, offset),
      meta: { total: selectTotal.get(), limit, offset },
    }),
    readRow: (id, answer) => answer(selectRow.get(id)),
    close: () => database.close(),
  }
}

const postgres = () => {
  // Ids and counts are safe integers; as text they would have to be converted row by row.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  const pool = new pg.Pool({ connectionString: DATABASE, max: Number(POOL_SIZE) })
  const named = (name, text) => (values) => pool.query({ name, text, values })
  const selectPage = named('page', `select ${columns} from employees order by id limit $1 offset $2`)
  const selectTotal = named('total', 'select count(*) as total from employees')
  const selectRow = named('row', `select ${columns} from employees where id = $1`)
  return {
    async readPage(limit, offset) {
      const [selected, counted] = await Promise.all([selectPage([limit, offset]), selectTotal()])
      return { data: selected.rows, meta: { total: counted.rows[0].total, limit, offset } }
    },
    readRow: async (id, answer) => answer((await selectRow([id])).rows[0]),
    close: () => pool.end(),
  }
}

const { readPage, readRow, close } = DATABASE.startsWith('postgres') ? postgres() : sqlite()
const app = Fastify({ logger: false, forceCloseConnections: true })

app.get('/api/v1/employees', { schema: { querystring, response: { 200: page } } }, ({ query }) =>
  readPage(query.limit, query.offset),
)

app.get(
  '/api/v1/employees/:item_id',
  { schema: { params: integers('item_id'), response: { 200: row } } },
  ({ params }, reply) =>
    readRow(
      params.item_id,
      (employee) =>
        employee ?? reply.code(404).send({ error: { code: 'not_found', message: 'There is no such employee.' } }),
    ),
)

await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log('listening')

process.once('SIGTERM', async () => {
  await app.close()
  await close()
})
