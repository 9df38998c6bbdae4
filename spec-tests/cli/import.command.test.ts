/** `npm run import`: files of any format, all or none, with the line of every error. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readPieces } from '../../cli/import/pieces.js'
import { integer, text } from '../../engine/descriptor/index.js'
import { openStorage } from '../../engine/storage/open.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { main } from '../../support/root.js'
import { storageOptions } from '../../support/storageOptions.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { callCommand } from '../support/callCommand.js'
import { freshUrl, server, sharedDatabase } from '../support/database.js'
import { inOffice, office } from '../support/office.js'
import { officeFolder } from '../support/officeFiles.js'
import { resourceIn } from '../support/registryFrom.js'

const { path: folder } = temporaryFolder('import')
const DATABASE_URL = server ? await freshUrl() : `sqlite:${join(folder, 'rows.sqlite')}`
await (await openStorage(office, DATABASE_URL, storageOptions)).close()

const fileWith = (name: string, text: string): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
const run = (...args: string[]) => callCommand('import', args, { DATABASE_URL })
const totalOf = async (path: string): Promise<number> => {
  const storage = await openStorage(office, DATABASE_URL, { ...storageOptions, demo: false })
  const total = (await storage.counts()).get(inOffice(path)) as number
  await storage.close()
  return total
}

const test = suite('npm run import')

test('CSV, NDJSON and JSON are stored', async () => {
  const before = await totalOf('leave')
  const files = [
    fileWith('a.csv', 'leave_type,days\nAnnual,1\n"Sick,\nor so",2.5\n'),
    fileWith('b.ndjson', '{"leave_type":"Annual"}\n\n{"leave_type":"Sick","days":1}\n'),
    fileWith('c.json', '[{"leave_type":"Annual"},{"leave_type":"Sick"}]'),
  ]
  for (const file of files) {
    const { status, stdout, stderr } = await run('leave', file)
    assert.is(status, 0, stderr)
    assert.is(stdout, 'Stored leave: 2 created, 0 changed, 0 unchanged.\n')
  }
  assert.is(await totalOf('leave'), before + 6)
})

test('every error has its line, and nothing is stored', async () => {
  const before = await totalOf('leave')
  const file = fileWith('wrong.csv', 'employee_id,leave_type,days\n1,Annual,1\n999999,Sick,x\n1,,1\n1,"a",2,3\n')
  const { status, stderr } = await run('leave', file)
  assert.is(status, 1)
  for (const line of [
    'Nothing was stored. 4 errors:',
    '  line 3: days must',
    '  line 3: employee_id must',
    '  line 4: leave_type is',
    '  line 5: The row has 4 cells',
  ])
    assert.ok(stderr.includes(line), stderr)
  assert.is(await totalOf('leave'), before)
})

test('values must be unique in the whole file, which is read in pieces', async () => {
  const before = await totalOf('organizations')
  const rows = Array.from({ length: 12_000 }, (_, n) => ({ name: 'x'.repeat(150), slug: `slug-${n}` }))
  const lines = (all: readonly object[]) => all.map((row) => `${JSON.stringify(row)}\n`).join('')
  const twice = await run('organizations', fileWith('twice.ndjson', lines([...rows, { name: 'y', slug: 'slug-3' }])))
  assert.is(twice.status, 1)
  assert.match(twice.stderr, /line 12001: slug must be unique/)
  assert.is(await totalOf('organizations'), before)
  const stored = await run('organizations', fileWith('once.ndjson', lines(rows)))
  assert.is(stored.stdout, 'Stored organizations: 12000 created, 0 changed, 0 unchanged.\n', stored.stderr)
  assert.is(await totalOf('organizations'), before + 12_000)
})

test('a JSON array is read in pieces', async () => {
  const before = await totalOf('leave')
  const rows = Array.from({ length: 20_000 }, (_, n) => ({
    leave_type: 'A',
    reason: `],[{"\\ ${'x'.repeat(100)}`,
    days: n,
  }))
  const file = fileWith('array.json', `  ${JSON.stringify(rows, null, 1)}\n`)
  const pieces: Buffer[] = []
  for await (const piece of readPieces(file, 'application/json')) pieces.push(piece)
  assert.ok(pieces.length > 2 && pieces.every(({ length }) => length < 1_200_000), String(pieces.length))
  assert.equal(
    pieces.flatMap((piece) => JSON.parse(String(piece))),
    rows,
  )
  const wrong = await run(
    'leave',
    fileWith('wrong.json', JSON.stringify(rows.with(-1, { leave_type: 'A', reason: '', days: NaN, x: 1 } as never))),
  )
  assert.match(wrong.stderr, /1 error:\n {2}row 20000: Unknown property "x"/)
  const comma = await run('leave', fileWith('comma.json', `${JSON.stringify(rows).slice(0, -1)},]`))
  assert.match(comma.stderr, /1 error:\n {2}row 20001: The row is not valid JSON/)
  assert.is(await totalOf('leave'), before)
})

const visitFields = `update: true, fields: {
  code: text({ unique: true }),
  state: text({ oneOf: ['planned', 'done'], next: { planned: ['done'] }, start: ['planned'] }),
  level: integer({ writeBy: 'chief', default: 1 }),
}, access: { read: 'public', create: 'clerk', update: 'clerk' }`

/** A tree, and a table of another program, which the office has not. */
const openTree = async () => {
  const project = temporaryProject()
  mkdirSync(join(project, 'resources'))
  const describe = (name: string, more: string) =>
    writeFileSync(
      join(project, 'resources', `${name}.ts`),
      `import { defineResource, integer, text } from 'resource-registry-engine'
      export default defineResource({ name: '${name}', area: 'Test', table: '${name}', required: [], create: true, ${more} })`,
    )
  describe('parts', `id: 'text', fields: { title: text(), whole: text({ references: 'parts' }) }`)
  describe('visits', visitFields)
  describe('checked', `existing: true, fields: { n: integer() }`)
  const { url, run: execute } = await sharedDatabase()
  const key = server ? 'integer generated by default as identity primary key' : 'integer primary key not null'
  const parts = resourceIn('parts', { title: text(), whole: text({ references: 'parts' }) }, { id: 'text' })
  const fields = { code: text({ unique: true }), state: text(), level: integer({ default: 1 }) }
  const visits = resourceIn('visits', fields)
  await (await openStorage([parts, visits], url, storageOptions)).close()
  await execute(`create table checked (id ${key}, n integer constraint positive check (n >= 0))`)
  return (resource: string, rows: string) =>
    callCommand('import', [resource, fileWith(`${resource}.csv`, rows)], { DATABASE_URL: url }, project)
}
const runInTree = await openTree()

