import type { Product } from 'resource-registry-engine'

export const product: Product = {
  name: 'Accounts',
  about: 'What the benchmark of custom operations serves.',
  version: '1.0.0',
  batch: true,
}
