import { defineResource, integer, now, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Career site',
  area: 'Enterprise configuration',
  about: 'A public website that lists job openings.',
  table: 'career_sites',
  fields: {
    name: text({ example: 'Graduates', sort: true }),
    slug: text({ unique: true, example: 'graduates' }),
    headline: text(),
    introduction: text(),
    brand_color: text({ default: '#1d4ed8' }),
    accent_color: text({ default: '#f59e0b' }),
    logo_url: text(),
    privacy_policy_url: text(),
    custom_domain: text({ managed: true, about: 'Configured by the operators.' }),
    is_active: integer({
      default: 1,
      filter: true,
      tones: { 1: 'good', 0: 'muted' },
      about: '1 if the site is live, otherwise 0.',
    }),
    created: text({ managed: now, sort: true, range: true }),
    updated: text({ managed: now }),
  },
  required: ['name', 'slug', 'brand_color', 'accent_color', 'is_active', 'created', 'updated'],
  create: true,
})
