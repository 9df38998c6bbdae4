/** The files around the code: the workflow, the lock file, and the licences of the dependencies. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { root } from '../../support/root.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const test = suite('repository')

const { packages } = JSON.parse(read('package-lock.json'))

test('the workflow runs .ci/run with every supported version of Node, and cannot write to the repository', () => {
  const { permissions, jobs } = parse(read('.github/workflows/ci.yml'))
  assert.equal(permissions, { contents: 'read' })
  const found = jobs.checks.steps.flatMap(({ run = [] }) => run)
  assert.equal(found, ['bash .ci/run'])
  assert.ok(existsSync(join(root, '.ci/run')))
  const { engines } = JSON.parse(read('package.json'))
  assert.equal(jobs.checks.strategy.matrix.node, engines.node.match(/\d+(?:\.\d+)?/g))
})

test('npm installs the SQLite driver for Node 20 on that version only', () => {
  // The package itself allows newer versions, for which it would be compiled in vain.
  assert.equal(packages['node_modules/better-sqlite3-node20'].engines, { node: '20.x' })
})

const permissive = 'MIT ISC Apache-2.0 BSD-2-Clause BSD-3-Clause 0BSD Unlicense BlueOak-1.0.0'.split(' ')

/** Evaluates an SPDX expression; with OR one permissive licence is enough. */
const isPermissive = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((one) => one.split(' AND ').every((part) => permissive.includes(part)))

test('every runtime dependency has a permissive licence', () => {
  // biome-ignore lint/suspicious/noExplicitAny: packages of every shape
  const runtime = Object.entries<any>(packages).filter(([path, { dev }]) => path !== '' && !dev)
  assert.ok(runtime.length > 10)
  for (const [path, locked] of runtime) {
    const manifest = join(path, 'package.json')
    // A package for another version of Node is not installed.
    const { license } = existsSync(join(root, manifest)) ? JSON.parse(read(manifest)) : locked
    assert.ok(isPermissive(license ?? ''), `${path}: ${license}`)
  }
})

test.run()
