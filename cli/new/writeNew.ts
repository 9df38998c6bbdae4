/** Writes new files of the project. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folders } from '../../product.js'
import { CommandError } from '../../support/options.js'

/** The folder of the project. */
export const root = dirname(folders.seeds)

/** Writes all files, or none. An existing file is never overwritten, even if it was created just now. */
export const writeNew = (files: readonly (readonly [name: string, text: string])[]): void => {
  const written: string[] = []
  try {
    for (const [name, text] of files) {
      const file = join(root, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { flag: 'wx' })
      written.push(file)
    }
  } catch (error) {
    for (const file of written) rmSync(file)
    throw new CommandError(`Nothing was written: ${(error as Error).message}`)
  }
}
