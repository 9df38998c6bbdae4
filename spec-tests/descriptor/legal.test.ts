/** Random legal descriptors: their sample rows are valid, and lists, get-one, creates and documents work on them. */
import { Validator } from '@seriousme/openapi-schema-validator'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { demoIds, verifyRows } from '../../engine/descriptor/demo.js'
import { isMandatory, type Resource, type RowValues, writableFields } from '../../engine/descriptor/registry.js'
import { type FileError, reportIn } from '../../engine/descriptor/registryError.js'
import { publicRow, withSampleRows } from '../../support/samples.js'
import { registryOf, registryPlan } from '../support/arbitraryRegistry.js'
import { server } from '../support/database.js'
import { freshBodies } from '../support/freshBodies.js'
import { startService, type TestService } from '../support/service.js'

const checkReads = async ({ get }: TestService, resource: Resource): Promise<void> => {
  const rows = resource.demo.map((row) => publicRow(resource, row))
  const { body } = await get(`/v1/${resource.path}?limit=200`)
  assert.equal(body.data, rows.slice(0, 200))
  assert.is(body.meta.total, rows.length)
  const [first] = rows as [RowValues]
  assert.equal((await get(`/v1/${resource.path}/${first['id']}`)).body, first)
  for (const { name } of resource.fields.filter(({ filter }) => filter)) {
    const value = rows.find((row) => row[name] !== null)?.[name] ?? 1
    const found = (await get(`/v1/${resource.path}?limit=1&${name}=${encodeURIComponent(String(value))}`)).body.meta
      .total
    assert.is(found, rows.filter((row) => row[name] === value).length, name)
  }
  assert.is((await get(`/v1/${resource.path}?q=no%20such%20text`)).body.meta.total, 0)
}

const checkCreates = async (
  service: TestService,
  resource: Resource,
  body: RowValues,
  other: RowValues,
): Promise<void> => {
  const stored = await service.create(resource.path, body)
  assert.is(stored.status, 201, stored.text)
  for (const { name, redacted } of writableFields(resource)) {
    assert.is(stored.body[name], redacted ? null : body[name], name)
  }
  const needed = writableFields(resource).filter((field) => isMandatory(field) || field.unique)
  const least = await service.create(resource.path, Object.fromEntries(needed.map(({ name }) => [name, other[name]])))
  assert.is(least.status, 201, least.text)
  for (const { name } of writableFields(resource).filter(isMandatory)) {
    const { [name]: _, ...rest } = body
    assert.is((await service.create(resource.path, rest)).status, 422, name)
  }
}

const checkDocuments = async ({ get, send }: TestService): Promise<void> => {
  for (const document of [(await get('/openapi.json')).body, (await send('/swagger.json')).body]) {
    const { valid, errors } = await new Validator().validate(document)
    assert.ok(valid, JSON.stringify(errors))
  }
}

const test = suite('legal descriptors')

test('every legal descriptor can be served', async () => {
  const property = fc.asyncProperty(registryPlan, async (plan) => {
    const registry = withSampleRows(registryOf(plan))
    const problems: FileError[] = []
    for (const resource of registry) verifyRows(resource, demoIds(registry), reportIn(problems, resource.path))
    assert.equal(problems, [])
    const service = await startService({ registry, ...(server ? {} : { url: 'sqlite::memory:' }) })
    const freshBody = freshBodies(service, registry)
    await checkDocuments(service)
    for (const resource of registry) await checkReads(service, resource)
    for (const resource of registry.filter(({ create }) => create)) {
      await checkCreates(service, resource, await freshBody(resource), await freshBody(resource))
    }
  })
  await fc.assert(property, { numRuns: server ? 10 : 60, seed: 14, includeErrorInReport: true, endOnFailure: true })
})

test.run()
