import { defineResource, integer, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Stress note',
  area: 'Stress tests',
  about: 'Long texts, a unique value, and references that follow a delete in every way.',
  table: 'stress_notes',
  fields: {
    slug: text({ unique: true }),
    body: text(),
    parent_id: integer({ references: 'stress-notes', onDelete: 'cascade', filter: true }),
    value_id: integer({ references: 'stress-values', onDelete: 'set null', filter: true }),
    kept_value_id: integer({ references: 'stress-values' }),
    author: text({ filter: true }),
    secret: text({ redacted: true }),
  },
  required: ['slug'],
  create: true,
  import: true,
  summary: true,
  update: ['slug', 'body', 'parent_id', 'value_id', 'kept_value_id', 'secret'],
  delete: true,
})
