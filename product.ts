/** This product: its name and version, and its middleware. */
import type { Middleware, Product } from 'resource-registry-engine'

export const product: Product = {
  name: 'Workforce and Recruiting Data Service',
  about: 'People, recruiting and enterprise-configuration data. Reads are public; creates need the write token.',
  version: '1.0.0',
  license: 'MIT',
  contact: { name: 'API support' },
  database: 'sqlite:data/workforce.sqlite',
}

/** Koa middleware that runs around every operation, the first one outermost; docs/custom-code.md has examples. */
export const middleware: readonly Middleware[] = []
