/** The log of changes from which totals and versions are computed: exact at every moment, also after a restore. */
import type { Client } from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Resource } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, roleOn, sessionOn } from '../support/database.js'
import { listQuery, tableTag } from '../support/listQuery.js'
import { thingsWith } from '../support/things.js'
import { until } from '../support/until.js'

const registry = thingsWith()
const [resource] = registry as [Resource]

/** A new database with one row, and connections to it. */
const newDatabase = async () => {
  const url = await freshUrl()
  await (await openStorage(registry, url, storageOptions)).close()
  const clients: Client[] = []
  const connect = async (): Promise<Client> => {
    const client = await sessionOn(url)
    clients.push(client)
    return client
  }
  return { url, connect, close: () => Promise.all(clients.map((client) => client.end())) }
}

const insert = `insert into things (name) values ('another')`
const compact = `select registry_compact('things')`
const versionOf = async (client: Client) =>
  (await client.query(`select state from registry_state('things')`)).rows[0].state

/** One statement, so that both sides are of one moment; a table without a valid state is counted by whoever reads it. */
const isExact = `select coalesce((select total from registry_state('things')), counted) = counted as exact
  from (select count(*) as counted from things) as things`
const assertExact = async (client: Client, message?: string): Promise<void> => {
  assert.is((await client.query(isExact)).rows[0].exact, true, message)
}

const test = suite('the change log of PostgreSQL')

test('changes of transactions that run during a compaction are counted once', async () => {
  const { connect, close } = await newDatabase()
  const [early, late, reader] = [await connect(), await connect(), await connect()]
  const versions = new Set([await versionOf(reader)])
  await early.query('begin')
  await early.query(insert)
  await late.query('begin')
  await reader.query(insert)
  await reader.query(compact)
  await late.query(insert)
  versions.add(await versionOf(reader))
  for (const client of [late, early]) {
    await client.query('commit')
    await assertExact(reader)
    versions.add(await versionOf(reader))
    await reader.query(compact)
    await assertExact(reader)
    versions.add(await versionOf(reader))
  }
  assert.is(versions.size, 4)
  await close()
})

test('counts are exact at every moment, with writers, rollbacks, compactions and recounts at once', async () => {
  const { connect, close } = await newDatabase()
  let isOver = false
  const endlessly = async (work: (client: Client, n: number) => Promise<unknown>) => {
    const client = await connect()
    for (let n = 0; !isOver; n++) await work(client, n)
  }
  const remove = `delete from things where id in (select id from things order by id limit 2)`
  const writer = () =>
    endlessly(async (client, n) => {
      await client.query('begin')
      await client.query(n % 4 === 1 ? remove : insert)
      await client.query('savepoint inner_one')
      await client.query(insert)
      if (n % 3 === 0) await client.query('rollback to inner_one')
      await client.query(n % 5 === 0 ? 'rollback' : 'commit')
    })
  const background = [
    ...[writer(), writer(), writer()],
    ...[0, 1].map(() => endlessly((client) => client.query(compact))),
    endlessly(async (client, n) => n % 10 === 0 && client.query(`select registry_recount('things')`)),
    endlessly((client, n) => client.query(n % 50 === 0 ? 'truncate things' : 'select 1')),
  ].map((work) => work.catch((error: Error) => error))
  const reader = await connect()
  for (let n = 0; n < 400; n++) await assertExact(reader, `after ${n} reads`)
  isOver = true
  for (const outcome of await Promise.all(background)) assert.is(outcome, undefined)
  await reader.query(compact)
  assert.is((await reader.query(`select total from registry_state('things')`)).rows[0].total !== null, true)
  await assertExact(reader)
  await close()
})

test('a TRUNCATE whose snapshot is old leaves an exact count', async () => {
  const { url, connect, close } = await newDatabase()
  const [client, other] = [await connect(), await connect()]
  const storage = await openStorage(registry, url, storageOptions)
  const list = async () => String((await storage.table(resource).list(listQuery({ limit: 5, offset: 0n }))).body)
  await client.query('begin isolation level repeatable read')
  await client.query('select 1')
  await other.query(insert)
  await other.query(compact)
  await client.query('truncate things')
  await client.query('commit')
  assert.match(await list(), /"total":0,/)
  await other.query(insert)
  assert.match(await list(), /"total":1,/)
  // The service may be compacting, and a second compaction at the same time does nothing.
  await storage.close()
  await other.query(compact)
  assert.is((await other.query(`select total from registry_state('things')`)).rows[0].total, '1')
  await close()
})

/** What a dump restores: the same values, written by other transactions, with transaction ids of another server. */
const restore = (ahead: number) => `
  create table saved as select * from registry_states;
  delete from registry_states;
  insert into registry_states select name, (xid::text::bigint + ${ahead})::text::xid8, (bound::text::bigint + ${ahead})::text::xid8,
    running, rows, state from saved;
  update registry_changes set xid = (xid::text::bigint + ${ahead})::text::xid8`

for (const ahead of [0, 1_000_000]) {
  test(`a database restored from a server ${ahead} transactions ahead has exact counts and new versions`, async () => {
    const { url, connect, close } = await newDatabase()
    const client = await connect()
    await client.query(`${insert}; ${compact}; ${insert}`)
    const version = await versionOf(client)
    await client.query(restore(ahead))
    const storage = await openStorage(registry, url, storageOptions)
    const tags = new Set([await tableTag(storage.table(resource)), await tableTag(storage.table(resource))])
    assert.is(tags.size, 1)
    assert.not.ok([...tags][0]?.endsWith(BigInt(version).toString(16)))
    await client.query(insert)
    assert.is((await storage.counts()).get(resource), 4)
    tags.add(await tableTag(storage.table(resource)))
    assert.is(tags.size, 2)
    await assertExact(client)
    await storage.close()
    await close()
  })
}

test('a database that is restored under a running service is counted again, however long that takes', async () => {
  const { url, connect, close } = await newDatabase()
  const client = await connect()
  const pool = { ...storageOptions.pool, statementMs: 500 }
  const storage = await openStorage(registry, url, { ...storageOptions, pool })
  await client.query(
    `create function sleep() returns trigger language plpgsql as $$ begin perform pg_sleep(0.6); return new; end $$`,
  )
  await client.query('create trigger sleep before insert on registry_states for each row execute function sleep()')
  await client.query(restore(1_000_000))
  await client.query(insert)
  const { body } = await storage.table(resource).list(listQuery({ limit: 5, offset: 1n }))
  assert.match(String(body), /"name":"another".*"total":2,/)
  await until(async () => (await client.query(`select total from registry_state('things')`)).rows[0].total !== null)
  await assertExact(client)
  await storage.close()
  await close()
})

test('a role that may only read and insert compacts, and cannot put a table in the place of the log', async () => {
  const { url, connect, close } = await newDatabase()
  const client = await connect()
  const { role, drop } = await roleOn(url)
  await client.query(`grant select, insert on all tables in schema public to ${role}`)
  await client.query(`grant usage on all sequences in schema public to ${role}`)
  await client.query(`set role ${role}`)
  await client.query('create temporary table registry_changes (like registry_changes including all)')
  await client.query(insert)
  await client.query(`insert into registry_states (name) values ('things')`)
  const { rows } = await client.query('select count(*) from public.registry_changes')
  assert.is(rows[0].count, '0')
  await assertExact(client)
  assert.is((await client.query('select count(*) from registry_changes')).rows[0].count, '0')
  await close()
  await drop()
})

test.run()
