/** Updates and deletes of every resource that allows them: each rule for each field, and each reference to it. */
import * as assert from 'uvu/assert'
import { changeIssues } from '../../engine/contract/issues.js'
import { kindOf } from '../../engine/descriptor/kinds/index.js'
import {
  canonicalValue,
  currentStamps,
  type Field,
  type Resource,
  type RowValues,
  referencesTo,
  updatableFields,
  type Value,
} from '../../engine/descriptor/registry.js'
import { NoSample, plainValues } from '../../engine/descriptor/sampleRows.js'
import { sampleValues } from '../../engine/descriptor/samples.js'
import { findViolation } from '../../engine/descriptor/valueRules.js'
import { missingReferences } from '../../support/samples.js'
import { derivedSuite, ifFound } from '../support/derivedSuite.js'
import { type FreshRow, freshBodies } from '../support/freshBodies.js'
import { startService, type TestResponse } from '../support/service.js'
import { eachProject } from '../support/tested.js'

const issuesOf = (response: TestResponse): [type: string, name: string][] => {
  assert.is(response.status, 422, response.text)
  return response.body.error.details.issues.map(({ type, loc }: { type: string; loc: string[] }) => [type, loc[1]])
}

/** Whether an update keeps rules and steps; undefined if a rule throws. */
const keepsRow = (resource: Resource, row: RowValues, values: RowValues): boolean | undefined => {
  try {
    return changeIssues(resource, row, values, currentStamps(resource)).length === 0
  } catch {
    return undefined
  }
}

