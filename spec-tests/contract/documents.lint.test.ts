/** The two documents: valid, clean under both linters, and complete. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { errorCodes } from '../../engine/contract/errors.js'
import { createExample } from '../../engine/contract/examples.js'
import { isGuarded, isPublic } from '../../engine/descriptor/access.js'
import { integer, text } from '../../engine/descriptor/index.js'
import { withLogging } from '../../engine/descriptor/logging.js'
import { schemaNames } from '../../engine/descriptor/names.js'
import { writableFields } from '../../engine/descriptor/registry.js'
import type { FileError } from '../../engine/descriptor/registryError.js'
import { verify } from '../../engine/descriptor/verify.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'
import { registry } from '../support/tested.js'
import { product } from '../support/testedProject.js'

const { get, send, address } = await startService()
const openapi = (await get('/openapi.json')).body
const swagger = (await send('/swagger.json')).body

// biome-ignore lint/suspicious/noExplicitAny: the document has every shape
type Described = any
const operations = Object.entries<Described>(openapi.paths).flatMap(([path, methods]) =>
  Object.entries<Described>(methods).map(([method, one]): [string, Described] => [`${method} ${path}`, one]),
)

const test = suite('the documents')

const teams = resourceIn('teams', { title: text() }, { name: 'Team', update: true, delete: true })
const tasks = resourceIn(
  'tasks',
  { team_id: integer({ references: 'teams' }), title: text() },
  { name: 'Task', update: true, changes: true },
)
const batch = await startService({ registry: withLogging([teams, tasks]), batch: true, derivedObjects: true })

const documents = {
  'openapi.json': openapi,
  'swagger.json': swagger,
  'openapi.json with batches and changes': (await batch.get('/openapi.json')).body,
  'swagger.json with batches and changes': (await batch.send('/swagger.json')).body,
}

for (const [name, document] of Object.entries(documents)) {
  test(`redocly (recommended) reports nothing on ${name}`, async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: name, config })
    const found = problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)
    assert.equal(found, [])
  })

  test(`spectral (spectral:oas) reports nothing on ${name}`, async () => {
    const spectral = new Spectral()
    spectral.setRuleset({ extends: [oas as RulesetDefinition], rules: {} })
    const problems = await spectral.run(structuredClone(document))
    const shown = problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('.')})`)
    assert.equal(shown, [])
  })
}

test('all validate against the official schemas', async () => {
  for (const [name, document] of Object.entries(documents)) {
    const validator = new Validator()
    const result = await validator.validate(structuredClone(document))
    assert.ok(result.valid, JSON.stringify(result.errors, null, 1))
    assert.is(validator.version, name.startsWith('openapi') ? '3.1' : '2.0')
  }
})

test('no resource can take the name of a schema that every service has', () => {
  const derived = registry.flatMap((resource) => Object.values(schemaNames(resource)))
  const shared = Object.keys(openapi.components.schemas).filter((name) => !derived.includes(name))
  assert.ok(shared.length > 0)
  for (const name of shared) {
    const problems: FileError[] = []
    const descriptor = { name, area: 'A', table: 't', fields: { a: text() }, required: [], create: true }
    verify([{ file: 'resources/things.ts', path: 'things', module: { default: descriptor } }], problems)
    assert.match(problems[0]?.message ?? '', `makes the schema ${name}, which every service has`)
  }
})

test('versions and base paths', () => {
  assert.is(openapi.openapi.slice(0, 3), '3.1')
  assert.equal(openapi.servers, [{ url: '/api' }])
  assert.is(openapi.info.version, product.version)
  assert.is(swagger.swagger, '2.0')
  assert.is(swagger.basePath, '/api')
  assert.is(`http://${swagger.host}`, address)
})

const swaggerOperation = (name: string) => {
  const [method = '', path = ''] = name.split(' ')
  return swagger.paths[path][method]
}

/** By method: the statuses that must be documented, the headers of a request, and the headers of responses; all have X-Request-Id. */
const documented: Record<string, [statuses: string, request: string[], response: Record<string, string[]>]> = {
  get: ['200 304 412 422 503', ['If-None-Match'], { 200: ['ETag'], 304: ['ETag'] }],
  post: ['201 401 413 422 503', ['Idempotency-Key'], { 201: ['Location', 'Idempotency-Replayed'] }],
  patch: [
    '200 401 404 412 413 422 503',
    ['Idempotency-Key', 'If-Match'],
    { 200: ['ETag', 'Content-Location', 'Idempotency-Replayed'], 412: ['ETag'] },
  ],
  delete: [
    '204 401 404 409 412 503',
    ['Idempotency-Key', 'If-Match'],
    { 204: ['Idempotency-Replayed'], 412: ['ETag'] },
  ],
}
/** The same of the paths that end so. */
const documentedEnds: Record<string, (typeof documented)[string]> = {
  'get /changes': ['200 410 422 503', [], {}],
  'get /history': ['200 304 404 412 422 503', ['If-None-Match'], { 200: ['ETag'], 304: ['ETag'] }],
  'delete /history': ['204 401 404 422 503', [], {}],
}
const errorHeaders: Record<string, string[]> = { 401: ['WWW-Authenticate'], 503: ['Retry-After'] }

