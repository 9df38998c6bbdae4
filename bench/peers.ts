/** The servers that this service is compared with. */
import { type BenchServer, nodePeer } from './processes.js'

/** Without a list of fields, Platformatic DB selects every column. */
const platformatic = (url: string, port: number, fields = ''): BenchServer =>
  nodePeer(
    'Platformatic DB',
    'platformatic.mjs',
    port,
    { DATABASE: url },
    {
      page: (offset) => `/employees?limit=50&offset=${offset}&totalCount=true${fields && `&fields=${fields}`}`,
      row: `/employees/7${fields && `?fields=${fields}`}`,
    },
  )

/** On SQLite: bare Koa as the upper bound, and what people would write or use instead. */
export const sqlitePeers = (database: string, bodies: { page: string; row: string }, port: number): BenchServer[] => [
  nodePeer('Koa sending fixed bytes', 'koa.mjs', port, { PAGE: bodies.page, ROW: bodies.row }),
  nodePeer('Fastify by hand', 'fastify.mjs', port + 1, { DATABASE: database }),
  platformatic(`sqlite://${database}`, port + 2),
]

/** The default of this service and of Platformatic DB. */
const poolSize = '10'

/** The fields of the descriptor, in Platformatic DB's spelling: the table also has internal columns of this service. */
const employeeFields =
  'id,code,firstName,lastName,email,deptId,designation,managerId,branch,status,dateOfJoining,gender,baseSalary,candidateId,employmentType,probationEnd,terminationDate,alumni'

/** On PostgreSQL: what people would write or use instead of this service. */
export const postgresPeers = (url: string, port: number): BenchServer[] => [
  nodePeer('Fastify by hand', 'fastify_pg.mjs', port + 1, { DATABASE: url, POOL_SIZE: poolSize }),
  platformatic(url, port + 2, employeeFields),
]
