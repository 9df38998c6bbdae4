/** The files around the code: editor settings, the workflow, and the forms for issues. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { folders } from '../product.js'

const root = dirname(folders.seeds)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const test = suite('repository')

test('.editorconfig agrees with biome.json', () => {
  const { formatter } = JSON.parse(read('biome.json')) as {
    formatter: { indentStyle: string; indentWidth?: number; lineWidth: number }
  }
  const settings = Object.fromEntries([...read('.editorconfig').matchAll(/^(\w+) = (.+)$/gm)].map(([, k, v]) => [k, v]))
  assert.is(settings['indent_style'], formatter.indentStyle)
  // 2 is the default of Biome.
  assert.is(settings['indent_size'], String(formatter.indentWidth ?? 2))
  assert.is(settings['max_line_length'], String(formatter.lineWidth))
  assert.is(settings['end_of_line'], 'lf')
})

interface Workflow {
  readonly permissions: object
  readonly jobs: Record<string, { steps: { uses?: string; run?: string; with?: Record<string, unknown> }[] }>
}

test('the workflow runs .ci/run with a version of Node that is supported, and cannot write to the repository', () => {
  const { permissions, jobs } = parse(read('.github/workflows/ci.yml')) as Workflow
  assert.equal(permissions, { contents: 'read' })
  const steps = Object.values(jobs).flatMap((job) => job.steps)
  assert.equal(
    steps.flatMap(({ run }) => run ?? []),
    ['bash .ci/run'],
  )
  assert.ok(existsSync(join(root, '.ci/run')))
  const node = steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'))?.with?.['node-version']
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
  assert.ok(Number(node) >= Number(/\d+/.exec(engines.node)?.[0]))
})

interface Form {
  readonly name: string
  readonly description: string
  readonly body: { type: string; id: string; attributes: { label: string; options?: string[] } }[]
}

for (const file of readdirSync(join(root, '.github/ISSUE_TEMPLATE')).filter((name) => name !== 'config.yml')) {
  test(`.github/ISSUE_TEMPLATE/${file} is a form`, () => {
    const { name, description, body } = parse(read(`.github/ISSUE_TEMPLATE/${file}`)) as Form
    assert.ok(name && description)
    assert.is(new Set(body.map(({ id }) => id)).size, body.length)
    for (const { type, attributes } of body) {
      assert.ok(['textarea', 'input', 'dropdown'].includes(type), type)
      assert.ok(attributes.label)
      assert.is(type === 'dropdown', attributes.options !== undefined)
    }
  })
}

test.run()
