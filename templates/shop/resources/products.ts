import { decimal, defineResource, integer, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Product',
  area: 'Catalogue',
  about: 'Something that the shop sells. Everybody may see it.',
  table: 'products',
  fields: {
    code: text({
      pattern: '[A-Z]{2}-\\d{3}',
      maxLength: 6,
      unique: true,
      example: 'KI-005',
      about: 'Printed on the label.',
    }),
    name: text({ minLength: 1, maxLength: 100, sort: true, example: 'Kettle' }),
    category: text({ oneOf: ['Kitchen', 'Office', 'Garden'], filter: true, example: 'Kitchen' }),
    price: decimal({
      digits: 8,
      places: 2,
      min: '0',
      sort: true,
      range: true,
      example: '39.00',
      about: 'Of one piece, in euros.',
    }),
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
