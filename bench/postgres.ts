/** PostgreSQL as a ground: the server that TEST_DATABASE_URL names, or one out of npm whose data is kept between runs. */
import { join } from 'node:path'
import { Client } from 'pg'
import { startPersistentPostgres } from '../support/postgresServer.js'
import { type Ground, seed } from './ground.js'
import { dataFolder } from './paths.js'
import { postgresPeers } from './peers.js'

/** How the databases' names begin: the server may be somebody's own. */
const prefix = 'registry_bench_'

const runOn = async (address: string, sql: string, values: string[] = []): Promise<Record<string, string>[]> => {
  const client = new Client({ connectionString: address })
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** The ground of `npm run bench -- --postgres`. */
export const onPostgres = async (): Promise<Ground> => {
  const given = process.env['TEST_DATABASE_URL']
  const { url: server, stop } = given
    ? { url: given, stop: async () => {} }
    : await startPersistentPostgres(join(dataFolder, 'postgres'))
  const addressOf = (name: string): string => {
    const address = new URL(server)
    address.pathname = `/${name}`
    return address.href
  }
  const makeAnew = async (name: string): Promise<string> => {
    await runOn(server, `drop database if exists ${name} with (force)`)
    await runOn(server, `create database ${name} template template0 encoding 'UTF8'`)
    return addressOf(name)
  }
  const [shown] = await runOn(server, 'show server_version')
  return {
    report: 'benchmarks-postgres',
    title: 'Benchmarks on PostgreSQL',
    command: 'npm run bench -- --postgres',
    shared: `every server over ten connections to the same table of one PostgreSQL ${shown?.['server_version']}${given ? '' : ', which shares this machine with them,'}`,
    notes: [
      'A list tells its total. The others count the table each time, which is most of what the hand-written one does; ours is kept by triggers, as is the place of every offset, so both hardly grow with the table. The total of a filter or a search has to be counted here too, and takes longer the more rows match: a filter’s are counted in its index, but every row that a word may be in is fetched, so common words are slow in a large table.',
    ],
    syncsItself: false,
    port: 4200,
    async database(short, more) {
      const name = `${prefix}${short.replaceAll('-', '_')}`
      const found = await runOn(server, 'select from pg_database where datname = $1', [name])
      if (found.length === 0) {
        const address = await makeAnew(`${name}_new`)
        await seed(address, more)
        // What autovacuum would do some time later; no count could be read off an index before.
        await runOn(address, 'vacuum analyze')
        await runOn(server, `alter database ${name}_new rename to ${name}`)
      }
      return addressOf(name)
    },
    scratch: () => makeAnew(`${prefix}creates`),
    peers: (address, _bodies, port) => postgresPeers(address, port),
    close: stop,
  }
}
