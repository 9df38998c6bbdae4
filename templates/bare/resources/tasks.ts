import { boolean, date, defineResource, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Task',
  area: 'Tasks',
  about: 'Something to do.',
  table: 'tasks',
  fields: {
    title: text({ minLength: 1, sort: true }),
    due: date({ sort: true, range: true }),
    done: boolean({ default: false, filter: true }),
  },
  required: ['title', 'done'],
  create: true,
  update: true,
  delete: true,
})
