import { claim, defineResource, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Customer',
  area: 'Sales',
  about: 'Somebody who buys. A key with the claim customer_id sees this customer alone.',
  table: 'customers',
  fields: {
    name: text({ minLength: 1, maxLength: 100, sort: true, example: 'Lea Morel' }),
    email: text({
      pattern: '[^@ ]+@[^@ ]+',
      maxLength: 200,
      unique: true,
      example: 'lea@example.org',
      label: 'E-mail',
    }),
    city: text({ filter: true, example: 'Nantes' }),
  },
  required: ['name', 'email'],
  create: true,
  update: true,
  delete: true,
  access: {
    read: ['manager', 'clerk', { id: claim('customer_id') }],
    create: ['manager', 'clerk'],
    update: ['manager', 'clerk'],
    delete: 'manager',
  },
})
