/** Expectations written by hand from the specification: the other tests derive theirs from the descriptors under test. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { registry, startService } from '../support/service.js'

const { get, create } = await startService()
const document = (await get('/openapi.json')).body
const schemaOf = (name: string) => document.components.schemas[name]

/** A schema in the specification's notation: `name type`, a question mark where null is allowed. */
const notation = (name: string): string[] =>
  Object.entries(schemaOf(name).properties as Record<string, { type: string | string[] }>).map(([field, { type }]) =>
    Array.isArray(type) ? `${field} ${type.find((one) => one !== 'null')}?` : `${field} ${type}`,
  )

const test = suite('the specification')

test('the twelve resources, seven of which can be created', () => {
  const creatable = [
    'applications',
    'brands',
    'career-sites',
    'job-distributions',
    'leave',
    'organization-teams',
    'organizations',
  ]
  const readOnly = ['attendance', 'candidates', 'departments', 'employees', 'jobs']
  const creates = new Map(registry.map(({ path, create: allowed }) => [path, allowed]))
  for (const path of creatable) assert.is(creates.get(path), true, path)
  for (const path of readOnly) assert.is(creates.get(path), false, path)
})

test('the employee', () => {
  assert.equal(notation('Employee'), [
    'id integer?', 'code string?', 'first_name string?', 'last_name string?', 'email string?', 'dept_id integer?',
    'designation string?', 'manager_id integer?', 'branch string?', 'status string', 'date_of_joining string?',
    'gender string?', 'base_salary number?', 'candidate_id integer?', 'employment_type string?', 'probation_end string?',
    'termination_date string?', 'alumni integer', 'password_hash string?',
  ]) // biome-ignore format: one table
  assert.equal(schemaOf('Employee').required, ['status', 'alumni'])
})

test('the leave request and its create body', () => {
  assert.equal(notation('LeaveRequest'), [
    'id integer?',
    'employee_id integer?',
    'leave_type string',
    'from_date string?',
    'to_date string?',
    'days number?',
    'status string',
    'reason string?',
    'applied_on string?',
  ])
  assert.equal(schemaOf('LeaveRequest').required, ['leave_type', 'status'])
  assert.equal(notation('LeaveRequestCreate'), [
    'employee_id integer?',
    'leave_type string',
    'from_date string?',
    'to_date string?',
    'days number?',
    'status string?',
    'reason string?',
    'applied_on string?',
  ])
  assert.equal(schemaOf('LeaveRequestCreate').required, ['leave_type'])
  assert.is(schemaOf('LeaveRequestCreate').additionalProperties, false)
})

test('the career site, whose custom domain cannot be set by a create', () => {
  assert.equal(notation('CareerSite'), [
    'id integer?',
    'name string',
    'slug string',
    'headline string?',
    'introduction string?',
    'brand_color string',
    'accent_color string',
    'logo_url string?',
    'privacy_policy_url string?',
    'custom_domain string?',
    'is_active integer',
    'created string',
    'updated string',
  ])
  assert.equal(schemaOf('CareerSite').required, [
    'name',
    'slug',
    'brand_color',
    'accent_color',
    'is_active',
    'created',
    'updated',
  ])
  assert.equal(notation('CareerSiteCreate'), [
    'name string',
    'slug string',
    'headline string?',
    'introduction string?',
    'brand_color string?',
    'accent_color string?',
    'logo_url string?',
    'privacy_policy_url string?',
    'is_active integer?',
  ])
  assert.equal(schemaOf('CareerSiteCreate').required, ['name', 'slug'])
})

test('the job distribution', () => {
  assert.equal(notation('JobDistribution'), [
    'id integer?',
    'job_posting_id integer',
    'career_site_id integer',
    'brand_id integer?',
    'locale string',
    'slug string',
    'status string',
    'published_at string?',
  ])
  assert.equal(notation('JobDistributionCreate'), [
    'job_posting_id integer',
    'career_site_id integer',
    'brand_id integer?',
    'locale string?',
    'slug string',
    'status string?',
    'published_at string?',
  ])
  assert.equal(schemaOf('JobDistributionCreate').required, ['job_posting_id', 'career_site_id', 'slug'])
})

