/** The two documents: valid by outside judgement, and saying what the specification says. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { registry, startService } from './support/service.js'

const { get, send, address } = await startService()
const openapi = (await get('/openapi.json')).body
const swagger = (await send('/swagger.json')).body

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: string[]
  readonly security?: object[]
  readonly responses: Record<string, object>
}
const operations: [string, Described][] = Object.entries(
  openapi.paths as Record<string, Record<string, Described>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Described] => [`${method} ${path}`, operation]),
)

const test = suite('the documents')

test('redocly finds nothing to say about the 3.1 document', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(openapi), absoluteRef: 'openapi.json', config })
  assert.equal(
    problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
    [],
  )
})

test('both validate against the official schemas', async () => {
  for (const [document, version] of [
    [openapi, '3.1'],
    [swagger, '2.0'],
  ] as const) {
    const validator = new Validator()
    const result = await validator.validate(structuredClone(document))
    assert.ok(result.valid, JSON.stringify(result.errors, null, 1))
    assert.is(validator.version, version)
  }
})

test('they say where they apply', () => {
  assert.is(openapi.openapi.slice(0, 3), '3.1')
  assert.equal(openapi.servers, [{ url: '/api' }])
  assert.is(openapi.info.version, '1.0.0')
  assert.is(swagger.swagger, '2.0')
  assert.is(swagger.basePath, '/api')
})

test('every operation of the specification is there, and no other', () => {
  const expected = registry.flatMap(({ path, create }) => [
    `get /v1/${path}`,
    `get /v1/${path}/{item_id}`,
    ...(create ? [`post /v1/${path}`] : []),
  ])
  const sorted = (names: string[]) => names.toSorted()
  assert.equal(sorted(operations.map(([name]) => name)), sorted(['get /', 'get /v1/health', ...expected]))
})

test('operation ids follow one pattern and are unique', () => {
  const ids = operations.map(([, { operationId }]) => operationId)
  assert.is(new Set(ids).size, ids.length)
  for (const id of [
    'listEmployees',
    'getEmployee',
    'listLeaveRequests',
    'getLeaveRequest',
    'createLeaveRequest',
    'listAttendance',
    'createRecruitmentBrand',
  ]) {
    assert.ok(ids.includes(id), id)
  }
})

for (const [name, operation] of operations) {
  test(`${name} is described, tagged and secured as it should be`, () => {
    const isCreate = name.startsWith('post')
    assert.ok(operation.summary && operation.description)
    assert.is(operation.tags.length, 1)
    assert.equal(operation.security, isCreate ? [{ writeToken: [] }] : [])
    const statuses = Object.keys(operation.responses)
    const expected = isCreate
      ? ['201', '401', '413', '422', '503']
      : name.includes('item_id')
        ? ['200', '404', '422', '503']
        : ['200']
    for (const status of expected) assert.ok(statuses.includes(status), status)
  })
}

test('list parameters have their bounds and defaults', () => {
  for (const { path } of registry) {
    const [limit, offset, q] = openapi.paths[`/v1/${path}`].get.parameters
    assert.equal(
      [limit.schema.minimum, limit.schema.maximum, limit.schema.default, limit.required],
      [1, 200, 50, false],
    )
    assert.equal([offset.schema.minimum, offset.schema.default, offset.required], [0, 0, false])
    assert.equal([q.schema.type, q.required], ['string', false])
  }
})

test('the examples are what the service answers', async () => {
  for (const { path } of registry) {
    const example = (method: string, suffix = '') =>
      openapi.paths[`/v1/${path}${suffix}`][method].responses['200'].content['application/json'].example
    assert.equal((await get(`/v1/${path}?limit=1`)).body, example('get'))
    const row = example('get', '/{item_id}')
    assert.equal((await get(`/v1/${path}/${row.id}`)).body, row)
  }
})

test('the Swagger document has the same operations, with nulls as its extension', () => {
  for (const [name] of operations) {
    const [method = '', path = ''] = name.split(' ')
    assert.ok(swagger.paths[path][method], name)
  }
  assert.equal(swagger.definitions.Department.properties.id, {
    type: 'integer',
    'x-nullable': true,
    description: 'Given by the service.',
  })
  assert.is(swagger.definitions.LeaveRequestCreate.additionalProperties, false)
  assert.ok(address)
})

test.run()
