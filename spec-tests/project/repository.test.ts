/** The files around the code: editor settings, the workflow, and the forms for issues. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { folders } from '../../product.js'

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
  readonly jobs: { checks: { strategy: { matrix: { node: string[] } }; steps: { run?: string }[] } }
}

test('the workflow runs .ci/run with every supported version of Node, and cannot write to the repository', () => {
  const { permissions, jobs } = parse(read('.github/workflows/ci.yml')) as Workflow
  assert.equal(permissions, { contents: 'read' })
  assert.equal(
    jobs.checks.steps.flatMap(({ run }) => run ?? []),
    ['bash .ci/run'],
  )
  assert.ok(existsSync(join(root, '.ci/run')))
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
  assert.equal(jobs.checks.strategy.matrix.node, engines.node.match(/\d+(?:\.\d+)?/g))
})

test('npm installs the SQLite driver for Node 20 on that version only', () => {
  // The package itself allows newer versions, for which it would be compiled in vain.
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { engines: object }> }
  assert.equal(packages['node_modules/better-sqlite3-node20']?.engines, { node: '20.x' })
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
