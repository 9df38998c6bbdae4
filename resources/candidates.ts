import { defineResource, integer, now, number, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Candidate',
  area: 'Recruiting',
  about: 'A person who applied for a job or was approached for one.',
  table: 'candidates',
  fields: {
    first_name: text(),
    last_name: text({ sort: true }),
    email: text(),
    phone: text(),
    location: text(),
    headline: text(),
    current_title: text(),
    current_employer: text(),
    years_experience: number({ sort: true, range: true }),
    linkedin_url: text(),
    source: text({ about: 'Referral, Careers page, Job board, …' }),
    referred_by: integer({ references: 'employees', filter: true, about: 'The employee who referred the candidate.' }),
    consent_at: text({ format: 'timestamp', range: true, about: 'When the candidate agreed to be kept on file.' }),
    status: text({
      filter: true,
      tones: { Active: 'info', Hired: 'good', Rejected: 'bad', Withdrawn: 'muted' },
      about: 'Active, Hired, Rejected, Withdrawn, …',
    }),
    notes: text(),
    created: text({ managed: now, sort: true, range: true }),
  },
  required: ['status'],
  create: false,
})
