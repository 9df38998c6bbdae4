/** `npm run copy` from SQLite to PostgreSQL and back. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { publicDatabaseUrl } from '../../engine/process/databaseUrl.js'
import { openStorage } from '../../engine/storage/open.js'
import type { Storage } from '../../engine/storage/storage.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { storageOptions } from '../../support/storageOptions.js'
import { callCommand } from '../support/callCommand.js'
import { freshUrl, runOn } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { inOffice, office } from '../support/office.js'

const { path: folder } = temporaryFolder('copy')
const [first, last] = ['first', 'last'].map((name) => `sqlite:${join(folder, `${name}.sqlite`)}`) as [string, string]
const middle = await freshUrl()

const copy = async (from: string, to: string): Promise<{ code: number; output: string }> => {
  const { status, stdout, stderr } = await callCommand('copy', ['--from', from, '--to', to])
  return { code: status, output: stdout + stderr }
}

const [leave, employees] = [inOffice('leave'), inOffice('employees')]
const unusualRow = {
  id: 77_777,
  first_name: '\u0001"\\\u2028🙂',
  base_salary: 0.1 + 0.2,
  manager_id: 1,
  status: '',
  alumni: 2 ** 53 - 1,
  password_hash: 'stored, but never shown',
}

const key = { key: 'Ключ "1"', digest: 'digest' }
/** Stores a row with the key, or sends it again. */
const create = async (storage: Storage, given = key) => {
  const outcome = await storage.table(leave).write(insertion({ leave_type: 'Moved', status: 'Kept' }, given))
  return 'body' in outcome ? { ...outcome, body: String(Buffer.from(outcome.body)) } : outcome
}

const test = suite('copying a database')

test('rows and idempotency keys are copied unchanged, there and back: a retry after the move gets the stored response', async () => {
  const source = await openStorage(office, first, storageOptions)
  await source.fill([{ resource: employees, rows: [unusualRow] }])
  const stored = await create(source)
  await source.close()
  const expected = { ...Object.fromEntries(employees.fields.map(({ name }) => [name, null])), ...unusualRow }
  for (const [from, to] of [
    [first, middle],
    [middle, last],
  ] as const) {
    const { code, output } = await copy(from, to)
    assert.is(code, 0, output)
    for (const name of [...office.map(({ path }) => path), 'idempotency keys'])
      assert.match(output, new RegExp(`^${name}: \\d+ rows \\w+, the same in both$`, 'm'))
    const target = await openStorage(office, to, storageOptions)
    assert.equal(await target.rows(employees, 77_776, 5), [expected])
    assert.equal(await create(target), { ...stored, replayed: true })
    assert.equal(await create(target, { ...key, digest: 'another' }), { mismatch: true })
    await target.close()
  }
})

test('a target with rows is rejected', async () => {
  const { code, output } = await copy(first, middle)
  assert.is(code, 1)
  assert.match(output, /^--to already has rows/)
})

test('a source without the tables is rejected, and nothing is created', async () => {
  const source = await freshUrl()
  const target = join(folder, 'never.sqlite')
  const tables = () => runOn(source, `select relname from pg_class where relnamespace = 'public'::regnamespace`)
  await runOn(source, 'create table others (id bigint)')
  const before = await tables()
  const without = await copy(source, `sqlite:${target}`)
  assert.equal(without, {
    code: 1,
    output: `--from is ${publicDatabaseUrl(source)}, but it has none of the tables that the descriptors name.\n`,
  })
  assert.equal(await tables(), before)
  const missing = new URL(source)
  missing.pathname = '/nowhere'
  assert.match((await copy(missing.href, `sqlite:${target}`)).output, /^--from is \S+, which cannot be read: .*nowhere/)
  const typo = `sqlite:${join(folder, 'frist.sqlite')}`
  assert.match((await copy(typo, source)).output, /, but there is no such file\.\n$/)
  assert.equal(await tables(), before)
  assert.not.ok(readdirSync(folder).some((file) => /never|frist/.test(file)))
})

test('a value that the target cannot store is reported, with its row and column', async () => {
  await runOn(middle, `update employees set base_salary = 'NaN' where id = 1`)
  const { code, output } = await copy(middle, `sqlite:${join(folder, 'nan.sqlite')}`)
  assert.is(code, 1)
  assert.match(output, /^employees differs: row 1, base_salary: NaN in --from, null in --to; do not use the copy\.$/m)
})

test.run()
