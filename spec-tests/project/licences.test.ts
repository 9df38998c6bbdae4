/** Every runtime dependency has a permissive licence. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folders } from '../../product.js'

const permissive = 'MIT ISC Apache-2.0 BSD-2-Clause BSD-3-Clause 0BSD Unlicense BlueOak-1.0.0'.split(' ')

interface Package {
  readonly dev?: boolean
  readonly license?: string
}

const root = dirname(folders.seeds)
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Package> }
const packages = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev)

/** Evaluates an SPDX expression; with OR one permissive licence is enough. */
const isPermissive = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((one) => one.split(' AND ').every((part) => permissive.includes(part)))

const test = suite('licences')

test('there are runtime dependencies', () => {
  assert.ok(packages.length > 10)
})

test('every runtime dependency has a permissive licence', () => {
  for (const [path, locked] of packages) {
    const manifest = join(root, path, 'package.json')
    // A package for another version of Node is not installed.
    const { license } = existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as Package) : locked
    assert.ok(isPermissive(license ?? ''), `${path}: ${license}`)
  }
})

test.run()
