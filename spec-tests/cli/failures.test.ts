/** Every command on a database or a file that cannot be used: it prints a sentence, no error of a driver, and ends with 1. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { callCommand } from '../support/callCommand.js'
import { freshUrl, server, whileLockedIn } from '../support/database.js'

const { path: folder } = temporaryFolder('failures')
const rows = join(folder, 'departments.csv')
writeFileSync(rows, 'name\nLegal\n')

/** The commands that use the database of DATABASE_URL: those that only read it, and those that write. */
const reading = [
  'plan',
  'check --database',
  'introspect URL --table nothing',
  `copy --from URL --to sqlite:${folder}/COPY`,
]
const writing = ['seed --rows 5 --resource leave', 'seed --demo leave', `import departments ${rows}`]
const all = ['migrate', ...reading, ...writing, ...(server ? [] : [`backup ${folder}/COPY`])]

let calls = 0
const call = (command: string, url: string) => {
  const words = command.replaceAll('URL', url).replaceAll('COPY', `copy-${++calls}.sqlite`).split(' ')
  const limits = { POOL_WAIT_MS: '500', READ_TIMEOUT_MS: '500' }
  return callCommand(words[0] as string, words.slice(1), { DATABASE_URL: url, ...limits })
}

/** Fails unless the command has ended with a sentence that says why. */
const assertSentence = async (command: string, url: string, reason: RegExp): Promise<void> => {
  const { status, stdout, stderr } = await call(command, url)
  assert.is(status, 1, `${command}: ${stdout}${stderr}`)
  assert.match(stderr, reason, command)
  assert.match(stderr, /^[A-Z-].*\n$/m, command)
  assert.not.match(stderr, /^\s+at |\[(?:Symbol|cause)|^\w*Error:|\{$/m, command)
}

const setUp = async (): Promise<string> => {
  const url = await freshUrl()
  if (!server) new Database(url.slice('sqlite:'.length)).exec('vacuum').close()
  assert.is((await call('migrate', url)).status, 0)
  return url
}

const test = suite('failures of commands')

const address = (change: object) => Object.assign(new URL(server ?? 'postgres://x'), change).href
const unusable: [what: string, url: string, reason: RegExp][] = server
  ? [
      ['a server that is down', address({ port: '1' }), /ECONNREFUSED/],
      ['a wrong password', address({ username: 'nobody', password: 'x' }), /authentication failed|does not exist/],
      ['a database that does not exist', address({ pathname: '/nothing' }), /database "nothing" does not exist/],
    ]
  : [
      ['a file that is no database', `sqlite:${rows}`, /not an SQLite database|not a database/],
      ['a folder', `sqlite:${folder}`, /it is a folder|no such file/],
    ]
for (const [what, url, reason] of unusable)
  for (const command of all)
    test(`${what}: ${command.replaceAll(folder, '…')}`, () => assertSentence(command, url, reason))

test('a database that another program has locked', async () => {
  const url = await setUp()
  assert.is((await call('seed --demo leave', url)).status, 0)
  const commands = writing.filter((command) => !command.includes('--demo'))
  const lock = { leave_requests: 'seed', departments: 'import' }
  for (const [table, name] of Object.entries(lock)) {
    const command = commands.find((one) => one.startsWith(name)) as string
    const run = () => assertSentence(command, url, /Another program holds a lock|database is locked/)
    if (server) await whileLockedIn(url, `${table} in exclusive mode`, run)
    else {
      const other = new Database(url.slice('sqlite:'.length))
      other.exec('begin immediate')
      await run()
      other.close()
    }
  }
})

test('a file that is missing is reported before the database is opened', async () => {
  const url = server ? address({ port: '1' }) : `sqlite:${join(folder, 'new.sqlite')}`
  await assertSentence(`import departments ${join(folder, 'late.csv')}`, url, /^There is no file .*late\.csv\.$/m)
  if (!server) await assertSentence(`backup ${folder}/COPY`, url, /there is no such file\.$/m)
})

test.run()
