/** Where the benchmarks find the project, and keep what they make. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folders } from '../product.js'

export const root = dirname(folders.seeds)

/** The build that this process runs from. */
export const build = dirname(import.meta.dirname)

/** Databases that take long to make are kept here; git ignores it. */
export const dataFolder = join(root, 'bench', 'data')
mkdirSync(dataFolder, { recursive: true })
