/** docs/commands.md: every command is run in a copy of the project, and prints what the page shows. */
import { once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getRule, type RuleName, rules } from '../../cli/contract/rules.js'
import { spawnChild } from '../../support/cleanup.js'
import { commandsIn, readPage } from '../support/consolePage.js'
import { projectCopy } from '../support/projectCopy.js'

const page = readPage('commands.md')
const shown = commandsIn(page)

const project = projectCopy({ isDeployed: true })

/** Starts the service of the copy, stops it when it is ready, and returns what it says; the address is the default one. */
const startOnce = async (): Promise<string> => {
  const { PATH, HOME } = process.env
  const args = ['scripts/run.mjs', 'start']
  const child = spawnChild(process.execPath, args, { cwd: project.path, env: { PATH, HOME, PORT: '0' } }, 'SIGTERM')
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk
    if (output.includes('Ready at')) child.kill('SIGTERM')
  })
  await once(child, 'close')
  const messages = output.split('\n').filter((line) => line.startsWith('{'))
  return messages
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
    .filter((message) => !message.startsWith('Stopped'))
    .join('\n')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:3000')
}

const test = suite('docs/commands.md')

test('a recorded API, a database with rows, and a page with commands', async () => {
  assert.ok(shown.length > 8)
  assert.is((await project.run('npm run contract -- --accept')).status, 0)
  assert.match(await startOnce(), /^Created the database sqlite:data\/workforce\.sqlite, with the demo data\./)
})

for (const [index, { command, output }] of shown.entries()) {
  test(`${index + 1}. $ ${command}`, async () => {
    const actual = command === 'npm start' ? await startOnce() : (await project.run(command)).output.trim()
    assert.is(actual, output)
  })
}

const rowOf = (name: RuleName): string => {
  const { breaks = {}, breaksGenerated = '' } = getRule(name)
  return `| \`${name}\` | ${breaks.request ?? ''} | ${breaks.response ?? ''} | ${breaksGenerated} |`
}

test('the page lists every rule', () => {
  for (const name of Object.keys(rules) as RuleName[]) assert.ok(page.includes(`${rowOf(name)}\n`), rowOf(name))
})

test.run()
