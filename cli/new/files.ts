/** Writes the files of new resources, and verifies them as a start would. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandError } from '../../support/options.js'
import { projectFolder } from '../project.js'

type Files = readonly (readonly [name: string, text: string])[]

const remove = (names: readonly string[]): void => {
  for (const name of names) rmSync(join(projectFolder(), name))
}

/** Writes all files, or none. An existing file is never overwritten, even if it was created just now. */
export const writeNew = (files: Files): void => {
  const written: string[] = []
  try {
    for (const [name, text] of files) {
      const file = join(projectFolder(), name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { flag: 'wx' })
      written.push(name)
    }
  } catch (error) {
    remove(written)
    throw new CommandError(`Nothing was written: ${(error as Error).message}`)
  }
}

/** Writes the files, and removes them again if the project has errors with them. */
export const writeVerified = async (files: Files, verify: () => Promise<void>): Promise<void> => {
  writeNew(files)
  await verify().catch((error: Error) => {
    remove(files.map(([name]) => name))
    throw error
  })
}
