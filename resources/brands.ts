import { defineResource, integer, now, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Recruitment brand',
  area: 'Enterprise configuration',
  about: 'A brand under which an organization recruits.',
  table: 'recruitment_brands',
  fields: {
    organization_id: integer({ references: 'organizations', filter: true }),
    name: text({ example: 'Early Talent', sort: true }),
    slug: text({ unique: ['organization_id'], example: 'early-talent' }),
    logo_url: text(),
    favicon_url: text(),
    primary_color: text(),
    accent_color: text(),
    custom_domain: text(),
    settings_json: text({ about: 'A JSON document in a string.' }),
    created: text({ managed: now, sort: true, range: true }),
    updated: text({ managed: now }),
  },
  required: ['organization_id', 'name', 'slug', 'created', 'updated'],
  create: true,
})
