/** Expectations written by hand from the specification: the other tests derive theirs from the descriptors under test. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startService } from '../support/service.js'
import { example } from './example.js'

const { get, create } = await startService()
const document = (await get('/openapi.json')).body
const schemaOf = (name: string) => document.components.schemas[name]

/** A schema in the specification's notation: `name type`, a question mark where null is allowed. */
const notation = (name: string): string[] =>
  Object.entries(schemaOf(name).properties as Record<string, { type: string | string[] }>).map(([field, { type }]) =>
    Array.isArray(type) ? `${field} ${type.find((one) => one !== 'null')}?` : `${field} ${type}`,
  )

const test = suite('the specification')

/** The resources, and the filters of each. */
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

test('the twelve resources, seven of which can be created', () => {
  const served = example.filter(({ path }) => path in filters)
  assert.equal(served.map(({ path }) => path).sort(), Object.keys(filters).sort())
  const created = served.filter(({ create: allowed }) => allowed).map(({ path }) => path)
  const creatable = 'applications brands career-sites job-distributions leave organization-teams organizations'
  assert.is(created.sort().join(' '), creatable)
})

/** Rows and create bodies in the specification's notation: `name type`, a question mark where null is allowed and nothing is required. */
const shapes = `
Employee: id integer?, code string?, first_name string?, last_name string?, email string?, dept_id integer?, designation string?,
  manager_id integer?, branch string?, status string, date_of_joining string?, gender string?, base_salary number?,
  candidate_id integer?, employment_type string?, probation_end string?, termination_date string?, alumni integer,
  password_hash string?
Department: id integer?, name string
LeaveRequest: id integer?, employee_id integer?, leave_type string, from_date string?, to_date string?, days number?,
  status string, reason string?, applied_on string?
LeaveRequestCreate: employee_id integer?, leave_type string, from_date string?, to_date string?, days number?, status string?,
  reason string?, applied_on string?
Attendance: id integer?, employee_id integer?, att_date string, status string, hours number?
JobOpening: id integer?, code string?, title string, dept_id integer?, hiring_manager_id integer?, headcount integer, filled integer,
  comp_min number?, comp_max number?, currency string?, location string?, remote_policy string?, employment_type string?,
  status string, description string?, requirements string?, stages_json string?, opened_on string?, target_date string?,
  created string?
Candidate: id integer?, first_name string?, last_name string?, email string?, phone string?, location string?, headline string?,
  current_title string?, current_employer string?, years_experience number?, linkedin_url string?, source string?,
  referred_by integer?, consent_at string?, status string, notes string?, created string?
Application: id integer?, candidate_id integer, job_id integer, stage string, status string, applied_on string?,
  stage_entered_on string?, rating number?, rejection_reason string?, created string?
ApplicationCreate: candidate_id integer, job_id integer, stage string?, status string?, applied_on string?, stage_entered_on string?,
  rating number?, rejection_reason string?
Organization: id integer?, name string, slug string, default_locale string, timezone string, settings_json string?, created string
OrganizationCreate: name string, slug string, default_locale string?, timezone string?, settings_json string?
RecruitmentBrand: id integer?, organization_id integer, name string, slug string, logo_url string?, favicon_url string?,
  primary_color string?, accent_color string?, custom_domain string?, settings_json string?, created string, updated string
RecruitmentBrandCreate: organization_id integer, name string, slug string, logo_url string?, favicon_url string?,
  primary_color string?, accent_color string?, custom_domain string?, settings_json string?
CareerSite: id integer?, name string, slug string, headline string?, introduction string?, brand_color string, accent_color string,
  logo_url string?, privacy_policy_url string?, custom_domain string?, is_active integer, created string, updated string
CareerSiteCreate: name string, slug string, headline string?, introduction string?, brand_color string?, accent_color string?,
  logo_url string?, privacy_policy_url string?, is_active integer?
OrganizationTeam: id integer?, organization_id integer, parent_id integer?, name string, country string?, department_id integer?,
  settings_json string?
OrganizationTeamCreate: organization_id integer, parent_id integer?, name string, country string?, department_id integer?,
  settings_json string?
JobDistribution: id integer?, job_posting_id integer, career_site_id integer, brand_id integer?, locale string, slug string,
  status string, published_at string?
JobDistributionCreate: job_posting_id integer, career_site_id integer, brand_id integer?, locale string?, slug string, status string?,
  published_at string?
PaginationMeta: total integer, limit integer, offset integer
Health: status string, product string, version string, writes_enabled boolean`

for (const shape of shapes.trim().split(/\n(?=\S)/)) {
  const [name = '', described = ''] = shape.split(': ')
  test(`the shape of ${name}`, () => {
    const fields = described.split(/,\s+/)
    assert.equal(notation(name), fields)
    const required = fields.filter((field) => !field.endsWith('?')).map((field) => field.split(' ')[0])
    assert.equal(schemaOf(name).required, required)
    if (name.endsWith('Create')) assert.is(schemaOf(name).additionalProperties, false)
  })
}

test('the shared shapes', () => {
  assert.equal(schemaOf('EmployeeCollection').required, ['data', 'meta'])
  assert.equal(schemaOf('ErrorEnvelope').properties.error.required, ['code', 'message'])
  assert.equal(schemaOf('ValidationError').required, ['detail'])
  assert.equal(schemaOf('ParameterIssue').required, ['loc', 'msg', 'type'])
  assert.equal(schemaOf('ValidationIssue').required, ['type', 'loc', 'msg'])
})