test('the shared shapes', () => {
  assert.equal(notation('PaginationMeta'), ['total integer', 'limit integer', 'offset integer'])
  assert.equal(schemaOf('PaginationMeta').required, ['total', 'limit', 'offset'])
  assert.equal(notation('Health'), ['status string', 'product string', 'version string', 'writes_enabled boolean'])
  assert.equal(schemaOf('EmployeeCollection').required, ['data', 'meta'])
  assert.equal(schemaOf('ErrorEnvelope').properties.error.required, ['code', 'message'])
  assert.equal(schemaOf('ValidationError').required, ['detail'])
  assert.equal(schemaOf('ParameterIssue').required, ['loc', 'msg', 'type'])
  assert.equal(schemaOf('ValidationIssue').required, ['type', 'loc', 'msg'])
})

const defaults = [
  {
    path: 'leave',
    body: { leave_type: 'Annual' },
    row: { employee_id: null, status: 'Pending', days: null, reason: null },
  },
  {
    path: 'applications',
    body: { candidate_id: 1, job_id: 1 },
    row: { stage: 'Applied', status: 'Active', rating: null },
  },
  {
    path: 'organizations',
    body: { name: 'N', slug: 'n' },
    row: { default_locale: 'en', timezone: 'UTC', settings_json: null },
  },
  { path: 'brands', body: { organization_id: 1, name: 'N', slug: 'n' }, row: { logo_url: null, custom_domain: null } },
  {
    path: 'career-sites',
    body: { name: 'N', slug: 'n' },
    row: { brand_color: '#1d4ed8', accent_color: '#f59e0b', is_active: 1, custom_domain: null },
  },
  { path: 'organization-teams', body: { organization_id: 1, name: 'N' }, row: { parent_id: null, country: null } },
  {
    path: 'job-distributions',
    body: { job_posting_id: 1, career_site_id: 1, slug: 'n' },
    row: { locale: 'en', status: 'draft', published_at: null },
  },
]
for (const { path, body, row } of defaults) {
  test(`the defaults of ${path}`, async () => {
    const response = await create(path, body)
    assert.is(response.status, 201)
    for (const [name, value] of Object.entries(row)) assert.is(response.body[name], value, name)
  })
}

test('omitted dates default to today, and null stays null', async () => {
  const today = () => new Date().toISOString().slice(0, 10)
  const before = today()
  const omitted = await create('applications', { candidate_id: 2, job_id: 2 })
  // Two days if midnight came in between.
  for (const date of [omitted.body.applied_on, omitted.body.stage_entered_on])
    assert.ok([before, today()].includes(date))
  const nulls = await create('applications', { candidate_id: 2, job_id: 3, applied_on: null, stage_entered_on: null })
  assert.equal([nulls.body.applied_on, nulls.body.stage_entered_on], [null, null])
})

