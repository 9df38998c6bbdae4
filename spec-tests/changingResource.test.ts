/** docs/changing-a-resource.md: every command is run in a copy of the project, and prints what the page shows. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { commandsIn, readPage } from './support/consolePage.js'
import { projectCopy } from './support/projectCopy.js'

const shown = commandsIn(readPage('changing-a-resource.md'))
const project = projectCopy()

const test = suite('docs/changing-a-resource.md')

test('the page shows commands', () => {
  assert.ok(shown.length > 8)
})

test('a database with the demo data', async () => {
  const { status, output } = await project.run('npm run seed -- --demo leave')
  assert.is(status, 0, output)
})

for (const [index, { command, output }] of shown.entries()) {
  test(`${index + 1}. $ ${command}`, async () => {
    const actual = (await project.run(command)).output.replace(/^backup .*\n/m, '').trim()
    assert.is(actual.replace(/before-\w+/, 'before-20261115T120000Z'), output)
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
  assert.equal(
    plan.differences.map(({ column }) => column),
    ['days', 'comment', undefined],
  )
  assert.is((await project.run('npm run plan -- --check')).status, 1)
  assert.match((await project.run('DATABASE_URL=sqlite:data/new.sqlite npm run plan -- --sql')).output, /create table/)
  assert.is((await project.run('npm run migrate -- --apply drop:leave_requests.nothing')).status, 1)
})

test.run()
