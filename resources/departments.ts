import { defineResource, text } from '../engine/descriptor/index.js'

export default defineResource({
  name: 'Department',
  area: 'People',
  about: 'A department of the group, over all of its organizations.',
  table: 'departments',
  fields: {
    name: text(),
  },
  required: ['name'],
  create: false,
})
