/** Verifies the files of a new resource as a start would, and writes them. */
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadRegistry } from '../../engine/descriptor/load.js'
import { folders } from '../../product.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { CommandError } from '../../support/options.js'

/** Throws an error if the resources would have errors with the new descriptor and its demo rows. */
export const verifyFiles = async (path: string, descriptor: string, seeds: string | undefined, count: number) => {
  const copy = temporaryFolder('new-resource')
  try {
    const [resources, rows] = [join(copy.path, 'resources'), join(copy.path, 'seeds')]
    writeFileSync(join(copy.path, 'package.json'), '{"type":"module"}')
    // Node resolves the link, so that `today` and `now` are the functions of this process.
    symlinkSync(join(dirname(folders.resources), 'engine'), join(copy.path, 'engine'), 'junction')
    mkdirSync(resources)
    if (existsSync(folders.resources)) cpSync(folders.resources, resources, { recursive: true })
    if (existsSync(folders.seeds)) cpSync(folders.seeds, rows, { recursive: true })
    mkdirSync(rows, { recursive: true })
    // A descriptor has no types, so that it is valid JavaScript as well.
    writeFileSync(join(resources, `${path}.js`), descriptor)
    if (seeds !== undefined) writeFileSync(join(rows, `${path}.json`), seeds)
    const registry = await loadRegistry({ resources, seeds: rows })
    const loaded = registry.find((resource) => resource.path === path)?.demo.length
    if (loaded !== count) throw new CommandError(`The demo rows of ${path} would not be valid; try --rows 0.`)
  } finally {
    copy.remove()
  }
}

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
