/** This deployment: its name and version, its middleware, and the folders of its descriptors and demo rows. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Middleware } from 'koa'
import type { Product } from './engine/contract/service.js'
import type { Folders } from './engine/descriptor/load.js'

export const product: Product = {
  name: 'Workforce and Recruiting Data Service',
  about: 'People, recruiting and enterprise-configuration data. Reads are public; creates need the write token.',
  version: '1.0.0',
  license: 'MIT',
  contact: { name: 'API support' },
  database: 'sqlite:data/workforce.sqlite',
}

/** Koa middleware that runs around every operation, the first one outermost; docs/middleware.md has examples. */
export const middleware: readonly Middleware[] = []

/** The compiled file is in a subfolder of `dist/`; the demo rows stay next to package.json. */
const here = import.meta.dirname
const rootAbove = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))
const root = rootAbove(here)

export const folders: Folders = {
  resources: join(here, 'resources'),
  sources: join(root, 'resources'),
  operations: join(here, 'operations'),
  seeds: join(root, 'seeds'),
}
