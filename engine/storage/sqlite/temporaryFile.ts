/** The file of `sqlite::memory:`: private, in the folder for temporary files, and removed with its storage or its process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StorageError } from '../failures.js'

const folders = new Set<string>()

const remove = (folder: string): void => {
  folders.delete(folder)
  rmSync(folder, { recursive: true, force: true })
}

process.on('exit', () => folders.forEach(remove))

/** A path in a new folder that only this user may enter, and the function that removes it. */
export const temporaryFile = (): { readonly path: string; remove(): void } => {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'resource-registry-'))
    folders.add(folder)
    return { path: join(folder, 'registry.sqlite'), remove: () => remove(folder) }
  } catch (error) {
    const reason = `the folder ${tmpdir()} cannot be used (${(error as Error).message}); set TMPDIR to another`
    throw new StorageError(`sqlite::memory: needs a temporary file, but ${reason}.`)
  }
}
