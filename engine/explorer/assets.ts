/** The files that pages load: a fixed list, so that no other file can be reached. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assetsPath } from './links.js'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: Buffer
}

const types = {
  'explorer.css': 'text/css; charset=utf-8',
  'explorer.js': 'text/javascript; charset=utf-8',
  'navigate.js': 'text/javascript; charset=utf-8',
  'combobox.js': 'text/javascript; charset=utf-8',
  'create.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml; charset=utf-8',
} as const

export const assets = (): Asset[] =>
  Object.entries(types).map(([name, type]) => ({
    path: `${assetsPath}/${name}`,
    type,
    body: readFileSync(join(import.meta.dirname, 'assets', name)),
  }))
