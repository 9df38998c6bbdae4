import { defineResource, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Department',
  area: 'People',
  about: 'A department, shared by all organizations of the group.',
  table: 'departments',
  fields: {
    name: text(),
  },
  required: ['name'],
  create: false,
})
