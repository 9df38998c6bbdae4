/** The version that users upgrade from, packed from git. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/cleanup.js'
import { root } from '../../support/root.js'

export const previousCommit = readFileSync(join(root, '.ci', 'previous-version'), 'utf8').trim()

/** The sources as a tar file; `.ci/run` has made it where the tests run in a folder without git. */
const archive = (): Buffer | undefined => {
  const made = process.env['PREVIOUS_VERSION']
  if (made) return readFileSync(made)
  const { status, stdout } = spawnSync('git', ['archive', previousCommit], { cwd: root, maxBuffer: 256 * 1024 ** 2 })
  return status === 0 ? stdout : undefined
}

/** What a version installs. */
const dependencies = (folder: string): string => {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  return JSON.stringify({ ...packages, '': undefined })
}

/** The compiled command line of the version before; undefined if this folder is no clone that has its commit. */
export const packPrevious = (): string | undefined => {
  const sources = archive()
  if (!sources) return undefined
  const { path } = temporaryFolder('previous')
  execFileSync('tar', ['-x', '-C', path], { input: sources })
  if (dependencies(path) === dependencies(root)) symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  else execFileSync('npm', ['ci', '--cache', join(path, 'cache')], { cwd: path, stdio: 'ignore' })
  // What `npm pack` puts into the package.
  execFileSync(process.execPath, [join('scripts', 'pack.mjs')], { cwd: path, stdio: 'ignore' })
  return join(path, 'dist', 'package', 'cli', 'main.js')
}
