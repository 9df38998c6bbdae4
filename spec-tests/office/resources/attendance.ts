import { defineResource, integer, number, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Attendance',
  plural: 'Attendance',
  area: 'People',
  about: 'The attendance of an employee on one working day.',
  table: 'attendance',
  fields: {
    employee_id: integer({ references: 'employees', filter: true }),
    att_date: text({ format: 'date' }),
    status: text({
      filter: true,
      tones: { Present: 'good', Remote: 'info', 'Half day': 'warning', Absent: 'bad', 'On leave': 'muted' },
      about: 'Present, Remote, Half day, Absent, On leave, …',
    }),
    hours: number({ about: 'Hours worked.' }),
  },
  required: ['att_date', 'status'],
  create: false,
})
