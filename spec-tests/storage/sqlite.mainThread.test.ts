/** The connection of SQLite's main thread while the service serves: it reads, and no transaction of it makes a request wait. */
import type BetterSqlite3 from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { freshUrl, server } from '../support/database.js'
import { resourceIn } from '../support/registryFrom.js'
import { authorized, startService } from '../support/service.js'

const boxes = resourceIn('boxes', { name: text({ unique: true }) }, { update: true, delete: true, import: true })
const parts = resourceIn('parts', { box_id: integer({ references: 'boxes', onDelete: 'cascade' }) }, { delete: true })
const registry = [boxes, parts]

const prototype = Database.prototype as BetterSqlite3.Database
const { exec, prepare, pragma } = prototype

/** Runs work, and returns the connections that this thread has used and what it has run on them. */
const observed = async <T>(work: () => Promise<T>) => {
  const connections = new Set<BetterSqlite3.Database>()
  const statements: string[] = []
  const watch = <A extends [string, ...never[]], R>(run: (...given: A) => R) =>
    function (this: BetterSqlite3.Database, ...given: A): R {
      connections.add(this)
      statements.push(given[0])
      return run.apply(this, given)
    }
  Object.assign(prototype, { exec: watch(exec as never), prepare: watch(prepare as never), pragma: watch(pragma) })
  try {
    return { result: await work(), connections, statements }
  } finally {
    Object.assign(prototype, { exec, prepare, pragma })
  }
}

const test = suite("SQLite's main thread")

for (const place of server ? [] : ['a file', 'sqlite::memory:']) {
  test(`${place}: no connection of the main thread takes a transaction that writes`, async () => {
    const url = place === 'a file' ? await freshUrl() : place
    const { connections } = await observed(() => startService({ registry, url }))
    const open = [...connections].filter((one) => one.open)
    assert.is(open.length, 1)
    for (const sql of ['begin immediate', 'begin exclusive', "insert into boxes (name) values ('x')"])
      assert.throws(() => open[0]?.exec(sql), /readonly/, sql)
  })

  test(`${place}: no request runs a transaction or a write there`, async () => {
    const url = place === 'a file' ? await freshUrl() : place
    const service = await startService({ registry, url, explorer: true, batch: true })
    const send = (method: string, path: string, body?: unknown) =>
      service.send(path, {
        method,
        headers: { ...authorized, 'idempotency-key': crypto.randomUUID() },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const { result: statuses, statements } = await observed(async () => {
      const responses = [
        await send('POST', '/api/v1/boxes', { name: 'a' }),
        await send('POST', '/api/v1/boxes', { name: 'a' }),
        await send('PATCH', '/api/v1/boxes/1', { name: 'b' }),
        await send('POST', '/api/v1/boxes/import', [{ name: 'c' }]),
        await send('POST', '/api/v1/boxes/import?dryRun=true', [{ name: 'd' }]),
        await send('POST', '/api/v1/parts', { box_id: 1 }),
        await send('POST', '/api/v1/batch', {
          operations: [{ method: 'POST', path: '/v1/boxes', body: { name: 'e' } }],
        }),
        await send('POST', '/explore/batch', {
          operations: [{ method: 'PATCH', path: '/v1/boxes/1', body: { name: 'f' } }],
        }),
        await send('GET', '/api/v1/boxes?q=f'),
        await send('GET', '/explore/boxes/1/delete'),
        await send('DELETE', '/api/v1/boxes/1'),
        await send('GET', '/readyz'),
      ]
      return responses.map(({ status }) => status)
    })
    assert.equal(statuses, [201, 422, 200, 201, 200, 201, 200, 200, 200, 200, 204, 200])
    assert.ok(statements.length > 0)
    const isWrite = /^\s*(?:begin|commit|rollback|savepoint|release|insert|update|delete|replace|with\b.*\binsert)/is
    assert.equal(
      statements.filter((sql) => isWrite.test(sql)),
      [],
    )
  })
}

test.run()
