/** `npm run copy` from SQLite to PostgreSQL and back. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Resource } from '../engine/descriptor/registry.js'
import { openStorage } from '../engine/storage/open.js'
import { temporaryFolder } from '../support/cleanup.js'
import { storageOptions } from '../support/storageOptions.js'
import { freshUrl } from './support/database.js'
import { deployed as registry } from './support/service.js'

const { path: folder } = temporaryFolder('copy')
const [first, last] = ['first', 'last'].map((name) => `sqlite:${join(folder, `${name}.sqlite`)}`) as [string, string]
const middle = await freshUrl()

const copy = async (from: string, to: string): Promise<{ code: number; output: string }> => {
  const tool = join(import.meta.dirname, '..', 'cli', 'copy.js')
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [tool, '--from', from, '--to', to])
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: stdout + stderr }
  }
}

const employees = registry.find(({ path }) => path === 'employees') as Resource
const unusualRow = {
  id: 77_777,
  first_name: '\u0001"\\\u2028🙂',
  base_salary: 0.1 + 0.2,
  manager_id: 1,
  status: '',
  alumni: 2 ** 53 - 1,
  password_hash: 'stored, but never shown',
}

const test = suite('copying a database')

test('every row is copied unchanged, there and back, with its id and redacted fields', async () => {
  const source = await openStorage(registry, first, storageOptions)
  await source.fill([{ resource: employees, rows: [unusualRow] }])
  await source.close()
  for (const [from, to] of [
    [first, middle],
    [middle, last],
  ] as const) {
    const { code, output } = await copy(from, to)
    assert.is(code, 0, output)
    for (const { path } of registry)
      assert.match(output, new RegExp(`^${path}: \\d+ rows \\w+, the same in both$`, 'm'))
  }
  const target = await openStorage(registry, last, storageOptions)
  const [row] = await target.rows(employees, 77_776, 5)
  assert.equal(row, { ...Object.fromEntries(employees.fields.map(({ name }) => [name, null])), ...unusualRow })
  await target.close()
})

test('a target with rows is rejected', async () => {
  const { code, output } = await copy(first, middle)
  assert.is(code, 1)
  assert.match(output, /^--to already has rows/)
})

test('an invalid database URL is rejected', async () => {
  const { code, output } = await copy(first, 'mysql://nowhere')
  assert.is(code, 2)
  assert.match(output, /^--to is "mysql:\/\/nowhere", but it must be /)
})

test.run()
