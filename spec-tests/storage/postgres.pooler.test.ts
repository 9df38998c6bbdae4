/** A pooler between the service and PostgreSQL: a real PgBouncer in each of its modes. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StorageError, TimedOut, TransactionTimedOut } from '../../engine/storage/failures.js'
import { openStorage } from '../../engine/storage/open.js'
import type { PoolOptions } from '../../engine/storage/options.js'
import { reachServer } from '../../engine/storage/postgres/server.js'
import type { Storage } from '../../engine/storage/storage.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, runOn, server } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { inOffice, office, startOffice } from '../support/office.js'
import { canKeepStatements, pgbouncer, startPgbouncer } from '../support/pgbouncer.js'

const leave = inOffice('leave')
const { pool } = storageOptions

/** The modes of PgBouncer, and PREPARED_STATEMENTS in each. */
const modes: [name: string, settings: Record<string, string>, preparedStatements: 'auto' | 'on' | 'off'][] = [
  ['transaction mode', { pool_mode: 'transaction' }, 'off'],
  ['session mode', { pool_mode: 'session' }, 'on'],
]
if (pgbouncer && canKeepStatements()) {
  const settings = { pool_mode: 'transaction', max_prepared_statements: '100' }
  modes.push(['transaction mode with prepared statements', settings, 'on'])
}

/** Makes a create take three seconds. */
const slowFunction = `create function slow() returns trigger language plpgsql as $$
  begin perform pg_sleep(3); return new; end $$`
const slowTrigger = 'create trigger slow before insert on leave_requests for each row execute function slow()'

const test = suite('poolers')

test('a direct connection keeps settings and prepared statements', async () => {
  const url = await freshUrl()
  const warnings: string[] = []
  const options = { ...storageOptions, warn: (warning: string) => warnings.push(warning) }
  for (const preparedStatements of ['auto', 'on', 'off'] as const) {
    const found = await reachServer(url, { ...options, pool: { ...pool, preparedStatements } })
    assert.equal([found.isDirect, found.keepsStatements], [true, preparedStatements !== 'off'])
  }
  assert.equal(warnings, [])
})

if (!pgbouncer) console.log('PgBouncer is not installed; its tests are skipped.')
const withPgbouncer = pgbouncer ? test : test.skip

type Work = (url: string, direct: string) => Promise<void>

/** Starts a pooler for a new database, runs work with it, and stops it. */
const behind = async (settings: Record<string, string>, work: Work) => {
  const pooler = await startPgbouncer(String(server), settings)
  const direct = await freshUrl()
  try {
    await work(pooler.through(direct), direct)
  } finally {
    pooler.stop()
  }
}

const opened = async (url: string, change: Partial<PoolOptions>, work: (storage: Storage) => Promise<void>) => {
  const storage = await openStorage(office, url, { ...storageOptions, pool: { ...pool, ...change } })
  try {
    await work(storage)
  } finally {
    await storage.close()
  }
}

for (const [mode, given, preparedStatements] of modes) {
  // More clients than server connections, so that transactions of one client run in several sessions.
  const settings = { ...given, ...(given['pool_mode'] === 'transaction' && { default_pool_size: '3' }) }

  withPgbouncer(
    `in ${mode}, requests succeed, and statement timeout and number format are in force, for this service only`,
    () =>
      behind(settings, async (url, direct) => {
        await runOn(direct, `alter database ${new URL(direct).pathname.slice(1)} set extra_float_digits = 0`)
        // On a busy machine, the last of the requests wait long for a connection.
        const options = { url, pool: { ...pool, waitMs: 60_000, statementMs: 60_000, preparedStatements } }
        const [one, other] = [await startOffice(options), await startOffice(options)]
        const requests = Array.from({ length: 60 }, async (_, n) => {
          const { create, get } = n % 2 ? one : other
          const body = { leave_type: 'Pooled', reason: `Number ${n % 20}` }
          const keyed = await create('leave', body, { 'idempotency-key': `"key-${n % 20}"` })
          const plain = await create('leave', body)
          const reads = ['', '?q=pooled', '?q=o', '?status=Pending&limit=3', '?offset=7', '/1']
          const statuses = await Promise.all(reads.map(async (read) => (await get(`/v1/leave${read}`)).status))
          return [keyed.status, plain.status, ...statuses]
        })
        for (const statuses of await Promise.all(requests))
          assert.equal(statuses, [201, 201, 200, 200, 200, 200, 200, 200])
        const [{ count } = {}] = await runOn(direct, `select count(*) from leave_requests where leave_type = 'Pooled'`)
        assert.is(count, 80)
        const days = 0.1 + 0.2
        await opened(url, { statementMs: 300, preparedStatements }, async (storage) => {
          const table = storage.table(leave)
          await storage.fill([{ resource: leave, rows: [{ id: 77_777, leave_type: 'A', status: 'B', days }] }])
          assert.match(String((await table.get('77777'))?.body), /"days":0\.30000000000000004/)
          const [row] = await storage.rows(leave, 77_776, 1)
          assert.is(row?.['days'], days)
          await runOn(direct, slowFunction)
          await runOn(direct, slowTrigger)
          for (const retry of [undefined, { key: 'slow', digest: 'slow' }]) {
            const error = await table
              .write(insertion({ leave_type: 'Slow', status: 'Slow' }, retry))
              .catch((thrown: Error) => thrown)
            assert.instance(error, TimedOut)
            assert.match((error as Error).message, /statement timeout/)
          }
        })
        for (let n = 0; n < 3; n++) {
          const [shown] = await runOn(url, 'show statement_timeout')
          assert.is(shown?.['statement_timeout'], '0')
        }
      }),
  )
}

