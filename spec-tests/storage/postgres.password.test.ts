/** DATABASE_PASSWORD_FILE: the password is read again at each new connection, and is in no message. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../support/cleanup.js'
import { endSessions, freshUrl, roleOn, runOn } from '../support/database.js'
import { startAndFail, startProcess } from '../support/process.js'
import { until } from '../support/until.js'

const url = await freshUrl()
const { role, drop } = await roleOn(url)
await runOn(url, `grant all on schema public to ${role}`)
const address = Object.assign(new URL(url), { username: role, password: '' }).href
const file = join(temporaryFolder('password').path, 'password')
const settings = { DATABASE_URL: address, DATABASE_PASSWORD_FILE: file }

const test = suite('the password of PostgreSQL in a file')

test('a new password needs no restart', async () => {
  writeFileSync(file, 'of-a-role\n')
  const running = await startProcess(settings)
  assert.is((await running.get('/v1/departments')).status, 200)
  await runOn(url, `alter role ${role} password 'Another-Secret'`)
  writeFileSync(file, 'Another-Secret')
  await endSessions(url)
  await until(async () => (await running.get('/v1/departments?limit=1')).status === 200)
  assert.not.match(running.output(), /Secret|of-a-role/)
  await running.end('SIGTERM')
})

test('a wrong password, and a file that is missing, end a start with a message without it', async () => {
  writeFileSync(file, 'Wrong-Secret')
  const { output: wrong } = await startAndFail(settings)
  assert.match(wrong, /password authentication failed/)
  assert.not.match(wrong, /Secret/)
  const { output: missing } = await startAndFail({ ...settings, DATABASE_PASSWORD_FILE: 'Wrong-Secret' })
  assert.match(missing, /^(?!.*Secret).*a file that exists/s)
  await drop()
})

test.run()
