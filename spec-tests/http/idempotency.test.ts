/** Idempotency keys: a retry creates no second row, in any process, and a rejected create does not use up its key. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Resource } from '../../engine/descriptor/registry.js'
import { sampleBody } from '../../support/samples.js'
import { sharedDatabase } from '../support/database.js'
import { freshBodies } from '../support/freshBodies.js'
import { startService, type TestService } from '../support/service.js'
import { registry } from '../support/tested.js'

const otherProgram = await sharedDatabase()
const one = await startService({ url: otherProgram.url })
const other = await startService({ url: otherProgram.url })

const { freshBody } = freshBodies(one, registry)
const creatable = registry.filter((resource) => resource.create)
const named = (path: string) => registry.find((resource) => resource.path === path) as Resource
const [first, second] = [named('sink-numbers'), named('sink-kinds')]

const post = ({ create }: TestService, resource: Resource, key: string, body: unknown) =>
  create(resource.path, body, { 'idempotency-key': key })
const totalOf = async (resource: Resource): Promise<number> =>
  (await one.get(`/v1/${resource.path}?limit=1`)).body.meta.total
const issueOf = (response: { body: { error: { details: { issues: { type: string; loc: string[] }[] } } } }) =>
  response.body.error.details.issues[0]

const test = suite('idempotency')

for (const resource of creatable) {
  test(`a retried create of ${resource.path} stores no second row and gets the same response`, async () => {
    const key = `again-${resource.path}`
    const body = await freshBody(resource)
    const before = await totalOf(resource)
    const stored = await post(one, resource, key, body)
    assert.is(stored.status, 201, stored.text)
    assert.is(stored.headers['idempotency-replayed'], undefined)
    for (const service of [one, other, one]) {
      const { status, text, headers } = await post(service, resource, key, body)
      assert.equal([status, text, headers.location], [201, stored.text, stored.headers.location])
      assert.is(headers['idempotency-replayed'], 'true')
    }
    assert.is(await totalOf(resource), before + 1)
  })
}

test('the same key with another body or resource is rejected and stores nothing', async () => {
  const body = sampleBody(registry, first, 6_000)
  assert.is((await post(one, first, 'taken', body)).status, 201)
  const totals = [await totalOf(first), await totalOf(second)]
  for (const response of [
    await post(one, first, 'taken', sampleBody(registry, first, 6_001)),
    await post(other, second, 'taken', sampleBody(registry, second, 6_002)),
  ]) {
    assert.equal([response.status, issueOf(response)?.type], [422, 'idempotency_key_reused'])
    assert.equal(issueOf(response)?.loc, ['header', 'Idempotency-Key'])
  }
  assert.equal([await totalOf(first), await totalOf(second)], totals)
})

test('the same key and body on another path is another request', async () => {
  assert.is((await post(one, named('sink-managed'), 'path', {})).status, 201)
  const response = await post(one, named('sink-drains'), 'path', {})
  assert.equal([response.status, issueOf(response)?.type], [422, 'idempotency_key_reused'])
})

test('a rejected create does not use up its key', async () => {
  const body = sampleBody(registry, first, 7_000)
  assert.is((await post(one, first, 'free', { ...body, not_a_field: 1 })).status, 422)
  assert.is((await post(one, first, 'free', body)).status, 201)
})

test('concurrent creates with one key store one row', async () => {
  const body = sampleBody(registry, first, 8_000)
  const before = await totalOf(first)
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, n) => post(n % 2 ? one : other, first, 'at-once', body)),
  )
  assert.ok(responses.every(({ status }) => status === 201))
  assert.is(new Set(responses.map(({ text }) => text)).size, 1)
  assert.is(responses.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1)
  assert.is(await totalOf(first), before + 1)
})

test('a key expires after a day', async () => {
  const body = sampleBody(registry, first, 9_000)
  const id = (await post(one, first, 'old', body)).body.id
  await otherProgram.run("update registry_keys set at = at - (24 * 60 - 10) * 60 * 1000 where key = 'old'")
  const again = await post(one, first, 'old', body)
  assert.is(again.body.id, id)
  assert.is(again.headers['idempotency-replayed'], 'true')
  await otherProgram.run("update registry_keys set at = at - 10 * 60 * 1000 where key = 'old'")
  const fresh = await post(one, first, 'old', sampleBody(registry, first, 9_001))
  assert.is(fresh.status, 201)
  assert.ok(fresh.body.id > id)
  assert.is(fresh.headers['idempotency-replayed'], undefined)
  await otherProgram.run("update registry_keys set at = at - 24 * 60 * 60 * 1000 where key = 'old'")
  await post(one, first, 'another', sampleBody(registry, first, 9_002))
  assert.equal(await otherProgram.run("select key from registry_keys where key = 'old'"), [])
})

test('a key is 1 to 255 visible characters', async () => {
  const bodies = (n: number) => sampleBody(registry, first, 10_000 + n)
  const valid = ['a', 'x'.repeat(255), '"quoted"', '!~', '9f1c2b34-1f2e']
  for (const [n, key] of valid.entries()) assert.is((await post(one, first, key, bodies(n))).status, 201, key)
  for (const key of ['', 'x'.repeat(256), 'with space', 'tab\there', 'caf\u00e9']) {
    const response = await post(one, first, key, bodies(100))
    assert.is(response.status, 422, key)
    assert.is(issueOf(response)?.type, 'idempotency_key')
  }
})

test.run()
