/** docs/changing-a-resource.md: every command is run in a copy of the project, and prints what the page shows. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callCommand } from '../support/callCommand.js'
import { commandsIn, readPage } from '../support/consolePage.js'
import { projectCopy } from '../support/projectCopy.js'

const shown = commandsIn(readPage('changing-a-resource.md'))
const project = projectCopy({ isDeployed: true })

const test = suite('docs/changing-a-resource.md')

test('a database with the demo data, and a page with commands', async () => {
  assert.ok(shown.length > 8)
  const { status, output } = await project.run('npm run seed -- --demo leave')
  assert.is(status, 0, output)
})

for (const [index, { command, output }] of shown.entries()) {
  test(`${index + 1}. $ ${command}`, async () => {
    const actual = (await project.run(command)).output.replace(/^backup: .*\n/m, '').trim()
    // The time of a copy, and digests of expressions.
    const stable = (text: string) =>
      text.replace(/before-\w+/, 'before-TIME').replaceAll(/_(json|long)_\w{8}\b/g, '_$1_DIGEST')
    assert.is(stable(actual), stable(output))
  })
}

test('npm run check -- --database reports the same, and npm run plan as JSON and SQL', async () => {
  const check = await project.run('npm run check -- --database --json')
  assert.is(check.status, 1)
  const messages = (JSON.parse(check.output) as { file: string; message: string }[])
    .filter(({ file }) => file === 'resources/leave.ts')
    .map(({ message }) => message)
  assert.match(messages.join('\n'), /column "days": .*\n.*column "comment": .*\n.*\(from_date\) is unique/)
  const plan = JSON.parse((await project.run('npm run plan -- --json')).output) as {
    differences: { column?: string }[]
  }
  const found = plan.differences.map(({ column }) => column)
  assert.equal(found, ['days', 'comment', undefined])
  assert.is((await project.run('npm run plan -- --check')).status, 1)
  assert.match((await project.run('DATABASE_URL=sqlite:data/new.sqlite npm run plan -- --sql')).output, /create table/)
})

/** Approvals that are refused before a database is opened. */
const wrong: [approvals: string[], message: RegExp][] = [
  [['drop'], /"drop" names no table/],
  [
    ['remove:leave_requests.days'],
    /must begin with one of add:, create:, descriptors:, drop:, fill:, rename:, retarget:, retype:/,
  ],
  [[','], /--apply has an empty entry/],
  [['drop:leave_requests.days', '--apply', 'drop:leave_requests.nothing'], /--apply is given twice; give it once/],
]
for (const [approvals, message] of wrong) {
  test(`--apply ${approvals.join(' ')} is refused`, async () => {
    const { status, stderr } = await callCommand('migrate', ['--apply', ...approvals])
    assert.match(stderr, message)
    assert.is(status, 2)
  })
}

test('only an approval that changes something makes a copy of the database, which replaces an unfinished one', async () => {
  const leave = project.read('resources/leave.ts')
  project.write(
    'resources/leave.ts',
    leave
      .replace(/ {4}days: .*\n/, '')
      .replace(", 'comment'", '')
      .replace(', unique: true', ''),
  )
  const files = () => readdirSync(join(project.path, 'data')).filter((name) => name.includes('.before-'))
  project.write('data/workforce.sqlite.before-20200101T000000Z.unfinished', '')
  project.write('data/workforce.sqlite.before-20200101T000000Z.unfinished-journal', '')
  const before = files()
  const ended = await project.run('npm run migrate -- --apply drop:leave_requests.days,drop:leave_requests.nothing')
  assert.match(ended.output, /^There is nothing to do for drop:leave_requests\.nothing; npm run plan lists/m)
  assert.is(ended.status, 1)
  assert.equal(files(), before)
  const { status, output } = await project.run('npm run migrate -- --apply drop:leave_requests.days')
  assert.is(status, 0, output)
  assert.match(output, /Removed \S+\.unfinished, which an interrupted backup had left\./)
  assert.is(files().length, before.length - 1)
  assert.not.ok(files().some((name) => name.includes('unfinished')))
})

test.run()
