import { defineResource, now, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Organization',
  area: 'Enterprise configuration',
  about: 'A company of the group.',
  table: 'organizations',
  fields: {
    name: text({ example: 'Meridian Labs', sort: true }),
    slug: text({ unique: true, example: 'meridian-labs' }),
    default_locale: text({ default: 'en' }),
    timezone: text({ default: 'UTC' }),
    settings_json: text({ about: 'A JSON document in a string.' }),
    created: text({ managed: now, sort: true, range: true }),
  },
  required: ['name', 'slug', 'default_locale', 'timezone', 'created'],
  create: true,
})
