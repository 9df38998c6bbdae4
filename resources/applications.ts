import { defineResource, integer, now, number, text, today } from 'resource-registry-engine'

export default defineResource({
  name: 'Application',
  area: 'Recruiting',
  about: 'A candidate’s application to a job opening.',
  table: 'applications',
  fields: {
    candidate_id: integer({ references: 'candidates', filter: true }),
    job_id: integer({ references: 'jobs', filter: true }),
    stage: text({ default: 'Applied', filter: true, about: 'Applied, Screening, Interview, Offer, Hired, …' }),
    status: text({
      default: 'Active',
      filter: true,
      tones: { Active: 'info', Hired: 'good', Rejected: 'bad', Withdrawn: 'muted' },
      about: 'Active, Hired, Rejected, Withdrawn, …',
    }),
    applied_on: text({ default: today, sort: true, range: true }),
    stage_entered_on: text({
      default: today,
      sort: true,
      range: true,
      about: 'When the application entered its current stage.',
    }),
    rating: number({ sort: true, range: true, about: 'From 1 to 5.' }),
    rejection_reason: text(),
    created: text({ managed: now, sort: true, range: true }),
  },
  required: ['candidate_id', 'job_id', 'stage', 'status'],
  create: true,
})
