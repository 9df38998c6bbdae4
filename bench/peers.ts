/** Whom the service is measured beside. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Entrant, launch, nodePeer, peersFolder, restPaths, serverOf } from './processes.js'

/** The generated one; without a list of fields it selects every column there is. */
const platformatic = (address: string, port: number, fields = ''): Entrant =>
  nodePeer(
    'Platformatic DB',
    'platformatic.mjs',
    port,
    { DATABASE: address },
    {
      page: (offset) => `/employees?limit=50&offset=${offset}&totalCount=true${fields && `&fields=${fields}`}`,
      row: `/employees/7${fields && `?fields=${fields}`}`,
    },
  )

const python = '/usr/bin/python3'
const hasFastApi = (): boolean => {
  try {
    execFileSync(python, ['-c', 'import fastapi, uvicorn'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Those on SQLite: Koa that answers each request as it comes and does nothing else, and what people would write or take instead. */
export const sqlitePeers = (database: string, bodies: { page: string; row: string }, port: number): Entrant[] => [
  nodePeer('Koa sending fixed bytes', 'ceiling.mjs', port, { PAGE: bodies.page, ROW: bodies.row }),
  nodePeer('Fastify by hand', 'fastify.mjs', port + 1, { DATABASE: database }),
  platformatic(`sqlite://${database}`, port + 2),
  {
    name: 'FastAPI',
    ...(hasFastApi() ? {} : { missing: 'FastAPI and uvicorn are not installed for the system’s Python' }),
    async start() {
      const env = { PORT: String(port + 3), DATABASE: database }
      const child = await launch('FastAPI', python, [join(peersFolder, 'fastapi_peer.py')], env)
      return serverOf('FastAPI', port + 3, child, restPaths)
    },
  },
]

/** As many connections as the service takes by default, and Platformatic DB too. */
const poolSize = '10'

/** What the descriptor has, by the names Platformatic DB gives it: the table has columns of the service's own besides. */
const employeeFields =
  'id,code,firstName,lastName,email,deptId,designation,managerId,branch,status,dateOfJoining,gender,baseSalary,candidateId,employmentType,probationEnd,terminationDate,alumni'

/** Those on PostgreSQL: what people would write or take instead. */
export const postgresPeers = (address: string, port: number): Entrant[] => [
  nodePeer('Fastify by hand', 'fastify_pg.mjs', port + 1, { DATABASE: address, POOL_SIZE: poolSize }),
  platformatic(address, port + 2, employeeFields),
]
