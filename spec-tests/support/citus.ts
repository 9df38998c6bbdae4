/** The Citus cluster of the tests, if CITUS_DATABASE_URL leads to its coordinator: a schema for each test, and deploy/citus.sql. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import { root } from '../../support/root.js'
import { runOn } from './database.js'

export const cluster = process.env['CITUS_DATABASE_URL'] as string

// Files of tests run one after the other on it: statements that distribute tables of two at once end in a deadlock. Released with the process.
if (cluster) {
  const client = new Client(cluster)
  await client.connect()
  await client.query('select pg_advisory_lock(1)')
}

const schemas: string[] = []

/** The address of a new schema. */
export const freshSchema = async (): Promise<string> => {
  const schema = `citus_${randomBytes(4).toString('hex')}`
  await runOn(cluster, `create schema ${schema}`)
  schemas.push(schema)
  const url = new URL(cluster)
  url.searchParams.set('options', `-c search_path=${schema},public`)
  return url.href.replaceAll('+', '%20')
}

export const dropSchemas = async (): Promise<void> => {
  for (const schema of schemas) await runOn(cluster, `drop schema ${schema} cascade`)
}

const script = join(root, 'deploy/citus.sql')

export const distribute = (url: string, tables: string) =>
  spawnSync('psql', [url, '-v', `distribute=${tables}`, '-f', script], { encoding: 'utf8' })
