import type { Middleware, Product } from 'resource-registry-engine'

export const product: Product = {
  name: 'PROJECT',
  about: 'What it serves, in a sentence.',
  version: '1.0.0',
}

/** Koa middleware that runs around every operation. */
export const middleware: readonly Middleware[] = []
