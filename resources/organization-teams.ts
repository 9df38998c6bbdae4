import { defineResource, integer, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Organization team',
  area: 'Enterprise configuration',
  about: 'A team of an organization; teams form a tree.',
  table: 'organization_teams',
  fields: {
    organization_id: integer({ references: 'organizations', filter: true }),
    parent_id: integer({ references: 'organization-teams', filter: true, about: 'The parent team.' }),
    name: text({ sort: true }),
    country: text({ filter: true, about: 'ISO 3166-1 alpha-2 code.' }),
    department_id: integer({ references: 'departments', filter: true }),
    settings_json: text({ about: 'A JSON document in a string.' }),
  },
  required: ['organization_id', 'name'],
  create: true,
})
