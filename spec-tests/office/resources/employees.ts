import { defineResource, integer, number, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Employee',
  area: 'People',
  about: 'A current or former employee.',
  table: 'employees',
  fields: {
    code: text({ about: 'Employee code, as printed on the badge.' }),
    first_name: text(),
    last_name: text(),
    email: text(),
    dept_id: integer({ references: 'departments', filter: true }),
    designation: text({ about: 'Job title.' }),
    manager_id: integer({ references: 'employees', filter: true }),
    branch: text({ about: 'Office.' }),
    status: text({
      filter: true,
      tones: { Active: 'good', 'On leave': 'warning', Terminated: 'muted' },
      about: 'Active, On leave, Terminated, …',
    }),
    date_of_joining: text({ format: 'date' }),
    gender: text(),
    base_salary: number({ about: 'Annual salary in the currency of the branch.' }),
    candidate_id: integer({ references: 'candidates', filter: true, about: 'The candidate who was hired.' }),
    employment_type: text({ about: 'Full-time, Part-time, Contract, Intern, …' }),
    probation_end: text({ format: 'date' }),
    termination_date: text({ format: 'date' }),
    alumni: integer({ about: '1 for a member of the alumni network, otherwise 0.' }),
    password_hash: text({ redacted: true, about: 'Present for compatibility.' }),
  },
  required: ['status', 'alumni'],
  create: false,
})
