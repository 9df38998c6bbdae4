// The generated peer: Platformatic DB's REST API over the employees table of the same SQLite file, without its writes.
import { resolve } from 'node:path'
import platformatic from '@platformatic/db'

const { PORT, DATABASE } = process.env

const app = await platformatic.buildServer({
  server: { hostname: '127.0.0.1', port: Number(PORT), logger: { level: 'silent' }, forceCloseConnections: true },
  db: {
    connectionString: `sqlite://${resolve(DATABASE)}`,
    include: { employees: true },
    limit: { default: 50, max: 200 },
    graphql: false,
    events: false,
    openapi: {
      ignore: { employee: { passwordHash: true } },
      // The file belongs to the service: no route that writes is made.
      ignoreRoutes: [
        { method: 'POST', path: '/employees/' },
        { method: 'PUT', path: '/employees/' },
        { method: 'PUT', path: '/employees/{id}' },
        { method: 'POST', path: '/employees/{id}' },
        { method: 'DELETE', path: '/employees/{id}' },
      ],
    },
  },
  watch: false,
})

// Its own start() takes every address inside a container: listen on the loopback address alone.
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log('listening')

process.once('SIGTERM', () => app.close())
