/** The scripts of package.json: each supports --help, rejects unknown options in one line, and leaves no files behind. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadRegistry } from '../../engine/descriptor/load.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { root } from '../../support/root.js'
import { callCommand, callModule } from '../support/callCommand.js'

const build = dirname(dirname(import.meta.dirname))
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

const { path: folder } = temporaryFolder('commands')
// Run by root, PostgreSQL runs as another user and must be able to enter.
chmodSync(folder, 0o755)
const environment = { ...process.env, DATABASE_URL: `sqlite:${join(folder, 'untouched.sqlite')}` }

/** Runs a script as npm does. */
const run = async (name: string, args: string) => {
  const child = spawn('sh', ['-c', `${scripts[name]} ${args}`], { cwd: root, env: environment })
  const [ended, stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { status: ended[0] as number | null, stdout, stderr }
}

/** What each script runs: a command of the package, in the office, or a compiled module. */
const targets = new Map(
  Object.entries(scripts).flatMap(([name, script]) => {
    const [, target] = /scripts\/run\.mjs (\S+)$/.exec(script) ?? []
    return target === undefined ? [] : [[name, target]]
  }),
)
const call = (name: string, args: string, variables: NodeJS.ProcessEnv = environment) => {
  const target = targets.get(name) as string
  const given = args.split(' ').filter(Boolean)
  return target.includes('/')
    ? callModule(join(build, `${target}.js`), given, variables)
    : callCommand(target, given, variables)
}

const test = suite('commands')

const started = ['build', 'seed']
test('package.json has scripts', () => assert.ok(targets.size > 15))

for (const [name, how] of [
  ...[...targets.keys()].map((name) => [name, call] as const),
  // The scripts without a module, and one with it.
  ...started.map((name) => [name, run] as const),
]) {
  test(`${name} supports --help and rejects an unknown option, without doing anything else`, async () => {
    const [help, typo] = [await how(name, '--help'), await how(name, '--hepl')]
    assert.is(help.status, 0, help.stderr)
    assert.match(help.stdout, new RegExp(`^Usage: npm (?:run )?${name}\\b`))
    assert.match(help.stdout, /\nExample: \S/)
    assert.is(help.stderr, '')
    assert.equal(typo, { status: 2, stdout: '', stderr: 'Unknown option --hepl. Did you mean --help?\n' })
    assert.equal(readdirSync(folder), [])
  })
}

for (const [name, ...args] of [['check'], ['test', 'structure']]) {
  test(`${name} ends quietly, with its own code, if nobody reads its output`, async () => {
    const target = targets.get(name as string) as string
    const script = target.includes('/') ? [`${target}.js`] : ['cli/main.js', target]
    const child = spawn(process.execPath, [join(build, script[0] as string), ...script.slice(1), ...args], {
      cwd: root,
      env: environment,
    })
    child.stdout.destroy()
    const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)])
    assert.equal([code, stderr], [0, ''])
  })
}

const [deployed] = await loadRegistry(root)
const [missing, empty, target] = ['missing', 'empty', 'target'].map((name) => `sqlite:${join(folder, name)}`)
const unknown = (name: string, like?: string) => `is "${name}", which is not a resource. Did you mean "${like}"?`
const rejected: [name: string, args: string, status: number, message: string][] = [
  ['seed', '', 2, '--rows is missing. See --help.'],
  ['seed', '--rows 5 --resource employes', 2, `--resource ${unknown('employes', 'employees')}`],
  ['seed', '--demo employes', 2, `--demo ${unknown('employes', 'employees')}`],
  ['seed', '--demo employees --rows 5', 2, '--demo loads the demo rows as they are; leave out --rows and --resource.'],
  ['new', '', 2, 'PATH is missing. See --help.'],
  ['contract', 'docs', 2, 'Unexpected argument "docs". See --help.'],
  ['test', 'serch', 2, 'No test file has "serch" in its name. Did you mean search?'],
  ['test', 'search lsit', 2, 'No test file has "lsit" in its name. Did you mean list?'],
  ['test', `--resource ${deployed?.path}x`, 2, `--resource ${unknown(`${deployed?.path}x`, deployed?.path)}`],
  ['test:postgres', 'serch', 2, 'No test file has "serch" in its name. Did you mean search?'],
  ['start', '--prot 4000', 2, 'Unknown option --prot. Settings are environment variables: PORT=… npm start'],
  ['backup', '', 2, 'FILE is missing. See --help.'],
  ['backup', '-- -x', 2, 'FILE is "-x", but it must not begin with "-".'],
  ['copy', '--from sqlite:a --to sqlite:-y', 2, '--to is sqlite:-y, but a path must not begin with "-".'],
  ['copy', '--from sqlite:a --to sqlite:./a', 2, '--from and --to are the same database.'],
  [
    'copy',
    `--from sqlite::memory: --to ${target}`,
    2,
    '--from is sqlite::memory:, which is empty before and after the copy; use a file.',
  ],
  ['copy', `--from ${missing} --to ${target}`, 1, `--from is ${missing}, but there is no such file.`],
  ['copy', `--from ${empty} --to ${target}`, 1, `--from is ${empty}, but that file is empty.`],
]
for (const [name, args, status, message] of rejected) {
  test(`${name} ${args.replaceAll(folder, '…')} is rejected, and no file is created`, async () => {
    writeFileSync(join(folder, 'empty'), '')
    assert.equal(await call(name, args), { status, stdout: '', stderr: `${message}\n` })
    assert.equal(readdirSync(folder), ['empty'])
    assert.is(readFileSync(join(folder, 'empty'), 'utf8'), '')
  })
}

