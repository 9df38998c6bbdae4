/** `npm run contract`: what it prints, its exit codes, and how --accept records the API. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Difference } from '../../cli/contract/differences.js'
import { main } from '../../support/root.js'
import { officeCopy } from '../support/officeFiles.js'

const test = suite('the contract command')

const project = officeCopy()
const docs = join(project, 'docs')
mkdirSync(docs)
const recordedFile = join(docs, 'openapi.json')
/** Each run is a new process, so that it reads the changed descriptors. */
const contract = async (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'contract', ...args], {
    cwd: project,
    encoding: 'utf8',
  })
  return { status, output: `${stdout}${stderr}` }
}
/** Changes a descriptor. */
const edit = (file: string, from: string, to: string): void => {
  const path = join(project, file)
  const source = readFileSync(path, 'utf8')
  assert.ok(source.includes(from), `${file} has no ${from}`)
  writeFileSync(path, source.replace(from, to))
}

test('a record that is missing or damaged is an error, and --accept writes it', async () => {
  const advice = 'record the API with: npm run contract -- --accept'
  assert.equal(await contract(), { status: 1, output: `docs/openapi.json does not exist; ${advice}\n` })
  writeFileSync(recordedFile, '{"paths":')
  const damaged = await contract('--check')
  assert.is(damaged.status, 1)
  assert.match(damaged.output, /^docs\/openapi\.json is not valid JSON \(.+\); restore it, or record the API with: /)
  writeFileSync(recordedFile, '[]')
  const expected = `docs/openapi.json is not an OpenAPI document; restore it, or ${advice}\n`
  assert.equal(await contract('--json'), { status: 1, output: expected })
  rmSync(recordedFile)
  assert.equal(await contract('--accept'), { status: 0, output: 'Recorded the API in docs/openapi.json.\n' })
  assert.ok(JSON.parse(readFileSync(recordedFile, 'utf8')).paths['/v1/employees'])
  const isCurrent = 'The API matches the one recorded in docs/openapi.json.\n'
  assert.equal(await contract('--check'), { status: 0, output: isCurrent })
})

test('an addition fails only with --check', async () => {
  edit('resources/departments.ts', 'name: text(),', 'name: text(), floor: integer(),')
  edit('resources/departments.ts', '{ defineResource, text }', '{ defineResource, integer, text }')
  const { status, output } = await contract()
  assert.is(status, 0, output)
  assert.match(output, /Department\.floor is new .+\n(?:.*\n)*Nothing breaks clients\./)
  assert.is((await contract('--check')).status, 1)
})

test('a breaking difference fails until it is accepted', async () => {
  assert.is((await contract('--accept')).status, 0)
  edit('resources/departments.ts', ', floor: integer()', '')
  edit('resources/departments.ts', ', integer', '')
  const { status, output } = await contract('--json')
  assert.is(status, 1)
  const { accepted, breaking, differences } = JSON.parse(output)
  assert.equal([accepted, breaking], [false, true])
  assert.equal(
    differences.map(({ rule, operations, breaks }: Difference) => [rule, operations, breaks]),
    [
      [
        'field-removed',
        ['GET /v1/departments', 'GET /v1/departments/{item_id}'],
        [{ audience: 'readers', reason: 'clients that read it find nothing' }],
      ],
      ['example-changed', ['GET /v1/departments', 'GET /v1/departments/{item_id}'], []],
    ],
  )
  assert.is((await contract('--accept')).status, 0)
  assert.is((await contract('--check')).status, 0)
})

test('demo rows that no longer fit do not hide what breaks, but are corrected before --accept', async () => {
  edit('resources/departments.ts', 'name: text()', 'title: text()')
  edit('resources/departments.ts', "required: ['name']", "required: ['title']")
  const { status, output } = await contract()
  assert.is(status, 1)
  assert.match(output, /Department\.name is gone .+: clients that read it find nothing\.\n/)
  assert.match(output, /Examples were not compared, because files in seeds\/ have errors\.\n/)
  assert.equal(await contract('--accept'), {
    status: 1,
    output: 'The examples come from the demo rows, which have errors; correct the files in seeds/ first.\n',
  })
})

test.run()
