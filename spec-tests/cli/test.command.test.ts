/** `resource-registry test` of projects whose samples are hard to find: what is skipped, and what a failure says. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryProject } from '../../support/temporaryProject.js'

const folder = temporaryProject()
mkdirSync(join(folder, 'resources'))
mkdirSync(join(folder, 'seeds'))
writeFileSync(
  join(folder, 'resources', 'riddles.ts'),
  `import { defineResource, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Riddle',
  area: 'Games',
  table: 'riddles',
  fields: { question: text(), answer: text() },
  required: ['question', 'answer'],
  create: true,
  rules: [{ fields: ['question', 'answer'], holds: ({ answer }) => answer === 'forty-two', message: 'answer must be right' }],
})
`,
)

/** The command in its own process, without the resources that this run of tests adds. */
const runTest = () =>
  spawnSync(process.execPath, [join(import.meta.dirname, '..', '..', 'cli', 'main.js'), 'test'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, TEST_SINK: undefined, TEST_RESOURCE: undefined },
  })

const test = suite('the command test')

test('what has no sample is skipped, with what would help', () => {
  const { status, stdout } = runTest()
  assert.is(status, 0, stdout)
  const help = 'no sample keeps the rule "answer must be right" of riddles: add a demo row to seeds/riddles.json'
  assert.match(stdout, new RegExp(`Skipped: create riddles, \\d+ tests: ${help}\n`))
  assert.match(stdout, /\n\d+ passed, 0 failed, \d+ skipped\n$/)
})

test('a demo row has the creates tested', () => {
  writeFileSync(
    join(folder, 'seeds', 'riddles.json'),
    '[{ "id": 1, "question": "Six by nine?", "answer": "forty-two" }]',
  )
  const { status, stdout } = runTest()
  assert.is(status, 0, stdout)
  assert.match(stdout, /create riddles[^(]*\((\d+) \/ \1\)/)
  assert.match(stdout, /\n\d+ passed, 0 failed\n$/)
})

test.run()