const file = join(folder, 'migrated.sqlite')
const migrate = (args = '', url = `sqlite:${file}`) => call('migrate', args, { DATABASE_URL: url })
const match = /^The stored counts of all \d+ tables match/m

test('migrate creates no file', async () => {
  const advice = `There is no database file ${file}; npm start creates it. Check DATABASE_URL.\n`
  assert.equal(await migrate(), { status: 1, stdout: '', stderr: advice })
  assert.not.ok(existsSync(file))
  assert.is((await migrate('', 'sqlite::memory:')).status, 1)
})

test('migrate sets a database up', async () => {
  writeFileSync(file, '')
  const first = await migrate()
  assert.is(first.status, 0)
  assert.match(first.stderr, /^A service that runs on this database answers 503 for each table that no longer fits/)
  assert.match(first.stdout, /^Database: sqlite:\S+migrated\.sqlite\nDone: .*^Done: create the table employees\.$/ms)
  assert.match(first.stdout, match)
})

test('migrate does nothing the second time', async () => {
  const second = await migrate()
  assert.match(second.stdout, /^The database is up to date\.$/m)
  assert.is(second.stderr, '')
})

test('migrate counts again on request', async () => {
  const other = new Database(file)
  other.exec(`update registry_tables set rows = 7 where name = 'employees'`)
  other.close()
  const drifted = await migrate()
  assert.is(drifted.status, 1)
  assert.match(drifted.stdout, /^The stored counts of the table "employees" differed from its rows\.$/m)
  assert.is(drifted.stderr, 'Some counts are wrong: run npm run migrate -- --recount.\n')
  const counted = await migrate('--recount')
  assert.is(counted.status, 0)
  assert.match(counted.stdout, /differed from its rows; counted again\.$/m)
  assert.match((await migrate()).stdout, match)
})

/** Starts a script with its own temporary folder, interrupts it once it has files there, and returns the remaining files. */
const filesAfterInterrupt = async (name: string, args: string, signal: NodeJS.Signals): Promise<string[]> => {
  const temporary = join(folder, `tmp-${name}-${signal}`)
  mkdirSync(temporary)
  const env: NodeJS.ProcessEnv = { ...environment, TMPDIR: temporary }
  delete env['TEST_DATABASE_URL']
  const child = spawn('sh', ['-c', `exec ${scripts[name]} ${args}`], { cwd: root, stdio: 'ignore', env })
  const ended = once(child, 'exit')
  const files = () => readdirSync(temporary, { recursive: true })
  while (files().length < 4 && child.exitCode === null) await setTimeout(20)
  assert.is(child.exitCode, null, 'the script ended before the signal')
  child.kill(signal)
  const [code] = await ended
  assert.is.not(code, 0)
  return readdirSync(temporary)
}

for (const [name, args, signal] of [
  ['torture', '--rounds 1000', 'SIGINT'],
  ['fuzz', '--cases 1000000', 'SIGTERM'],
  ['test', 'faults', 'SIGTERM'],
  ['test:postgres', 'outage', 'SIGTERM'],
] as const) {
  test(`${name} removes its temporary files on ${signal}`, async () => {
    assert.equal(await filesAfterInterrupt(name, args, signal), [])
  })
}

test.run()