for (const [name, operation] of operations) {
  const isSystem = operation.tags[0] === 'System'
  const [method = ''] = name.split(' ')
  const end = `${method} /${name.split('/').at(-1)}`
  const isOfLog = end in documentedEnds
  const [statuses = '200', request = [], response = {}] = isSystem
    ? []
    : (documentedEnds[end] ?? documented[method] ?? [])

  test(`${name} documents its headers, without examples`, () => {
    for (const { parameters, responses } of [operation, swaggerOperation(name)]) {
      const headers = parameters.filter((parameter: Described) => parameter.in === 'header')
      assert.equal(headers.map(({ name }: Described) => name).sort(), [...request, 'X-Request-Id'].sort())
      assert.not.match(JSON.stringify(headers), /"(?:default|examples?|x-example)":/)
      for (const [status, { headers: sent }] of Object.entries<Described>(responses)) {
        const documentedHeaders = response[status] ?? errorHeaders[status] ?? []
        const expected = documentedHeaders.filter((one) => one !== 'Location' || !name.endsWith('/import'))
        const isList = method === 'get' && !isSystem && !isOfLog && !/(?:}|\/summary)$/.test(name)
        const links = status === '200' && isList ? ['Link'] : []
        assert.equal(Object.keys(sent), [...expected, ...links, 'X-Request-Id'], status)
      }
    }
  })

  test(`${name} is described, tagged and secured as it should be`, () => {
    assert.ok(operation.summary && operation.description)
    assert.is(operation.tags.length, 1)
    const resource = registry.find(({ path }) => name.split('/')[2] === path)
    const open = method === 'get' ? [] : [{ writeToken: [] }]
    const isErasing = end === 'delete /history'
    const isSecured = method === 'get' ? resource && !isPublic(resource) : resource?.access && !isErasing
    const isOptional = method === 'get' && resource && isPublic(resource) && isGuarded(resource)
    assert.equal(operation.security, isSecured ? [{ caller: [] }] : isOptional ? [{}, { caller: [] }] : open)
    assert.equal(swaggerOperation(name).security, operation.security)
    for (const status of statuses.split(' ')) assert.ok(status in operation.responses, status)
    if (name.includes('item_id')) assert.ok('404' in operation.responses)
  })
}

test('list parameters have their bounds and defaults', () => {
  for (const { path } of registry) {
    const [limit, offset, q] = openapi.paths[`/v1/${path}`].get.parameters
    const { minimum, maximum, default: preset } = limit.schema
    assert.equal([minimum, maximum, preset, offset.schema.minimum, offset.schema.default], [1, 200, 50, 0, 0])
    assert.equal([q.schema.type, limit.required, offset.required, q.required], ['string', false, false, false])
  }
})

test('defaults, references and uniqueness are stated wherever a descriptor has them', () => {
  for (const resource of registry.filter(({ create }) => create)) {
    const { properties } = openapi.components.schemas[schemaNames(resource).create]
    for (const { name, default: preset, references, unique } of writableFields(resource)) {
      const stated = ['Default: ', 'References ', 'Unique'].map((word) => properties[name].description?.includes(word))
      const declared = [preset, references, unique].map((option) => option !== undefined)
      assert.equal(stated.map(Boolean), declared, `${resource.path}.${name}`)
    }
  }
})

test('no body property has the keyword default, which makes generated clients require it', () => {
  for (const { properties } of Object.values(openapi.components.schemas) as { properties?: object }[]) {
    for (const property of Object.values(properties ?? {})) assert.not('default' in property)
  }
})

test('every error code is listed, and a new one would not break a client', () => {
  for (const schema of [openapi.components.schemas.ErrorEnvelope, swagger.definitions.ErrorEnvelope]) {
    const { code } = schema.properties.error.properties
    assert.is(code.type, 'string')
    assert.is(code.enum, undefined)
    assert.equal(code['x-extensible-enum'], Object.keys(errorCodes))
    for (const name of Object.keys(errorCodes)) assert.ok(code.description.includes(`\`${name}\`: `), name)
  }
})

test('the issues of both 422 bodies and the index have named schemas', () => {
  const { ErrorEnvelope, ValidationError, Index } = openapi.components.schemas
  const { issues } = ErrorEnvelope.properties.error.properties.details.properties
  assert.is(issues.items.$ref, '#/components/schemas/ValidationIssue')
  assert.is(ValidationError.properties.detail.items.$ref, '#/components/schemas/ParameterIssue')
  assert.equal(Object.keys(Index.properties), ['name', 'version', 'openapi', 'swagger', 'docs', 'health', 'resources'])
})

test('a create example whose unique text has a number has it in its name too', () => {
  const fields = { name: text(), slug: text({ unique: true }) }
  const resource = resourceIn('brands', fields, { demo: [{ id: 1, name: 'Acme', slug: 'acme' }] })
  assert.equal(createExample([resource], resource), { name: 'Acme 2', slug: 'acme-2' })
})

test('the examples are real responses, but of resources with rules about who may read them', async () => {
  for (const { path, access, demo } of registry) {
    const example = (method: string, suffix = '') =>
      openapi.paths[`/v1/${path}${suffix}`][method].responses['200'].content['application/json'].example
    const row = example('get', '/{item_id}')
    if (access) {
      assert.equal(example('get'), { data: [row], meta: { total: 1, limit: 1, offset: 0 } })
      assert.ok(demo.length > 1)
      assert.not.equal(row, demo[0])
      continue
    }
    assert.equal((await get(`/v1/${path}?limit=1`)).body, example('get'))
    assert.equal((await get(`/v1/${path}/${encodeURIComponent(row.id)}`)).body, row)
  }
})

test('the Swagger document has nulls as its extension', () => {
  assert.equal(swagger.definitions.SinkBasin.properties.id, {
    type: 'integer',
    'x-nullable': true,
    description: 'Assigned by the service.',
  })
  assert.is(swagger.definitions.SinkBasinCreate.additionalProperties, false)
})

test.run()
