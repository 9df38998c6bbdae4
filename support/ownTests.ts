/** The tests that a project has written: `tests/*.test.ts`. */
import { existsSync, readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { warnUser } from './options.js'
import type { TestGroup } from './runTests.js'

const isRun = (file: string): boolean => /^tests\/[^/]+\.test\.ts$/.test(file)
const looksLikeTest = (file: string): boolean => /\.(?:test|spec)\.[cm]?[jt]sx?$/.test(file)

/** Warns of files that look like a test and do not run. */
export const ownTests = (folder: string, testSeconds = 60): TestGroup => {
  const path = join(folder, 'tests')
  const names = existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : []
  const files = names.map((name) => `tests/${name.split(sep).join('/')}`)
  for (const file of files.filter((name) => looksLikeTest(name) && !isRun(name)))
    warnUser(`${file} is not run: a test file is in tests/ itself, and its name ends with .test.ts.`)
  return { folder, files: files.filter(isRun).sort(), testSeconds }
}
