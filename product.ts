/** What this deployment of the engine serves: its name, its own middleware, and where its descriptors and demo rows are. */
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
}

/** Koa middleware that runs around every operation, the first one outermost; docs/middleware.md has examples. */
export const middleware: readonly Middleware[] = []

/** Compiled, this file stands in `dist/`, and only code is compiled. */
const here = import.meta.dirname
const root = existsSync(join(here, 'package.json')) ? here : dirname(here)

export const folders: Folders = { resources: join(here, 'resources'), seeds: join(root, 'seeds') }
