import { boolean, date, defineResource, integer, now, number, text, timestamp } from '../../engine/descriptor/index.js'

export default defineResource({
  name: 'Stress value',
  area: 'Stress tests',
  about: 'Every kind and every rule.',
  table: 'stress_values',
  fields: {
    title: text({ minLength: 2, maxLength: 40, sort: true }),
    state: text({ oneOf: ['open', 'in progress', 'closed'], default: 'open', filter: true }),
    code: text({ pattern: '[A-Z]{2,3}-\\d+', maxLength: 12, example: 'AB-12', filter: true }),
    priority: integer({ oneOf: [1, 2, 3], filter: true }),
    level: integer({ min: -5, max: 5, default: 0, range: true }),
    share: number({ min: 0, max: 1 }),
    done: boolean({ default: false, filter: true }),
    agreed: boolean({ filter: true }),
    due: date({ min: '2020-02-29', filter: true, range: true }),
    day: date(),
    at: timestamp({ min: '2000-01-01T00:00:00Z', max: '2099-12-31T23:59:59.999Z', sort: true }),
    created: timestamp({ managed: now }),
    changed: timestamp({ managed: now, onUpdate: now }),
  },
  required: ['title', 'state', 'done', 'due', 'created', 'changed'],
  create: true,
  update: true,
  delete: true,
})
