import { defineResource, integer, text } from 'resource-registry-engine'

/** A table of another program. */
export default defineResource({
  name: 'Visit',
  area: 'People',
  about: 'What the gate at the door has counted.',
  table: 'Gate Log',
  existing: true,
  idColumn: 'No',
  fields: {
    gate: text({ column: 'Gate', filter: true }),
    people: integer({ column: 'People', range: true }),
  },
  required: ['gate'],
  create: true,
  update: true,
  delete: true,
})