for (const [mode, settings, preparedStatements] of modes)
  withPgbouncer(`in ${mode}, transactions lose no change, and one that hangs is undone`, () =>
    behind(settings, (url) =>
      opened(url, { waitMs: 60_000, preparedStatements }, async (storage) => {
        await storage.fill([{ resource: leave, rows: [{ id: 77_777, leave_type: 'A', status: 'B', days: 0 }] }])
        const daysIn = async ({ table }: Pick<Storage, 'table'>): Promise<number> =>
          JSON.parse(String((await table(leave).get('77777'))?.body)).days
        const change = ({ table }: Pick<Storage, 'table'>, days: number) =>
          table(leave).write({ kind: 'update', id: '77777', values: { days }, stamps: {} })
        const increment = () =>
          storage.transaction(async (transaction) => change(transaction, (await daysIn(transaction)) + 1), {
            timeoutMs: 20_000,
          })
        await Promise.all(Array.from({ length: 12 }, increment))
        assert.is(await daysIn(storage), 12)
        const hang = storage.transaction(
          async (transaction) => {
            await change(transaction, 100)
            await new Promise(() => {})
          },
          { timeoutMs: 300 },
        )
        assert.instance(await hang.catch((error) => error), TransactionTimedOut)
        await increment()
        assert.is(await daysIn(storage), 13)
      }),
    ),
  )

for (const [name, settings] of [
  ['refuses', {}],
  ['ignores', { ignore_startup_parameters: 'options' }],
] as const) {
  withPgbouncer(`a pooler that ${name} the settings is recognised, and the setting for prepared statements named`, () =>
    behind({ pool_mode: 'transaction', ...settings }, async (url) => {
      for (const preparedStatements of ['auto', 'on', 'off'] as const) {
        const warnings: string[] = []
        const warn = (warning: string) => warnings.push(warning)
        const found = await reachServer(url, { ...storageOptions, warn, pool: { ...pool, preparedStatements } })
        assert.equal([found.isDirect, found.keepsStatements], [false, preparedStatements === 'on'])
        assert.is(warnings.length, preparedStatements === 'auto' ? 1 : 0)
        for (const warning of warnings) assert.match(warning, / set PREPARED_STATEMENTS=on; otherwise off\.$/)
      }
    }),
  )
}

withPgbouncer('what cannot work through a pooler stops the start with its own message', async () => {
  const start = async (url: string): Promise<string> => {
    const error = await openStorage(office, url, storageOptions).catch((thrown: Error) => thrown)
    assert.instance(error, StorageError)
    return (error as Error).message
  }
  await behind({ pool_mode: 'statement' }, async (url) => {
    assert.match(await start(url), /^The database postgres:\S+ cannot be used: the pooler is in statement mode\. Use /)
  })
  await behind({ pool_mode: 'transaction' }, async (url) => {
    assert.match(await start(`${url}?options=-c%20search_path=x`), /does not support "options" in the URL/)
  })
})

test.run()
