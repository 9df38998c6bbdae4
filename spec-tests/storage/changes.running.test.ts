/** Tables that are changed beside a running service, on both databases: it says so once, and answers 503 until it fits again. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { jsonIndex } from '../../engine/storage/sqlite/schema.js'
import { freshUrl, server, sharedDatabase } from '../support/database.js'
import { apply, prepare, registryOf, rowsServed, type Version } from '../support/members.js'
import { startService } from '../support/service.js'

/** A service, with what it has reported. */
const serve = async (registry: Registry, url: string) => {
  const reports: string[] = []
  return { reports, ...(await startService({ registry, url, warn: (line) => void reports.push(line) })) }
}

const before: Version = { fields: { name: text(), note: text({ filter: true }), size: text() } }
const created = { name: 'Cy', note: 'z', size: '3' }

const changes: readonly (readonly [name: string, after: Version, approvals: readonly string[], reason: RegExp])[] = [
  [
    'rename a column',
    { fields: { name: text(), remark: text({ filter: true, renamedFrom: 'note' }), size: text() } },
    ['rename:members.note'],
    /no column note/,
  ],
  ['rename the table', { ...before, table: 'people', renamedFromTable: 'members' }, ['rename:members'], /no column id/],
  [
    'convert a column',
    { fields: { name: text(), note: text({ filter: true }), size: integer() } },
    ['retype:members.size'],
    /the column size is of type (?:integer|bigint)/,
  ],
]

const test = suite('changes beside a running service')

for (const [name, after, approvals, reason] of changes) {
  test(`${name}: 503, one line in the log, and /readyz names the table`, async () => {
    const url = await freshUrl()
    const registry = registryOf(before)
    await prepare(registry, url, { teams: [{ name: 'Red' }], members: [{ name: 'Ana', note: 'x', size: '7' }] })
    const { reports, send, create } = await serve(registry, url)
    assert.is((await send('/api/v1/members')).status, 200)
    await apply(registryOf(after), url, ...approvals)
    const ready = await send('/readyz')
    assert.equal([ready.status, ready.body.error.code], [503, 'unavailable'])
    assert.match(ready.body.error.message, /members/)
    for (const path of ['', '/1', '?q=ana', '?note=x', '?limit=1']) {
      const { status, body } = await send(`/api/v1/members${path}`)
      assert.equal([status, body.error.code], [503, 'unavailable'], path)
    }
    assert.is((await create('members', created)).status, 503)
    assert.is((await send('/api/v1/teams')).status, 200)
    assert.is((await send('/livez')).status, 200)
    assert.is(reports.length, 1, reports.join('\n'))
    assert.match(reports[0] ?? '', /^The table "members" no longer fits its descriptor \(/)
    assert.match(reports[0] ?? '', reason)
  })
}

/** A service of one member, and its database. */
const serveMember = async () => {
  const database = await sharedDatabase()
  const registry = registryOf({ fields: { name: text() } })
  await prepare(registry, database.url, { members: [{ name: 'Ana' }] })
  return { database, registry, ...(await serve(registry, database.url)) }
}

test('a request notices it without a probe, and a table that fits again is served again', async () => {
  const { database, registry, reports, send } = await serveMember()
  const rename = async (from: string, to: string) => database.run(`alter table members rename column ${from} to ${to}`)
  // SQLite would rename the column in the engine's own objects too.
  if (!server) await database.run(`drop index ${jsonIndex(registry[1] as Resource)}`)
  else await rename('name', 'label')
  assert.equal([(await send('/api/v1/members/1')).status, (await send('/api/v1/members/1')).status], [503, 503])
  assert.is(reports.length, 1)
  if (server) await rename('label', 'name')
  else await rowsServed(registry, database.url)
  assert.is((await send('/api/v1/members/1')).status, 200)
  assert.is((await send('/readyz')).status, 200)
  assert.equal(reports.slice(1), ['The table "members" fits its descriptor again.'])
})

test('a change that the descriptor does not notice is no outage', async () => {
  const { database, reports, send, create } = await serveMember()
  await database.run('alter table members add column grade text')
  assert.equal([(await send('/api/v1/members')).status, (await send('/readyz')).status], [200, 200])
  assert.is((await create('members', { name: 'Bo' })).status, 201)
  assert.equal(reports, [])
})

test.run()
