/** Every package that the service runs with may be used, changed and passed on freely. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folders } from '../product.js'

const permissive = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Unlicense',
  'BlueOak-1.0.0',
])

interface Package {
  readonly dev?: boolean
  readonly license?: string
}

const root = dirname(folders.seeds)
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Package> }
const packages = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev)

/** What a package says of itself: an expression with OR leaves the choice to us. */
const isFree = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((one) => one.split(' AND ').every((part) => permissive.has(part)))

const test = suite('licences')

test('there are packages to look at', () => {
  assert.ok(packages.length > 10)
})

for (const [path] of packages) {
  test(`${path.replace(/^.*node_modules\//, '')} is free`, () => {
    const { license } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Package
    assert.ok(isFree(license ?? ''), `${path} is under ${license}`)
  })
}

test.run()
