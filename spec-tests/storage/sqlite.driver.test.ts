/** What a start says if SQLite's driver could not be installed. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { installAdvice } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'

const { path } = temporaryFolder('tools')
/** A folder with these commands. */
const folderOf = (...commands: string[]): string => {
  const folder = join(path, commands.join('-') || 'nothing')
  mkdirSync(folder)
  for (const command of commands) writeFileSync(join(folder, command), '')
  return folder
}

const test = suite('the driver of SQLite')

test('what is missing to build it is named, and what needs no build', () => {
  const all = 'Install python3, make, a C\\+\\+ compiler .* and run npm ci again, or use Node 22 or newer'
  assert.match(installAdvice(true, folderOf()), new RegExp(all))
  const some = installAdvice(true, [folderOf('python3'), folderOf('clang++')].join(delimiter))
  assert.match(some, /Install make and run npm ci again/)
})

test('with all tools, and on newer versions of Node, another npm ci helps or shows why not', () => {
  assert.match(installAdvice(true, folderOf('python3', 'make', 'g++')), /npm ci --foreground-scripts/)
  assert.is(installAdvice(false), 'run npm ci again.')
})

test.run()
