/** The museum of docs/access.md: its files are a project, and its borrowers see and do what the page says. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadRegistry } from '../../engine/descriptor/load.js'
import { root } from '../../support/root.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { callCommand } from '../support/callCommand.js'
import { callersNamed } from '../support/callers.js'
import { authorized, issuesOf, startService } from '../support/service.js'

const page = readFileSync(join(root, 'docs', 'access.md'), 'utf8')
const [, museum = ''] = page.split('**A museum that lends.**')
const project = temporaryProject()
mkdirSync(join(project, 'resources'), { recursive: true })
for (const [, name, source] of museum.matchAll(/```ts\n\/\/ (resources\/\w+\.ts)\n([\s\S]*?)```/g))
  writeFileSync(join(project, name as string), source as string)

const test = suite('the museum of docs/access.md')

test('borrowers see their loans, the items of these, and the reports of those', async () => {
  const registry = await loadRegistry(project)
  assert.is(registry.length, 4)
  const credentials = callersNamed({
    one: { roles: [], claims: { institution_id: 1 } },
    two: { roles: [], claims: { institution_id: 2 } },
    registrar: { roles: ['registrar'] },
  })
  const service = await startService({ registry, credentials })
  const as = (name: string) => ({ ...authorized, authorization: `Bearer ${name}` })
  const send = (name: string, method: string, path: string, body?: object) =>
    service.send(`/api/v1/${path}`, { method, headers: as(name), ...(body && { body: JSON.stringify(body) }) })
  const ids = async (name: string, path: string) =>
    (await send(name, 'GET', path)).body.data.map(({ id }: { id: number }) => id)

  for (const name of ['First', 'Second'])
    assert.is((await send('registrar', 'POST', 'institutions', { name })).status, 201)
  // A borrower asks for a loan of its institution alone, and decides neither its fee nor its status.
  assert.is((await send('one', 'POST', 'loans', { institution_id: 1 })).status, 201)
  assert.is((await send('two', 'POST', 'loans', { institution_id: 2 })).status, 201)
  assert.is((await send('one', 'POST', 'loans', { institution_id: 2 })).status, 403)
  const wrong = await send('one', 'POST', 'loans', { institution_id: 1, fee: '0', status: 'Out' })
  assert.equal(issuesOf(wrong).sort(), ['extra_forbidden body fee', 'transition body status'])
  for (const loan of [1, 2])
    assert.is((await send('registrar', 'POST', 'items', { title: `Item of ${loan}`, loan_id: loan })).status, 201)
  assert.is((await send('one', 'POST', 'reports', { item_id: 1, condition: 'Good' })).status, 201)
  assert.is((await send('two', 'POST', 'reports', { item_id: 2, condition: 'Good' })).status, 201)
  // The item of another institution does not exist for it.
  assert.is((await send('one', 'POST', 'reports', { item_id: 2, condition: 'Good' })).status, 422)

  const seen = async (name: string) => [await ids(name, 'loans'), await ids(name, 'items'), await ids(name, 'reports')]
  assert.equal(await seen('one'), [[1], [1], [1]])
  assert.equal(await seen('two'), [[2], [2], [2]])
  assert.equal(await seen('registrar'), [
    [1, 2],
    [1, 2],
    [1, 2],
  ])
  // The item moves to the other loan, and its report with it.
  assert.is((await send('registrar', 'PATCH', 'items/1', { loan_id: 2 })).status, 200)
  assert.equal(await seen('one'), [[1], [], []])
  assert.equal(await seen('two'), [[2], [1, 2], [1, 2]])
})

test('npm run check prints what the page shows', async () => {
  const { stdout } = await callCommand('check', [], {}, project)
  const [, shown = ''] =
    /```text\n(resource {2,}read[\s\S]*?)```/.exec(page.split('## Rules that follow references')[1] ?? '') ?? []
  assert.ok(shown !== '' && stdout.includes(shown.trimEnd()), stdout)
})

test.run()
