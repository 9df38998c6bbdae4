import type { Product } from 'resource-registry-engine'

export const product: Product = {
  name: 'Library',
  about: 'What the upgrade test serves: every kind, every verb and every kind of id.',
  version: '1.0.0',
  batch: true,
}
