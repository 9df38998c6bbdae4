/** Loads the resources together with files that are not written yet, exactly as a start would. */
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadRegistry } from '../../engine/descriptor/load.js'
import { folders } from '../../product.js'
import { temporaryFolder } from '../../support/cleanup.js'

/** Throws a RegistryError if the resources would have errors with the new descriptor and its demo rows. */
export const verifyFiles = async (path: string, descriptor: string, seeds: string | undefined): Promise<void> => {
  const copy = temporaryFolder('new-resource')
  try {
    const [resources, rows] = [join(copy.path, 'resources'), join(copy.path, 'seeds')]
    writeFileSync(join(copy.path, 'package.json'), '{"type":"module"}')
    // Node resolves the link, so that `today` and `now` are the functions of this process.
    symlinkSync(join(dirname(folders.resources), 'engine'), join(copy.path, 'engine'), 'junction')
    cpSync(folders.resources, resources, { recursive: true })
    if (existsSync(folders.seeds)) cpSync(folders.seeds, rows, { recursive: true })
    mkdirSync(rows, { recursive: true })
    // A descriptor has no types, so that it is valid JavaScript as well.
    writeFileSync(join(resources, `${path}.js`), descriptor)
    if (seeds !== undefined) writeFileSync(join(rows, `${path}.json`), seeds)
    await loadRegistry({ resources, seeds: rows })
  } finally {
    copy.remove()
  }
}
