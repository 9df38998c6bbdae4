import { defineResource, integer, number, text, today } from 'resource-registry-engine'

export default defineResource({
  name: 'Leave request',
  area: 'People',
  about: 'A request by an employee for time off.',
  table: 'leave_requests',
  fields: {
    employee_id: integer({ references: 'employees', filter: true }),
    leave_type: text({ about: 'Annual, Sick, Parental, Unpaid, …' }),
    from_date: text({ format: 'date', about: 'The first day off.' }),
    to_date: text({ format: 'date', about: 'The last day off.' }),
    days: number({ about: 'Number of working days; halves are allowed.' }),
    status: text({
      default: 'Pending',
      filter: true,
      tones: { Pending: 'warning', Approved: 'good', Rejected: 'bad', Cancelled: 'muted' },
      about: 'Pending, Approved, Rejected, Cancelled, …',
    }),
    reason: text(),
    applied_on: text({ default: today }),
  },
  required: ['leave_type', 'status'],
  create: true,
  update: ['from_date', 'to_date', 'days', 'status', 'reason'],
  delete: true,
})
