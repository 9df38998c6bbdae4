/** The files that pages load: those that are in their folder when the service starts, so that no other file can be reached. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: Buffer
}

const types: Readonly<Record<string, string>> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }

export const assetIn = (folder: string, file: string): Asset => {
  const name = basename(file)
  return {
    path: `${folder}/${name}`,
    type: `${types[name.split('.')[1] ?? '']}; charset=utf-8`,
    body: readFileSync(file),
  }
}

export const explorerFile = (name: string): string => join(import.meta.dirname, 'assets', name)

const files = readdirSync(explorerFile('')).map(explorerFile)

/** Named after its contents, so that browsers may keep the files; scripts import each other by relative paths. */
const digest = createHash('sha256')
  .update(Buffer.concat(files.map((file) => readFileSync(file))))
  .digest('hex')
  .slice(0, 12)
export const assetsPath = `/explore/assets/${digest}`

export const assets = (): Asset[] => files.map((file) => assetIn(assetsPath, file))

/** Browsers ask for it while they show JSON, which names no icon. */
export const favicon = (): Asset => ({ ...assetIn('', explorerFile('icon.svg')), path: '/favicon.ico' })
