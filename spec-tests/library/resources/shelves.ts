import { defineResource, integer, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Shelf',
  plural: 'Shelves',
  area: 'Stock',
  about: 'A shelf, whose id is its label.',
  table: 'shelves',
  id: 'text',
  fields: {
    room: text({ filter: true, sort: true }),
    meters: integer({ range: true, sort: true }),
  },
  required: ['room'],
  create: true,
  update: true,
  delete: true,
  import: true,
})