await eachProject(async ({ registry, resources, settings }) => {
  const service = await startService(settings)
  const { get, change, remove, rows } = service
  const { freshRow, accepts } = freshBodies(service, registry)

  const updates = (resource: Resource): void => {
    const test = derivedSuite('update', resource)
    const fields = updatableFields(resource)
    const stamped = resource.fields.filter(({ onUpdate }) => onUpdate).map(({ name }) => name)
    const withoutStamps = (row: RowValues) => ({ ...row, ...Object.fromEntries(stamped.map((name) => [name, null])) })

    /** A value that a field can be changed to, if there is one that differs; otherwise one that is refused, or its own. */
    const otherValue = async (field: Field, { row }: FreshRow): Promise<Value> => {
      const { name, references } = field
      const target = registry.find(({ path }) => path === references)
      const ids = target ? (await rows(target)).map((one) => one['id'] ?? null) : []
      const values: Value[] = target ? ids.slice(-50) : sampleValues(field, 700_000)
      const differing = values
        .map((value) => plainValues({ value: canonicalValue(field, value) })['value'] ?? null)
        .filter((value) => JSON.stringify(value) !== JSON.stringify(row[name]))
      for (const value of differing.slice(0, 60)) {
        const isAllowed =
          keepsRow(resource, row, { [name]: value }) && (await accepts(resource, { [name]: value }, row))
        if (isAllowed) return value
      }
      const refused = differing.find((value) => keepsRow(resource, row, { [name]: value }) === false)
      return refused ?? row[name] ?? null
    }

    for (const field of fields) {
      const { name, redacted, required } = field
      test(`${name} is changed alone`, async () => {
        const fresh = await freshRow(resource)
        const { path, row, tag } = fresh
        const value = await otherValue(field, fresh)
        if (value === null && (required || redacted)) return
        const changed = await change(path, { [name]: value })
        if (keepsRow(resource, row, { [name]: value }) === false) {
          assert.is(changed.status, 422, changed.text)
          return
        }
        assert.is(changed.status, 200, changed.text)
        assert.is(changed.headers['content-location'], `/api/v1/${path}`)
        assert.equal(withoutStamps(changed.body), withoutStamps({ ...row, [name]: redacted ? null : value }), name)
        const read = await get(`/v1/${path}`)
        assert.equal([read.body, read.headers['etag']], [changed.body, changed.headers['etag']])
        if (!redacted && JSON.stringify(value) !== JSON.stringify(row[name]))
          assert.is.not(changed.headers['etag'], tag)
      })
    }

    for (const { name, required, redacted, next } of fields) {
      test(`null for ${name} is stored, or refused where a value is required or never shown`, async () => {
        const { path, row } = await freshRow(resource)
        const changed = await change(path, { [name]: null })
        if (redacted || required) assert.equal(issuesOf(changed), [[redacted ? 'redacted' : 'missing', name]])
        else if (next && row[name] !== null) assert.equal(issuesOf(changed), [['transition', name]])
        else assert.is(changed.body[name], null, changed.text)
      })
    }

    test('what a create refuses is refused, all at once, and changes nothing', async () => {
      const { path, tag } = await freshRow(resource)
      const wrong: string[] = []
      for (const field of fields) {
        const target = registry.find((one) => one.path === field.references)
        const ids = target ? (await rows(target)).map((row) => row['id'] ?? null) : []
        const [missing] = target ? missingReferences(field, ids) : []
        const literal = missing === undefined ? kindOf(field.kind).wrongLiterals[0] : JSON.stringify(missing)
        wrong.push(`"${field.name}":${literal}`)
      }
      const names = issuesOf(await change(path, `{${wrong.join()}}`)).map(([, name]) => name)
      assert.equal(new Set(names), new Set(fields.map(({ name }) => name)))
      assert.is((await get(`/v1/${path}`)).headers['etag'], tag)
    })

    test('every other field is refused', async () => {
      const { path } = await freshRow(resource)
      const others = resource.fields.filter((field) => !fields.includes(field)).map(({ name }) => name)
      const unknown = ['no_such_field', 'no_such_field_either'].filter(
        (one) => !resource.fields.some(({ name }) => name === one),
      )
      const names = [...others, ...unknown]
      const refused = await change(path, Object.fromEntries(names.map((name) => [name, 1])))
      assert.equal(new Set(issuesOf(refused).map(String)), new Set(names.map((name) => `extra_forbidden,${name}`)))
    })

    test('what changes nothing writes nothing', async () => {
      const { path, row, tag } = await freshRow(resource)
      const table = (await get(`/v1/${resource.path}`)).headers['etag']
      const echoed = Object.fromEntries(fields.filter(({ redacted }) => !redacted).map(({ name }) => [name, row[name]]))
      for (const body of [{}, echoed]) {
        const same = await change(path, body, { 'if-match': tag })
        assert.equal([same.status, same.headers['etag'], same.body], [200, tag, row], same.text)
      }
      assert.is((await get(`/v1/${resource.path}`)).headers['etag'], table)
    })

    const isSettable = ({ unique }: Field) => unique?.every((name) => fields.some((one) => one.name === name))
    for (const { name, unique = [] } of fields.filter(isSettable)) {
      test(`${name} of another row is refused, because it is unique`, async () => {
        const [first, second] = [await freshRow(resource), await ifFound(freshRow(resource))]
        const same = Object.fromEntries([...unique, name].map((one) => [one, first.row[one] ?? null]))
        const echoed = await change(first.path, same)
        if (Object.values(same).includes(null)) return
        assert.is(echoed.status, 200, echoed.text)
        // There may be no room for two rows, and rules or steps may refuse the change before.
        if (!second || !keepsRow(resource, second.row, same)) return
        const issues = issuesOf(await change(second.path, same))
        assert.ok(
          issues.some((issue) => String(issue) === `unique,${name}`),
          JSON.stringify(issues),
        )
      })
    }

    test('a tag that is no longer that of the row is 412', async () => {
      const { path, tag } = await freshRow(resource)
      const refused = await change(path, '{', { 'if-match': '"other"' })
      assert.equal([refused.status, refused.headers['etag']], [412, tag])
    })

    test.run()
  }

  const deletes = (resource: Resource): void => {
    const test = derivedSuite('delete', resource)
    const total = async () => (await get(`/v1/${resource.path}?limit=1`)).body.meta.total as number

    test('the row is gone for every method, and is not counted', async () => {
      const { path, tag } = await freshRow(resource)
      const before = await total()
      assert.is((await remove(path, { 'if-match': '"other"' })).status, 412)
      const removed = await remove(path, { 'if-match': tag })
      assert.equal([removed.status, removed.text], [204, ''])
      assert.is(await total(), before - 1)
      assert.is((await get(`/v1/${path}`)).status, 404)
      assert.is((await remove(path)).status, 404)
      if (updatableFields(resource).length > 0) assert.is((await change(path, {})).status, 404)
    })

    for (const { resource: other, field } of referencesTo(registry, resource.path)) {
      const { name, onDelete = 'restrict', redacted } = field
      test(`${other.path}.${name}: ${onDelete}`, async () => {
        // Other required references of the same row name one that stays.
        const twins = other.fields.filter((one) => one.references === resource.path && one.required && one !== field)
        const spare = twins.length > 0 ? await freshRow(resource) : undefined
        const others = Object.fromEntries(twins.map((twin) => [twin.name, spare?.id ?? null]))
        const { id, path } = await freshRow(resource)
        if (findViolation(field, id))
          throw new NoSample(`the rules of ${other.path}.${name} allow no new row of ${resource.path}`)
        const { path: referring } = await freshRow(other, { ...others, [name]: id })
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

  for (const resource of resources) {
    if (updatableFields(resource).length > 0) updates(resource)
    if (resource.delete) deletes(resource)
  }
})
