/** The PostgreSQL target: the server in TEST_DATABASE_URL, or an embedded one whose data is reused by later runs. */
import { join } from 'node:path'
import { Client } from 'pg'
import { startPersistentPostgres } from '../support/postgresServer.js'
import { dataFolder } from './paths.js'
import { postgresPeers } from './peers.js'
import { type BenchTarget, seed } from './target.js'

/** Keeps our databases apart from others on the same server. */
const prefix = 'registry_bench_'

const runSql = async (url: string, sql: string, values: string[] = []): Promise<Record<string, string>[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

export const postgresTarget = async (): Promise<BenchTarget> => {
  const given = process.env['TEST_DATABASE_URL']
  const { url: server, stop } = given
    ? { url: given, stop: async () => {} }
    : await startPersistentPostgres(join(dataFolder, 'postgres'))
  const urlOf = (name: string): string => {
    const url = new URL(server)
    url.pathname = `/${name}`
    return url.href
  }
  const recreate = async (name: string): Promise<string> => {
    await runSql(server, `drop database if exists ${name} with (force)`)
    await runSql(server, `create database ${name} template template0 encoding 'UTF8'`)
    return urlOf(name)
  }
  const [version] = await runSql(server, 'show server_version')
  return {
    system: 'PostgreSQL',
    command: 'npm run bench -- --postgres',
    setup: `every server with ten connections to the same table of one PostgreSQL ${version?.['server_version']}${given ? '' : ' on the same machine'}`,
    notes: [
      'Every list includes its total. The peers count the table for each request, which takes most of the time of the hand-written one; this service maintains the total and the position of every offset by triggers, so that neither grows with the table. The total of a filter or a search has to be counted here too, which takes longer the more rows match: a filter counts in its index, but a search fetches every row that may contain the text, so common words are slow in a large table.',
    ],
    port: 4200,
    async database(short, extraRows) {
      const name = `${prefix}${short.replaceAll('-', '_')}`
      const found = await runSql(server, 'select from pg_database where datname = $1', [name])
      if (found.length === 0) {
        const url = await recreate(`${name}_new`)
        await seed(url, extraRows)
        // Autovacuum would do this later; index-only scans need it.
        await runSql(url, 'vacuum analyze')
        await runSql(server, `alter database ${name}_new rename to ${name}`)
      }
      return urlOf(name)
    },
    peers: (url, _bodies, port) => postgresPeers(url, port),
    close: stop,
  }
}
