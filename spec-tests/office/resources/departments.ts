import { defineResource, text } from '../../../engine/descriptor/index.js'

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
