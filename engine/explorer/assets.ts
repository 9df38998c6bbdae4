/** The files that pages load: a fixed list, so that no other file can be reached. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assetsPath } from './links.js'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: Buffer
}

const folder = join(import.meta.dirname, 'assets')
const read = (name: string): Buffer => readFileSync(join(folder, name))

/** The parts of the style sheet; later ones override earlier ones. */
const styles = ['base', 'frame', 'controls', 'home', 'table', 'request', 'row', 'create', 'screens']
const scripts = ['explorer.js', 'navigate.js', 'combobox.js', 'create.js']

export const assets = (): Asset[] => [
  {
    path: `${assetsPath}/explorer.css`,
    type: 'text/css; charset=utf-8',
    body: Buffer.concat(styles.map((name) => read(`styles/${name}.css`))),
  },
  ...scripts.map((name) => ({
    path: `${assetsPath}/${name}`,
    type: 'text/javascript; charset=utf-8',
    body: read(name),
  })),
  // Browsers ask for /favicon.ico while they show JSON, which names no icon.
  ...[`${assetsPath}/icon.svg`, '/favicon.ico'].map((path) => ({
    path,
    type: 'image/svg+xml; charset=utf-8',
    body: read('icon.svg'),
  })),
]