for (const [path, sent, names] of [
  ['applications', { candidate_id: 1, job_id: 1 }, ['created']],
  ['organizations', { name: 'N', slug: 'clock' }, ['created']],
  ['brands', { organization_id: 1, name: 'N', slug: 'clock' }, ['created', 'updated']],
  ['career-sites', { name: 'N', slug: 'clock' }, ['created', 'updated']],
] as const) {
  test(`${names.join(' and ')} of ${path}: the current second, in UTC`, async () => {
    const second = () => Math.floor(Date.now() / 1000)
    const before = second()
    const { body } = await create(path, sent)
    for (const name of names) {
      assert.match(body[name], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      const stored = Date.parse(body[name]) / 1000
      assert.ok(stored >= before && stored <= second(), body[name])
    }
  })
}

const messages = [
  {
    name: 'a missing and an unknown property',
    path: 'leave',
    body: { leave_typ: 'Annual' },
    msgs: ['leave_type is required.', 'Unknown property "leave_typ". Did you mean "leave_type"?'],
  },
  {
    name: 'an unknown property without a suggestion',
    path: 'leave',
    body: { leave_type: 'Annual', x: 1 },
    msgs: ['Unknown property "x".'],
  },
  {
    name: 'a managed property',
    path: 'organizations',
    body: { name: 'N', slug: 'messages', created: 'now' },
    msgs: ['created is set by the service; remove it.'],
  },
  {
    name: 'a reference to a missing row',
    path: 'leave',
    body: { leave_type: 'Annual', employee_id: 987654321 },
    msgs: ['employee_id must reference an existing employee; there is none with id 987654321.'],
  },
  {
    name: 'a reference whose name differs from the path',
    path: 'job-distributions',
    body: { job_posting_id: 0, career_site_id: 1, slug: 'messages' },
    msgs: ['job_posting_id must reference an existing job opening; there is none with id 0.'],
  },
  {
    name: 'a duplicate slug',
    path: 'organizations',
    body: { name: 'N', slug: 'varnholt' },
    msgs: ['slug must be unique; another row already has this value.'],
  },
  {
    name: 'a duplicate slug within the same organization',
    path: 'brands',
    body: { organization_id: 1, name: 'N', slug: 'varnholt' },
    msgs: ['slug must be unique; another row already has this value for the same organization_id.'],
  },
  {
    name: 'values of the wrong type',
    path: 'leave',
    body: { employee_id: '7', leave_type: null, from_date: 5, days: [], reason: 'a\0b', status: '\ud800' },
    msgs: [
      'employee_id must be an integer, not a string.',
      'leave_type must be a string, not null.',
      'from_date must be a string, not a number.',
      'days must be a number, not an array.',
      'status contains a lone surrogate, which is not valid Unicode; remove it.',
      'reason contains a NUL (U+0000); remove it.',
    ],
  },
  {
    name: 'numbers that cannot be stored',
    path: 'career-sites',
    body: { name: 'N', slug: 'messages', is_active: 1.5 },
    msgs: ['is_active must be an integer; 1.5 has a fraction.'],
  },
  {
    name: 'an integer out of range',
    path: 'career-sites',
    body: { name: 'N', slug: 'messages', is_active: 2 ** 60 },
    msgs: ['is_active must be an integer between -9007199254740991 and 9007199254740991.'],
  },
  { name: 'an array', path: 'leave', body: [], msgs: ['The body must be a JSON object, not an array.'] },
]
for (const { name, path, body, msgs } of messages) {
  test(`the message for ${name}`, async () => {
    const response = await create(path, body)
    assert.is(response.status, 422)
    const { message, details } = response.body.error
    assert.equal(
      details.issues.map(({ msg }: { msg: string }) => msg),
      msgs,
    )
    const count = msgs.length > 1 ? ` ${msgs.length} errors; see error.details.issues.` : ''
    assert.is(message, `${msgs[0]}${count}`)
  })
}

const references = {
  leave: ['employee_id'],
  applications: ['candidate_id', 'job_id'],
  brands: ['organization_id'],
  'organization-teams': ['organization_id', 'parent_id', 'department_id'],
  'job-distributions': ['job_posting_id', 'career_site_id', 'brand_id'],
}
for (const [path, names] of Object.entries(references)) {
  test(`the references of ${path}`, async () => {
    const { body } = await create(path, Object.fromEntries(names.map((name) => [name, 987654321])))
    const found = body.error.details.issues.filter(({ type }: { type: string }) => type === 'reference')
    assert.equal(
      found.map(({ loc }: { loc: string[] }) => loc[1]),
      names,
    )
  })
}

const filters = {
  employees: ['dept_id', 'manager_id', 'status', 'candidate_id'],
  departments: [],
  leave: ['employee_id', 'status'],
  attendance: ['employee_id', 'status'],
  jobs: ['dept_id', 'hiring_manager_id', 'status'],
  candidates: ['referred_by', 'status'],
  applications: ['candidate_id', 'job_id', 'stage', 'status'],
  organizations: [],
  brands: ['organization_id'],
  'career-sites': ['is_active'],
  'organization-teams': ['organization_id', 'parent_id', 'country', 'department_id'],
  'job-distributions': ['job_posting_id', 'career_site_id', 'brand_id', 'locale', 'status'],
}
for (const [path, names] of Object.entries(filters)) {
  test(`the parameters of the list of ${path}`, () => {
    const parameters = document.paths[`/v1/${path}`].get.parameters as { name: string; in: string }[]
    const query = parameters.filter((parameter) => parameter.in === 'query')
    assert.equal(
      query.map(({ name }) => name),
      ['limit', 'offset', 'q', ...names],
    )
  })
}

test('q finds a name across two fields, in any case and script', async () => {
  for (const [q, last] of [
    ['ana ng', 'Ng'],
    ['MÜLLER', 'Müller'],
    ['παπαδόπουλοσ', 'Παπαδόπουλος'],
    ['сМИРНОВА', 'Смирнова'],
  ] as const) {
    const { body } = await get(`/v1/employees?q=${encodeURIComponent(q)}`)
    assert.ok(
      body.data.some((row: { last_name: string }) => row.last_name === last),
      q,
    )
  }
})

test('the password hash is always null', async () => {
  const { body } = await get('/v1/employees?limit=200')
  assert.ok(body.data.every((row: { password_hash: null }) => row.password_hash === null))
})

test.run()