test('an operator brings rows in every state, and sets every field', async () => {
  const { stdout, stderr } = await runInTree('visits', 'code,state,level\na,done,2\nb,planned,\nc,,3\n')
  assert.is(stdout, 'Stored visits: 3 created, 0 changed, 0 unchanged.\n', stderr)
  const wrong = await runInTree('visits', 'code,state\nd,gone\n')
  assert.match(wrong.stderr, /line 2: state must be one of "planned", "done"/)
})

test('rows refer to rows of any part of the file', async () => {
  const rows = Array.from({ length: 12_000 }, (_, n) => `c${n},${'x'.repeat(150)},c${(n + 1) % 12_000}\n`).join('')
  const missing = await runInTree('parts', `id,title,whole\n${rows}d,,e\n`)
  assert.match(missing.stderr, /1 error:\n {2}line 12002: whole must reference/)
  const { stdout, stderr } = await runInTree('parts', `id,title,whole\n${rows}`)
  assert.is(stdout, 'Stored parts: 12000 created, 0 changed, 0 unchanged.\n', stderr)
})

test('a row that a constraint refuses has its line', async () => {
  const rows = Array.from({ length: 100_000 }, (_, n) => (n === 99_000 ? -1 : 1_000_000_000 + n))
  const { status, stderr } = await runInTree('checked', `n\n${rows.join('\n')}\n`)
  assert.is(status, 1)
  assert.match(stderr, /Nothing was stored\. 1 error:\n {2}line 99002: The database refuses the row: .*positive/)
})

test('a dry run stores nothing; a wrong argument is reported in one line', async () => {
  const before = await totalOf('departments')
  const file = fileWith('d.csv', 'name\nA\nB\n')
  const dry = await run('departments', file, '--dry-run')
  assert.is(dry.stdout, 'Nothing was stored. It would be: 2 created, 0 changed, 0 unchanged.\n', dry.stderr)
  assert.is(await totalOf('departments'), before)
  for (const [args, message] of [
    [['departmnts', file], 'RESOURCE is "departmnts", which is not a resource. Did you mean "departments"?'],
    [['departments', join(folder, 'none.csv')], `There is no file ${join(folder, 'none.csv')}.`],
    [['departments', file, '--type', 'xml'], '--type is "xml", but it must be csv, ndjson or json.'],
    [['departments', file, '--match', 'name'], '--match needs update: true in departments.ts.'],
  ] as const)
    assert.is((await run(...args)).stderr, `${message}\n`)
})

test('standard input is read, and a command that is killed has stored nothing', async () => {
  const before = await totalOf('departments')
  const start = (...args: string[]) =>
    spawn(process.execPath, [main, 'import', ...args], {
      cwd: officeFolder,
      env: { ...process.env, DATABASE_URL },
      stdio: ['pipe', 'ignore', 'inherit'],
    })
  const piped = start('departments', '--type', 'csv')
  piped.stdin.end('name\nFrom standard input\n')
  assert.equal(await once(piped, 'close'), [0, null])
  assert.is(await totalOf('departments'), before + 1)
  const many = fileWith('many.csv', `name\n${Array.from({ length: 60_000 }, (_, n) => `Many ${n}`).join('\n')}\n`)
  const killed = start('departments', many)
  await setTimeout(2_500)
  killed.kill('SIGKILL')
  await once(killed, 'close')
  const after = await totalOf('departments')
  assert.ok(after === before + 1 || after === before + 60_001, String(after))
})

test.run()
