/** Compresses the large files of the docs page for `engine/http/compress.ts`, once for each version of Swagger UI. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'

const root = dirname(import.meta.dirname)
const folder = join(root, 'dist', 'brotli')

const installedFiles = () => {
  try {
    const installed = dirname(createRequire(join(root, 'package.json')).resolve('swagger-ui-dist/package.json'))
    return ['swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => readFileSync(join(installed, name)))
  } catch {
    return []
  }
}

/** The name is the tag that the service gives to the file. */
const nameOf = (body) => `${createHash('sha256').update(body).digest('hex').slice(0, 24)}.br`

/** Node.js compresses with quality 11 by default. This takes 5 s, and the two files become 374 kB instead of 479 kB. */
export const compressDocs = () => {
  const bodies = new Map(installedFiles().map((body) => [nameOf(body), body]))
  const missing = [...bodies].filter(([name]) => !existsSync(join(folder, name)))
  if (missing.length === 0) return
  const unfinished = join(folder, `unfinished-${process.pid}`)
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(unfinished, '')
  } catch {
    // A read-only build is served with what it has; the service compresses the rest, less well.
    return
  }
  console.error('Compressing the docs page …')
  for (const [name, body] of missing) {
    writeFileSync(unfinished, brotliCompressSync(body))
    renameSync(unfinished, join(folder, name))
  }
  for (const name of readdirSync(folder))
    if (name.endsWith('.br') && !bodies.has(name)) rmSync(join(folder, name), { force: true })
}
