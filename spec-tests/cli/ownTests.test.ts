/** A project's own tests: `resource-registry test` runs them after those that follow from its resources, and none passes silently. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { main } from '../../support/root.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { runOn, server } from '../support/database.js'

const folder = temporaryProject()
const write = (file: string, source: string) => writeFileSync(join(folder, file), source)
for (const name of ['resources', 'seeds', 'tests']) mkdirSync(join(folder, name))
write(
  'resources/notes.ts',
  `import { claim, defineResource, text } from 'resource-registry-engine'
export default defineResource({
  name: 'Note', area: 'Notes', about: 'A note.', table: 'notes',
  fields: { owner: text({ filter: true }) },
  required: [], create: false,
  access: { read: ['clerk', { owner: claim('owner') }] },
})
`,
)
write('seeds/notes.json', '[{ "id": 1, "owner": "ana" }, { "id": 2, "owner": "bo" }]')
// A table of another program, which a new database does not have.
write(
  'resources/rooms.ts',
  `import { defineResource, text } from 'resource-registry-engine'
export default defineResource({
  name: 'Room', area: 'Notes', about: 'A room.', table: 'building.rooms', existing: true, idColumn: 'room_no',
  fields: { name: text({ column: 'room_name' }) },
  required: [], create: false,
})
`,
)

const imports = `import { assert, startTestService, test } from 'resource-registry-engine/testing'\n`
write(
  'tests/callers.test.ts',
  `${imports}import { list } from './requests.ts'
const service = await startTestService()
const other = await startTestService()
const totals = async (from: typeof service): Promise<number> => ((await (await from.fetch(list())).json()) as { meta: { total: number } }).meta.total

test('nobody reads', async () => assert.is((await service.fetch(list())).status, 401))
test('a role', async () => assert.is(await totals(service.as({ name: 'cy', roles: ['clerk'] })), 2))
test('a claim', async () => assert.is(await totals(service.as({ name: 'ana', claims: { owner: 'ana' } })), 1))
test('neither', async () => assert.is((await service.as({ name: 'dan' }).fetch(list())).status, 403))
test('API_TOKEN', async () => assert.is(await totals(service.as('API_TOKEN')), 2))
test('a table of another program is there', async () =>
  assert.is((await service.fetch(new Request('http://localhost/api/v1/rooms'))).status, 200))
test('another caller is refused', () => assert.throws(() => service.as('ana' as never), /as\\(\\{ name: 'ana'/))
test('a closed service is gone, another stays', async () => {
  await other.close()
  assert.match(await other.fetch(list()).catch((error: Error) => error.message), /closed/)
  assert.is(await totals(service.as('API_TOKEN')), 2)
})
test.skip('later', () => {})
test.run()
`,
)
write('tests/requests.ts', `export const list = (): Request => new Request('http://localhost/api/v1/notes')\n`)
write(
  'tests/failing.test.ts',
  `${imports}test('sums', () => assert.is(1 + 1, 3))\ntest('forgot run()', () => assert.ok(true))\n`,
)
write('tests/throwing.test.ts', `${imports}test('never runs', () => {})\nthrow new Error('no such file')\n`)
write(
  'tests/hook.test.ts',
  `${imports}test.before(() => { throw new Error('before all') })\ntest('needs it', () => {})\ntest.run()\n`,
)
write('tests/empty.test.ts', imports)
write(
  'tests/waiting.test.ts',
  `${imports}test('quick', () => {})\ntest('waits', () => new Promise<void>(() => { setInterval(() => {}, 1_000) }))\n`,
)
write('tests/looping.test.ts', `${imports}await startTestService()\ntest('loops', () => { for (;;); })\n`)
write('tests/unhandled.test.ts', `${imports}test('not awaited', () => void Promise.reject(new Error('lost')))\n`)
write('tests/leaving.test.ts', `${imports}test('leaves', () => process.exit(0))\n`)
write('tests/other.spec.ts', imports)

const run = async (...args: string[]) => {
  const child = spawn(process.execPath, [main, 'test', ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], output, warnings] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { code: code as number | null, output, warnings, pid: child.pid }
}

const { code, output, warnings, pid } = await run('--timeout', '15')
assert.ok(output.includes('passed'), warnings)
const part = (name: string) =>
  output.slice(output.indexOf(`\ntests/${name}.test.ts\n`)).split('  Seconds: ')[0] as string

const test = suite('own tests')

const expected: [file: string, pattern: RegExp][] = [
  ['callers', /\(8 \/ 8\)/],
  ['failing', /\(1 \/ 2\)[\s\S]*FAIL[\s\S]*"sums"/],
  [
    'throwing',
    /Error: no such file[\s\S]*tests\/throwing\.test\.ts ended with exit code 1, before all of its tests had run\./,
  ],
  ['hook', /Error: before all[\s\S]*\(0 \/ 1\)/],
  ['empty', /tests\/empty\.test\.ts has no tests; write test\(/],
  ['waiting', /tests\/waiting\.test\.ts was stopped after 15 seconds in "waits", before/],
  ['looping', /tests\/looping\.test\.ts was stopped after 15 seconds in "loops", before/],
  ['unhandled', /Error: lost[\s\S]*ended with exit code 1 in "not awaited", before/],
  ['leaving', /tests\/leaving\.test\.ts ended with exit code 0 in "leaves", before/],
]
for (const [file, pattern] of expected) test(`${file}.test.ts`, () => assert.ok(pattern.test(part(file)), part(file)))

test('they run after the others, and count with them', () => {
  assert.ok(output.lastIndexOf('\nlist.test.js\n') < output.indexOf('\ntests/'))
  const [, failures] = /\nFailed: (.*)\n/.exec(output) ?? []
  assert.equal(
    failures?.split(', ').sort(),
    expected
      .slice(1)
      .map(([file]) => `tests/${file}.test.ts`)
      .sort(),
  )
  assert.match(output, /\n\d\d+ passed, 8 failed, 1 skipped\n$/)
  assert.is(code, 1)
})

test('a file that looks like a test is named', () => {
  assert.match(
    warnings,
    /^tests\/other\.spec\.ts is not run: a test file is in tests\/ itself, and its name ends with \.test\.ts\.$/m,
  )
})

if (server)
  test('their databases are dropped', async () => {
    const names = await runOn(server as string, 'select datname from pg_database where starts_with(datname, $1)', [
      `registry_test_${pid}_`,
    ])
    assert.equal(names, [])
  })

test('--resource runs what follows from one resource alone', async () => {
  const only = await run('--resource', 'rooms')
  assert.is(only.code, 0, only.output)
  assert.not.match(only.output, /tests\/|notes/)
})

test.run()
