/** The folder of this repository, and the compiled command line of this build. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

const rootAbove = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))

/** The compiled file is in a subfolder of `dist/`. */
export const root = rootAbove(import.meta.dirname)

export const main = join(import.meta.dirname, '..', 'cli', 'main.js')
