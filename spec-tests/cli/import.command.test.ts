/** `npm run import`: files of any format, all or none, with the line of every error. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { openStorage } from '../../engine/storage/open.js'
import { buildWith } from '../../support/buildWith.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { storageOptions } from '../../support/storageOptions.js'
import { callCommand } from '../support/callCommand.js'
import { freshUrl, server } from '../support/database.js'
import { inOffice, office } from '../support/office.js'
import { officeFile, seeds } from '../support/officeFiles.js'
import { resourceIn } from '../support/registryFrom.js'

const command = officeFile('cli/import.js')
const { path: folder } = temporaryFolder('import')
const DATABASE_URL = server ? await freshUrl() : `sqlite:${join(folder, 'rows.sqlite')}`
await (await openStorage(office, DATABASE_URL, storageOptions)).close()

const fileWith = (name: string, text: string): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
const run = (...args: string[]) => callCommand(command, args, { DATABASE_URL })
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

test('rows refer to rows of any part of the file', async () => {
  const descriptors = join(folder, 'descriptors')
  mkdirSync(descriptors)
  const descriptor = `import { defineResource, text } from '../engine/descriptor/index.js'
    const fields = { title: text(), parent_id: text({ references: 'categories' }) }
    export default defineResource({
      name: 'Category', area: 'Test', table: 'categories', id: 'text', fields, required: [], create: true,
    })`
  writeFileSync(join(descriptors, 'categories.js'), descriptor)
  const own = join(buildWith([descriptors], seeds), 'cli', 'import.js')
  const url = server ? await freshUrl() : `sqlite:${join(folder, 'tree.sqlite')}`
  const tree = resourceIn(
    'categories',
    { title: text(), parent_id: text({ references: 'categories' }) },
    { id: 'text' },
  )
  await (await openStorage([tree], url, storageOptions)).close()
  const rows = Array.from({ length: 12_000 }, (_, n) => `c${n},${'x'.repeat(150)},c${(n + 1) % 12_000}\n`).join('')
  const header = 'id,title,parent_id\n'
  const missing = await callCommand(own, ['categories', fileWith('missing.csv', `${header}${rows}d,,e\n`)], {
    DATABASE_URL: url,
  })
  assert.match(missing.stderr, /1 error:\n {2}line 12002: parent_id must reference/)
  const { stdout, stderr } = await callCommand(own, ['categories', fileWith('tree.csv', header + rows)], {
    DATABASE_URL: url,
  })
  assert.is(stdout, 'Stored categories: 12000 created, 0 changed, 0 unchanged.\n', stderr)
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
    spawn(process.execPath, [command, ...args], {
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
