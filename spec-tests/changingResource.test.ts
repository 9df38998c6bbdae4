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

test.run()
