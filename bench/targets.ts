/** The database systems to benchmark on: how their databases are created, and which peers use them. */
import { once } from 'node:events'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { publicDatabaseUrl } from '../engine/process/databaseUrl.js'
import { spawnChild } from '../support/cleanup.js'
import { runSql, startPersistentPostgres } from '../support/postgresServer.js'
import { main, root } from '../support/root.js'
import { type BenchServer, nodePeer } from './processes.js'

/** Databases that take long to create are stored here between runs; git ignores it. */
export const dataFolder = join(root, 'bench', 'data')

export interface BenchTarget {
  /** The heading of its section in the report. */
  readonly system: string
  /** The command that creates the report. */
  readonly command: string
  /** What all servers have in common, for the report. */
  readonly setup: string
  /** Remarks at the end of the report. */
  readonly notes: readonly string[]
  /** The first port of the servers; targets have different ones, so that they can run at the same time. */
  readonly port: number
  /** The URL of a database with the demo data and this many more employees; created once and reused by later runs. */
  database(name: string, extraRows: number): Promise<string>
  /** Lets the database collect the statistics that it plans with. */
  analyze(url: string): Promise<void>
  /** The URL of a new database. */
  emptyDatabase(name: string): Promise<string>
  peers(url: string, bodies: { page: string; row: string }, port: number): BenchServer[]
  close(): Promise<void>
}

/** Adds employees to a database. */
const seed = async (url: string, rows: number): Promise<void> => {
  const env = { ...process.env, DATABASE_URL: url }
  const args = [main, 'seed', '--resource', 'employees', '--rows', String(rows)]
  const child = spawnChild(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`npm run seed failed for ${publicDatabaseUrl(url)}`)
}

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

/** Names for a peer with as many routes as this service: a list, one row and a create of each. The measured one is in the middle. */
const twelveResources = Array.from({ length: 12 }, (_, n) => (n === 6 ? 'employees' : `others${n}`)).join(',')

/** All servers open the same file. */
export const sqliteTarget: BenchTarget = {
  system: 'SQLite',
  command: 'npm run bench',
  setup: 'every server on the same database file',
  notes: [],
  port: 4100,
  async database(name, extraRows) {
    const path = join(dataFolder, `${name}.sqlite`)
    if (!existsSync(path)) {
      // An interrupted run may have left an incomplete file.
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}.new${suffix}`, { force: true })
      await seed(`sqlite:${path}.new`, extraRows)
      renameSync(`${path}.new`, path)
    }
    return `sqlite:${path}`
  },
  async emptyDatabase(name) {
    const path = join(dataFolder, `${name}.sqlite`)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    return `sqlite:${path}`
  },
  async analyze() {},
  // Bare Koa with as many routes as this service as the upper bound, and what people would write or use instead.
  peers(url, bodies, port) {
    const database = url.slice('sqlite:'.length)
    const files = { PAGE: bodies.page, ROW: bodies.row }
    return [
      nodePeer('Koa sending fixed bytes, 36 routes', 'koa.mjs', port, { ...files, RESOURCES: twelveResources }),
      nodePeer('Fastify by hand', 'fastify.mjs', port + 1, { DATABASE: database }),
      platformatic(`sqlite://${database}`, port + 2),
    ]
  },
  async close() {},
}

/** The default of this service and of Platformatic DB. */
const poolSize = '10'

/** The fields of the descriptor, in Platformatic DB's spelling: the table also has internal columns of this service. */
const employeeFields =
  'id,code,firstName,lastName,email,deptId,designation,managerId,branch,status,dateOfJoining,gender,baseSalary,candidateId,employmentType,probationEnd,terminationDate,alumni'

/** Keeps our databases apart from others on the same server. */
const prefix = 'registry_bench_'

/** The server in TEST_DATABASE_URL, or an embedded one whose data is reused by later runs. */
export const postgresTarget = async (): Promise<BenchTarget> => {
  const externalServer = process.env['TEST_DATABASE_URL']
  const { url: server, stop } = externalServer
    ? { url: externalServer, stop: async () => {} }
    : await startPersistentPostgres(join(dataFolder, 'postgres'))
  const urlOf = (name: string): string => {
    const url = new URL(server)
    url.pathname = `/${name}`
    return url.href
  }
  const [version] = await runSql(server, 'show server_version')
  return {
    system: 'PostgreSQL',
    command: 'npm run bench -- --postgres',
    setup: `every server with ten connections to the same table of one PostgreSQL ${version?.['server_version']}${externalServer ? '' : ' on the same machine'}`,
    notes: [
      'Every list includes its total. The peers count the table for each request, which takes most of the time of the hand-written one; this service maintains the total and the position of every offset by triggers, so that neither grows with the table. The total of a filter or a search has to be counted here too, which takes longer the more rows match: a filter counts in its index, but a search fetches every row that may contain the text, so common words are slow in a large table.',
    ],
    port: 4200,
    async database(short, extraRows) {
      const name = `${prefix}${short.replaceAll('-', '_')}`
      const databases = await runSql(server, 'select from pg_database where datname = $1', [name])
      if (databases.length === 0) {
        const url = urlOf(`${name}_new`)
        await runSql(server, `drop database if exists ${name}_new with (force)`)
        await runSql(server, `create database ${name}_new template template0 encoding 'UTF8'`)
        await seed(url, extraRows)
        // Autovacuum would do this later; index-only scans need it.
        await runSql(url, 'vacuum analyze')
        await runSql(server, `alter database ${name}_new rename to ${name}`)
      }
      return urlOf(name)
    },
    async emptyDatabase(short) {
      const name = `${prefix}${short}`
      await runSql(server, `drop database if exists ${name} with (force)`)
      await runSql(server, `create database ${name} template template0 encoding 'UTF8'`)
      return urlOf(name)
    },
    async analyze(url) {
      await runSql(url, 'vacuum analyze')
    },
    peers: (url, _bodies, port) => [
      nodePeer('Fastify by hand', 'fastify.mjs', port + 1, { DATABASE: url, POOL_SIZE: poolSize }),
      platformatic(url, port + 2, employeeFields),
    ],
    close: stop,
  }
}
