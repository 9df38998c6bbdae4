/** The copy of a database into another one, there and back. */
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
import { registry } from './support/service.js'

const { path: folder } = temporaryFolder('copy')
const [first, last] = ['first', 'last'].map((name) => `sqlite:${join(folder, `${name}.sqlite`)}`) as [string, string]
const between = await freshUrl()

/** Runs the copy; answers with its code and all it said. */
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
const strange = {
  id: 77_777,
  first_name: '\u0001"\\\u2028🙂',
  base_salary: 0.1 + 0.2,
  manager_id: 1,
  status: '',
  alumni: 2 ** 53 - 1,
  password_hash: 'kept, but never shown',
}

const test = suite('copying a database')

test('every row goes over as it is, there and back, ids and what is redacted included', async () => {
  const source = await openStorage(registry, first, storageOptions)
  await source.load(employees, [strange])
  await source.close()
  for (const [from, to] of [
    [first, between],
    [between, last],
  ] as const) {
    const { code, output } = await copy(from, to)
    assert.is(code, 0, output)
    for (const { path } of registry)
      assert.match(output, new RegExp(`^${path}: \\d+ rows \\w+, the same in both$`, 'm'))
  }
  const target = await openStorage(registry, last, storageOptions)
  const [row] = await target.rows(employees, 77_776, 5)
  assert.equal(row, { ...Object.fromEntries(employees.fields.map(({ name }) => [name, null])), ...strange })
  await target.close()
})

test('a target that has rows is left alone', async () => {
  const { code, output } = await copy(first, between)
  assert.is(code, 1)
  assert.match(output, /^--to already has rows/)
})

test('what is missing is told', async () => {
  const { code, output } = await copy(first, 'mysql://nowhere')
  assert.is(code, 2)
  assert.match(output, /^--to is "mysql:\/\/nowhere", but it must be /)
})

test.run()
