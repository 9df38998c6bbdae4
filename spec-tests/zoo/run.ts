/** Runs all tests that follow from a project on projects of the zoo. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** `names` as projects.ts reads them; those in TEST_ZOO instead, if it is set. */
export const runZoo = async (names: string): Promise<void> => {
  process.env['TEST_ZOO'] ??= names
  process.env['TEST_ZOO_MODULE'] = pathToFileURL(join(import.meta.dirname, 'projects.js')).href
  const folder = join(import.meta.dirname, '..', 'derived')
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.test.js')))
    await import(pathToFileURL(join(folder, file)).href)
}
