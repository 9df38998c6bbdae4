import { decimal, defineResource, integer, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Product',
  area: 'Catalogue',
  about: 'Something that the shop sells. Everybody may see it.',
  label: ['name'],
  table: 'products',
  fields: {
    code: text({
      pattern: '[A-Z]{2}-\\d{3}',
      maxLength: 6,
      unique: true,
      example: 'KI-001',
      about: 'Printed on the label.',
    }),
    name: text({ minLength: 1, maxLength: 100, sort: true }),
    category: text({ oneOf: ['Kitchen', 'Office', 'Garden'], filter: true }),
    price: decimal({ digits: 8, places: 2, min: '0', sort: true, range: true, about: 'Of one piece, in euros.' }),
    stock: integer({ min: 0, default: 0, sort: true, range: true, about: 'How many pieces are left.' }),
  },
  required: ['code', 'name', 'category', 'price', 'stock'],
  create: true,
  update: true,
  delete: true,
  import: true,
  summary: true,
  access: { read: 'public', create: 'manager', update: 'manager', delete: 'manager' },
})
