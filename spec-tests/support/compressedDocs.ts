/** Spares a copy of the project the compression of the docs page, which takes seconds. */
import { cpSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folders } from '../../product.js'

const folder = join(dirname(folders.seeds), 'dist', 'brotli')

export const copyCompressedDocs = (project: string): void => {
  if (existsSync(folder)) cpSync(folder, join(project, 'dist', 'brotli'), { recursive: true })
}
