/** The files that pages load: a fixed list, so that no other file can be reached. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: Buffer
}

const read = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'assets', name))

const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }
const names = ['theme.css', 'explorer.css', 'explorer.js', 'navigate.js', 'combobox.js', 'form.js', 'icon.svg']

export const file = (name: string, path: string): Asset => {
  const type = types[name.split('.')[1] as keyof typeof types]
  return { path, type: `${type}; charset=utf-8`, body: read(name) }
}

/** Named after its contents, so that browsers may keep the files; scripts import each other by relative paths. */
const digest = createHash('sha256')
  .update(Buffer.concat(names.map(read)))
  .digest('hex')
  .slice(0, 12)
export const assetsPath = `/explore/assets/${digest}`

export const assets = (): Asset[] => names.map((name) => file(name, `${assetsPath}/${name}`))

/** Browsers ask for it while they show JSON, which names no icon. */
export const favicon = (): Asset => file('icon.svg', '/favicon.ico')
