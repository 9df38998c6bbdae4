import { date, defineResource, integer, today, uuid } from 'resource-registry-engine'

export default defineResource({
  name: 'Loan',
  area: 'People',
  about: 'A book that a reader has.',
  table: 'loans',
  fields: {
    book_id: integer({ references: 'books', onDelete: 'cascade', filter: true }),
    reader_id: uuid({ references: 'readers', filter: true }),
    since: date({ default: today, sort: true }),
    until: date({ range: true }),
  },
  required: ['book_id', 'reader_id'],
  create: true,
  update: ['until'],
  delete: true,
  access: { read: 'signed-in', create: 'clerk', update: 'clerk', delete: 'clerk' },
})
