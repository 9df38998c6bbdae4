import { defineResource, integer } from 'resource-registry-engine'

export default defineResource({
  name: 'Account',
  area: 'Benchmark',
  about: 'An account.',
  table: 'accounts',
  fields: { balance: integer() },
  required: ['balance'],
  create: true,
  update: true,
})
