import type { Middleware, Product } from 'resource-registry-engine'

export const product: Product = {
  name: 'PROJECT',
  about: 'What a shop sells, who buys it, and what was ordered.',
  version: '1.0.0',
  /** Who may sign in: npm run key adds a key. */
  keysFile: 'keys.json',
}

/** Koa middleware that runs around every operation. */
export const middleware: readonly Middleware[] = []
