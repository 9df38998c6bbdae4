import { defineResource, integer, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Job distribution',
  area: 'Enterprise configuration',
  about: 'A job opening published on a career site in one language.',
  table: 'job_distributions',
  fields: {
    job_posting_id: integer({ references: 'jobs', filter: true, about: 'The job opening.' }),
    career_site_id: integer({ references: 'career-sites', filter: true }),
    brand_id: integer({ references: 'brands', filter: true }),
    locale: text({ default: 'en', filter: true }),
    slug: text({ unique: ['career_site_id', 'locale'], example: 'lead-data-engineer' }),
    status: text({
      default: 'draft',
      filter: true,
      tones: { draft: 'info', published: 'good', paused: 'warning', expired: 'muted' },
      about: 'draft, published, paused, expired, …',
    }),
    published_at: text({ format: 'timestamp', sort: true, range: true }),
  },
  required: ['job_posting_id', 'career_site_id', 'locale', 'slug', 'status'],
  create: true,
})
