/** The folders of the benchmarks. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folders } from '../product.js'

export const root = dirname(folders.seeds)

/** The build that this process runs. */
export const build = dirname(import.meta.dirname)

/** Databases that take long to create are stored here between runs; git ignores it. */
export const dataFolder = join(root, 'bench', 'data')
mkdirSync(dataFolder, { recursive: true })
