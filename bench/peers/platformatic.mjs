// The generated peer: Platformatic DB's REST API over the employees table of the same database, without its writes.
import platformatic from '@platformatic/db'

const { PORT, DATABASE } = process.env

// The database belongs to the service: no route that writes is made.
const writes = ['/employees', '/departments', '/candidates'].flatMap((path) => [
  { method: 'POST', path },
  { method: 'PUT', path },
  { method: 'PUT', path: `${path}/{id}` },
  { method: 'DELETE', path: `${path}/{id}` },
])

const app = await platformatic.buildServer({
  server: { hostname: '127.0.0.1', port: Number(PORT), logger: { level: 'silent' }, forceCloseConnections: true },
  db: {
    connectionString: DATABASE,
    // The tables an employee refers to must be known to it, and none of the service's own (search, counts) may be.
    include: { employees: true, departments: true, candidates: true },
    limit: { default: 50, max: 200 },
    graphql: false,
    events: false,
    openapi: {
      ignore: { employee: { password_hash: true } },
      ignoreRoutes: writes,
    },
  },
  watch: false,
})

// Its own start() may take another host inside a container: listen on the loopback address alone.
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log('listening')

process.once('SIGTERM', () => app.close())
