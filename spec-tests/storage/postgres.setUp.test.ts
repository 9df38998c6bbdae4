/** The set-up of a PostgreSQL database: new, existing, incompatible and unreachable ones. */
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { StorageError } from '../../engine/storage/storage.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, runOn } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { resourceIn } from '../support/registryFrom.js'

const registryOf = (fields: Parameters<typeof resourceIn>[1], demo = [{ id: 3, name: 'Third' }]): Registry => [
  resourceIn('things', fields, { required: ['name'], demo }),
]

/** Opens the database, lists the things, and closes it. */
const openAndList = async (url: string, registry: Registry, q = '', warn = (_: string) => {}): Promise<string> => {
  const storage = await openStorage(registry, url, { ...storageOptions, warn })
  try {
    const [resource] = registry
    return String((await storage.table(resource as Registry[number]).list(listQuery({ q }))).body)
  } finally {
    await storage.close()
  }
}

const test = suite('set-up of PostgreSQL')

test('dropped indexes, triggers and columns are recreated', async () => {
  const url = await freshUrl()
  const registry = registryOf({ name: text({ filter: true, unique: true }) })
  await openAndList(url, registry)
  for (const sql of [
    'drop index registry_things_search',
    'drop trigger registry_things_insert on things',
    'alter table things drop column registry_searched cascade',
    'alter table things disable trigger user',
  ]) {
    await runOn(url, sql)
    await runOn(url, `insert into things (name) values ('After: ' || $1)`, [sql])
    const [{ count } = {}] = await runOn(url, 'select count(*) from things')
    assert.match(await openAndList(url, registry), new RegExp(`"total":${count},`), sql)
  }
  for (const table of ['registry_keys', 'registry_states']) {
    await runOn(url, `drop table ${table}`)
    await openAndList(url, registry)
    const triggers = await runOn(url, `select tgname from pg_trigger where tgrelid = '${table}'::regclass`)
    assert.is(triggers.length, 1, table)
  }
})

test('a view of all columns does not prevent a migration', async () => {
  const url = await freshUrl()
  await openAndList(url, registryOf({ name: text() }))
  await runOn(url, 'create view everything as select * from things')
  assert.match(await openAndList(url, registryOf({ name: text(), more: text() }), 'HIR'), /"name":"Third","more":null/)
})

test('a view that prevents a migration is named', async () => {
  const url = await freshUrl()
  await openAndList(url, registryOf({ name: text() }))
  await runOn(url, 'alter table things add column registry_json text')
  await runOn(url, `comment on column things.registry_json is 'Made by the service: ${'0'.repeat(64)}'`)
  await runOn(url, 'create view everything as select registry_json from things')
  const error = await openAndList(url, registryOf({ name: text() })).catch((thrown: Error) => thrown)
  assert.instance(error, StorageError)
  assert.match(
    String(error),
    /cannot drop the column registry_json \(table "things"\): .*view everything depends on column.*Drop what depends on it/,
  )
})

test('a start that has to wait for a lock does not stop the creates of other programs', async () => {
  const url = await freshUrl()
  await openAndList(url, registryOf({ name: text() }))
  const [holder, writer] = [0, 1].map(() => new Client({ connectionString: url })) as [Client, Client]
  await Promise.all([holder.connect(), writer.connect()])
  await holder.query('begin')
  await holder.query(`insert into things (name) values ('uncommitted')`)
  const warnings: string[] = []
  const started = openAndList(url, registryOf({ name: text({ filter: true }) }), '', (warning) =>
    warnings.push(warning),
  )
  // Far longer than the start waits for a lock: a create that is stuck behind it fails.
  await writer.query(`set statement_timeout = '10s'`)
  while (warnings.length < 1) await writer.query(`insert into things (name) values ('beside')`)
  await holder.query('commit')
  assert.match(await started, /"name":"uncommitted"/)
  await Promise.all([holder.end(), writer.end()])
})

test('without pg_trgm a search scans the table, with a warning at start', async () => {
  const [url, role] = [new URL(await freshUrl()), `limited_${randomBytes(4).toString('hex')}`]
  await runOn(url.href, `create role ${role} login password 'limited'`)
  await runOn(url.href, `grant create, usage on schema public to ${role}`)
  const limited = new URL(url)
  limited.username = role
  limited.password = 'limited'
  const warnings: string[] = []
  const found = await openAndList(limited.href, registryOf({ name: text() }), 'HIR', (warning) =>
    warnings.push(warning),
  )
  assert.match(found, /"name":"Third".*"total":1,/)
  assert.is(warnings.length, 1)
  assert.match(String(warnings[0]), /pg_trgm/)
  await runOn(url.href, `drop owned by ${role}`)
  await runOn(url.href, `drop role ${role}`)
})

type WrongUrl = [change: (address: URL) => void, message: RegExp]
const passwords: WrongUrl[] = [
  [(address) => Object.assign(address, { password: 'very-secret' }), /password authentication failed/],
  [(address) => Object.assign(address, { password: '' }), /the server demands a password; write it in the URL/],
]

test('an unusable server or database stops the start, without printing the password', async () => {
  const url = new URL(await freshUrl())
  const wrong: WrongUrl[] = [
    [(address) => Object.assign(address, { port: '1' }), /ECONNREFUSED/],
    // A server with trust authentication accepts any password.
    ...(url.password ? passwords : []),
    [(address) => Object.assign(address, { pathname: '/nowhere' }), /"nowhere" does not exist/],
    [(address) => address.searchParams.set('sslmode', 'require'), /SSL/],
    [(address) => address.searchParams.set('sslmode', 'maybe'), /sslmode is "maybe"; it must be one of disable/],
  ]
  for (const [change, message] of wrong) {
    const address = new URL(url)
    change(address)
    const error = await openStorage(registryOf({ name: text() }), address.href, storageOptions).catch(String)
    assert.match(String(error), /^StorageError: The database postgres:\/\/[^@\s]+ cannot be used: /)
    assert.match(String(error), message)
    assert.not.match(String(error), /very-secret|of-the-tests/)
  }
})

test('a table of another program with the name of ours is refused', async () => {
  const url = await freshUrl()
  await runOn(url, 'create table registry_keys (id bigint primary key, secret text)')
  const error = await openStorage(registryOf({ name: text() }), url, storageOptions).catch(String)
  assert.match(
    String(error),
    /cannot be used: another program has created "registry_keys", which has no column "key", "digest", "body", "at"\./,
  )
})

test('a database that is not UTF-8 is rejected', async () => {
  const url = new URL(await freshUrl())
  const name = `${url.pathname.slice(1)}_latin`
  await runOn(url.href, `create database ${name} template template0 encoding 'LATIN1' locale_provider libc locale 'C'`)
  url.pathname = `/${name}`
  assert.match(await openAndList(url.href, registryOf({ name: text() })).catch(String), /its encoding is LATIN1/)
})

test.run()
