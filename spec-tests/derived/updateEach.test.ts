/** Updates and deletes of every resource that allows them: each rule for each field, and each reference to it. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { changeIssues } from '../../engine/contract/issues.js'
import type { IdKind } from '../../engine/descriptor/kinds.js'
import {
  type Field,
  idField,
  type Resource,
  type RowValues,
  referencesTo,
  updatableFields,
  type Value,
} from '../../engine/descriptor/registry.js'
import { makeSampleRow, missingIds, wrongLiterals } from '../../support/samples.js'
import { freshBodies } from '../support/freshBodies.js'
import { startService } from '../support/service.js'
import { registry, testedResources } from '../support/tested.js'

const service = await startService()
const { get, change, remove, fill } = service
const freshBody = freshBodies(service, registry)

let count = 0
/** Stores a new row like another program, and reads it. */
const fresh = async (resource: Resource, values: RowValues = {}) => {
  count++
  const sample = makeSampleRow(registry, resource, 500_000 + count)
  const free = resource.fields.filter(({ references, required }) => references && !required)
  const body = { ...(await freshBody(resource)), ...Object.fromEntries(free.map(({ name }) => [name, null])) }
  const id = idField(resource).kind === 'integer' ? 9_000_000_000 + count : (sample['id'] ?? null)
  await fill([{ resource, rows: [{ ...sample, ...body, ...values, id }] }])
  const path = `${resource.path}/${encodeURIComponent(String(id))}`
  const { body: row, headers } = await get(`/v1/${path}`)
  return { id, path, row: row as RowValues, tag: String(headers['etag']) }
}

const issuesOf = (response: Awaited<ReturnType<typeof change>>): [type: string, name: string][] => {
  assert.is(response.status, 422, response.text)
  return response.body.error.details.issues.map(({ type, loc }: { type: string; loc: string[] }) => [type, loc[1]])
}