const defaults: [path: string, body: object, row: object][] = [
  ['leave', { leave_type: 'Annual' }, { employee_id: null, status: 'Pending', days: null, reason: null }],
  ['applications', { candidate_id: 1, job_id: 1 }, { stage: 'Applied', status: 'Active', rating: null }],
  ['organizations', { name: 'N', slug: 'n' }, { default_locale: 'en', timezone: 'UTC', settings_json: null }],
  ['brands', { organization_id: 1, name: 'N', slug: 'n' }, { logo_url: null, custom_domain: null }],
  [
    'career-sites',
    { name: 'N', slug: 'n' },
    { brand_color: '#1d4ed8', accent_color: '#f59e0b', is_active: 1, custom_domain: null },
  ],
  ['organization-teams', { organization_id: 1, name: 'N' }, { parent_id: null, country: null }],
  [
    'job-distributions',
    { job_posting_id: 1, career_site_id: 1, slug: 'n' },
    { locale: 'en', status: 'draft', published_at: null },
  ],
]
const second = () => Math.floor(Date.now() / 1000)
for (const [path, body, row] of defaults) {
  test(`the defaults of ${path}, and its clocks: the current second, in UTC`, async () => {
    const before = second()
    const response = await create(path, body)
    assert.is(response.status, 201)
    for (const [name, value] of Object.entries(row)) assert.is(response.body[name], value, name)
    for (const name of ['created', 'updated'].filter((name) => name in response.body)) {
      assert.match(response.body[name], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      const stored = Date.parse(response.body[name]) / 1000
      assert.ok(stored >= before && stored <= second(), response.body[name])
    }
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

const messages: [about: string, path: string, body: unknown, ...messages: string[]][] = [
  [
    'a missing and an unknown property',
    'leave',
    { leave_typ: 'Annual', x: 1 },
    'leave_type is required.',
    'Unknown property "leave_typ". Did you mean "leave_type"?',
    'Unknown property "x".',
  ],
  [
    'a managed property, and an integer out of range',
    'career-sites',
    { name: 'N', slug: 'messages', is_active: 2 ** 60, created: 'now' },
    'is_active must be an integer between -9007199254740991 and 9007199254740991.',
    'created is set by the service; remove it.',
  ],
  [
    'a reference to a missing row',
    'leave',
    { leave_type: 'Annual', employee_id: 987654321 },
    'employee_id must reference an existing employee; there is none with id 987654321.',
  ],
  [
    'a reference whose name differs from the path',
    'job-distributions',
    { job_posting_id: 0, career_site_id: 1, slug: 'messages' },
    'job_posting_id must reference an existing job opening; there is none with id 0.',
  ],
  [
    'a duplicate slug',
    'organizations',
    { name: 'N', slug: 'varnholt' },
    'slug must be unique; another row already has this value.',
  ],
  [
    'a duplicate slug within the same organization',
    'brands',
    { organization_id: 1, name: 'N', slug: 'varnholt' },
    'slug must be unique; another row already has this value for the same organization_id.',
  ],
  [
    'values of the wrong type',
    'leave',
    { employee_id: '7', leave_type: null, from_date: 5, days: [], reason: 'a\0b', status: '\ud800' },
    'employee_id must be an integer, not a string.',
    'leave_type is required.',
    'from_date must be a string, not a number.',
    'days must be a number, not an array.',
    'status contains a lone surrogate, which is not valid Unicode; remove it.',
    'reason contains a NUL (U+0000); remove it.',
  ],
  ['a fraction', 'leave', { leave_type: 'x', employee_id: 1.5 }, 'employee_id must be an integer; 1.5 has a fraction.'],
  ['an array', 'leave', [], 'The body must be a JSON object, not an array.'],
]
for (const [about, path, body, ...expected] of messages) {
  test(`the messages for ${about}`, async () => {
    const response = await create(path, body)
    assert.is(response.status, 422)
    const { message, details } = response.body.error
    const found: string[] = details.issues.map(({ msg }: { msg: string }) => msg)
    assert.equal(found, expected)
    const count = expected.length > 1 ? ` ${expected.length} errors; see error.details.issues.` : ''
    assert.is(message, `${expected[0]}${count}`)
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
    const issues: { type: string; loc: string[] }[] = body.error.details.issues
    const found = issues.filter(({ type }) => type === 'reference').map(({ loc }) => loc[1])
    assert.equal(found, names)
  })
}

for (const [path, names] of Object.entries(filters)) {
  test(`the parameters of the list of ${path}`, () => {
    const parameters = document.paths[`/v1/${path}`].get.parameters as { name: string; in: string }[]
    const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
    // Those with a dot, an order and `expand` are beyond the specification.
    const plain = query.filter((name) => !name.includes('.') && name !== 'expand')
    assert.equal(plain, ['limit', 'offset', 'q', 'sort', 'after', ...names])
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
    const found = body.data.map((row: { last_name: string }) => row.last_name)
    assert.ok(found.includes(last), q)
  }
})

test('the password hash is always null', async () => {
  const { body } = await get('/v1/employees?limit=200')
  assert.ok(body.data.every((row: { password_hash: null }) => row.password_hash === null))
})

test.run()
