// The generated peer: Platformatic DB's REST API over the employees table of the same database, read-only.
import platformatic from '@platformatic/db'

const { PORT, DATABASE } = process.env

// The database belongs to the service, so the write routes are disabled.
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
    // Includes the tables that an employee references, and excludes the internal tables of the service.
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

// start() may choose another host inside a container; this listens on the loopback address only.
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log('listening')

process.once('SIGTERM', () => app.close())