const updates = (resource: Resource): void => {
  const test = suite(`update ${resource.path}`)
  const fields = updatableFields(resource)
  const stamped = resource.fields.filter(({ onUpdate }) => onUpdate).map(({ name }) => name)
  const withoutStamps = (row: RowValues) => ({ ...row, ...Object.fromEntries(stamped.map((name) => [name, null])) })

  test('each field is changed alone', async () => {
    for (const { name, redacted } of fields) {
      const { path, row, tag } = await fresh(resource)
      const value = (await freshBody(resource))[name] as Value
      const changed = await change(path, { [name]: value })
      if (changeIssues(resource, row, { [name]: value }).length > 0) {
        assert.is(changed.status, 422, changed.text)
        continue
      }
      assert.is(changed.status, 200, changed.text)
      assert.is(changed.headers['content-location'], `/api/v1/${path}`)
      assert.equal(withoutStamps(changed.body), withoutStamps({ ...row, [name]: redacted ? null : value }), name)
      const read = await get(`/v1/${path}`)
      assert.equal([read.body, read.headers['etag']], [changed.body, changed.headers['etag']])
      if (!redacted && value !== row[name]) assert.is.not(changed.headers['etag'], tag)
    }
  })

  test('null is stored, or refused where a value is required or never shown', async () => {
    for (const { name, required, redacted, next } of fields) {
      const { path, row } = await fresh(resource)
      const changed = await change(path, { [name]: null })
      if (redacted || required) assert.equal(issuesOf(changed), [[redacted ? 'redacted' : 'missing', name]])
      else if (next && row[name] !== null) assert.equal(issuesOf(changed), [['transition', name]])
      else assert.is(changed.body[name], null, changed.text)
    }
  })

  test('what a create refuses is refused, all at once, and changes nothing', async () => {
    const { path, tag } = await fresh(resource)
    const wrong = fields.map(({ name, kind, references }) =>
      references ? `"${name}":${JSON.stringify(missingIds[kind as IdKind])}` : `"${name}":${wrongLiterals[kind][0]}`,
    )
    const names = issuesOf(await change(path, `{${wrong.join()}}`)).map(([, name]) => name)
    assert.equal(new Set(names), new Set(fields.map(({ name }) => name)))
    assert.is((await get(`/v1/${path}`)).headers['etag'], tag)
  })

  test('every other field is refused', async () => {
    const { path } = await fresh(resource)
    const others = resource.fields.filter((field) => !fields.includes(field)).map(({ name }) => name)
    const names = [...others, 'no_such_field']
    const refused = await change(path, Object.fromEntries(names.map((name) => [name, 1])))
    assert.equal(new Set(issuesOf(refused).map(String)), new Set(names.map((name) => `extra_forbidden,${name}`)))
  })

  test('what changes nothing writes nothing', async () => {
    const { path, row, tag } = await fresh(resource)
    const table = (await get(`/v1/${resource.path}`)).headers['etag']
    const echoed = Object.fromEntries(fields.filter(({ redacted }) => !redacted).map(({ name }) => [name, row[name]]))
    for (const body of [{}, echoed]) {
      const same = await change(path, body, { 'if-match': tag })
      assert.equal([same.status, same.headers['etag'], same.body], [200, tag, row])
    }
    assert.is((await get(`/v1/${resource.path}`)).headers['etag'], table)
  })

  test('a value of another row is refused where it is unique', async () => {
    const isSettable = ({ unique }: Field) => unique?.every((name) => fields.some((one) => one.name === name))
    for (const { name, unique = [] } of fields.filter(isSettable)) {
      const body = await freshBody(resource)
      const [other, { path }] = [await fresh(resource, body), await fresh(resource)]
      const same = Object.fromEntries([name, ...unique].map((one) => [one, body[one]]))
      assert.ok(issuesOf(await change(path, same)).some((issue) => String(issue) === `unique,${name}`))
      assert.is((await change(other.path, same)).status, 200)
    }
  })

  test('a tag that is no longer that of the row is 412', async () => {
    const { path, tag } = await fresh(resource)
    const refused = await change(path, '{', { 'if-match': '"other"' })
    assert.equal([refused.status, refused.headers['etag']], [412, tag])
  })

  test.run()
}

const deletes = (resource: Resource): void => {
  const test = suite(`delete ${resource.path}`)
  const total = async () => (await get(`/v1/${resource.path}?limit=1`)).body.meta.total as number

  test('the row is gone for every method, and is not counted', async () => {
    const { path, tag } = await fresh(resource)
    const before = await total()
    assert.is((await remove(path, { 'if-match': '"other"' })).status, 412)
    const removed = await remove(path, { 'if-match': tag })
    assert.equal([removed.status, removed.text], [204, ''])
    assert.is(await total(), before - 1)
    assert.is((await get(`/v1/${path}`)).status, 404)
    assert.is((await remove(path)).status, 404)
    if (resource.update) assert.is((await change(path, {})).status, 404)
  })

  for (const { resource: other, field } of referencesTo(registry, resource.path)) {
    const { name, onDelete = 'restrict', redacted } = field
    test(`${other.path}.${name}: ${onDelete}`, async () => {
      const { id, path } = await fresh(resource)
      const { path: referring } = await fresh(other, { [name]: id })
      const removed = await remove(path)
      if (onDelete === 'restrict') {
        assert.equal([removed.status, removed.body.error.code], [409, 'referenced'])
        assert.equal(removed.body.error.details.references, [{ resource: other.path, field: name, count: 1 }])
        assert.is((await get(`/v1/${path}`)).status, 200)
      } else {
        assert.is(removed.status, 204, removed.text)
        const read = await get(`/v1/${referring}`)
        assert.is(read.status, onDelete === 'cascade' ? 404 : 200)
        if (onDelete === 'set null' && !redacted) assert.is(read.body[name], null)
      }
    })
  }

  test.run()
}

for (const resource of testedResources) {
  if (resource.update) updates(resource)
  if (resource.delete) deletes(resource)
}
