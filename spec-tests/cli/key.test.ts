/** The command `key`: adds a key to a file, and withdraws one. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { digestOf } from '../../engine/http/keys.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { callCommand } from '../support/callCommand.js'

const { path } = temporaryFolder('key')
const API_KEYS_FILE = join(path, 'keys.json')
const call = (...args: string[]) => callCommand('key', args, { API_KEYS_FILE })
const keys = () => JSON.parse(readFileSync(API_KEYS_FILE, 'utf8'))
const failure = (status: number, stderr: string) => ({ status, stdout: '', stderr: `${stderr}\n` })

const test = suite('key')

test('a key is printed once, and its digest is in the file', async () => {
  const { status, stdout } = await call(
    'ana',
    '--role',
    'hr',
    '--role',
    'hr',
    '--claim',
    'id=7',
    '--claim',
    'city=Kiel',
  )
  assert.is(status, 0)
  const sha256 = digestOf(stdout.trim())
  assert.equal(keys(), [{ name: 'ana', roles: ['hr'], claims: { id: 7, city: 'Kiel' }, sha256 }])
  const { stdout: second } = await call('ben', '--expires', '2027-01-01')
  assert.equal(keys()[1], { name: 'ben', roles: [], sha256: digestOf(second.trim()), expires: '2027-01-01' })
})

test('a name is given once', async () => {
  assert.equal(await call('ana', '--role', 'hr'), failure(1, 'There is a key with the name "ana" already.'))
  const reserved = 'A key cannot have the name API_TOKEN, which is that of the write token.'
  assert.equal(await call('API_TOKEN'), failure(1, reserved))
})

test('--remove withdraws a key and leaves the others', async () => {
  assert.equal(await call('ana', '--remove'), { status: 0, stdout: '', stderr: '' })
  assert.equal(
    keys().map(({ name }: { name: string }) => name),
    ['ben'],
  )
  assert.equal(await call('bn', '--remove'), failure(1, 'There is no key with the name "bn". Did you mean "ben"?'))
  assert.equal(
    await call('ben', '--remove', '--role', 'hr'),
    failure(2, '--remove withdraws a key; leave out --role, --claim and --expires.'),
  )
})

test('a file that is wrong is left as it is, and one that nobody names is an error', async () => {
  writeFileSync(API_KEYS_FILE, '[{')
  assert.equal(await call('eva'), failure(1, 'API_KEYS_FILE cannot be used: it is not valid JSON.'))
  assert.is(readFileSync(API_KEYS_FILE, 'utf8'), '[{')
  const unnamed = await callCommand('key', ['eva'], { API_KEYS_FILE: '' })
  assert.match(unnamed.stderr, /^API_KEYS_FILE is not set; /)
})

test.run()
