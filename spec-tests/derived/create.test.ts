/** Creates of every resource that allows them: each rule for each field, and that a rejected create stores nothing. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type IdKind, isValueOf, kindOf } from '../../engine/descriptor/kinds.js'
import { editDistance } from '../../engine/descriptor/nearest.js'
import { type Field, isMandatory, type Resource, type Value, writableFields } from '../../engine/descriptor/registry.js'
import { findViolation } from '../../engine/descriptor/valueRules.js'
import { missingIds, wrongLiterals } from '../../support/samples.js'
import { freshBodies } from '../support/freshBodies.js'
import { startService } from '../support/service.js'
import { registry, testedResources } from '../support/tested.js'

const service = await startService()
const { get, create } = service
const freshBody = freshBodies(service, registry)

const totalOf = async (resource: Resource): Promise<number> =>
  (await get(`/v1/${resource.path}?limit=1`)).body.meta.total

interface Issue {
  readonly type: string
  readonly loc: string[]
  readonly msg: string
}

/** Sends invalid bodies, checks that nothing was stored, and returns the issues of each. */
const rejected = async (resource: Resource, ...bodies: readonly unknown[]): Promise<Issue[][]> => {
  const before = await totalOf(resource)
  const responses = await Promise.all(bodies.map((body) => create(resource.path, body)))
  assert.is(await totalOf(resource), before, 'a rejected create stored a row')
  return responses.map(({ status, text, body }) => {
    assert.is(status, 422, text)
    assert.is(body.error.code, 'validation_error')
    return body.error.details.issues
  })
}

/** Sends bodies with one error each, in the field with this name; returns the messages. */
const onlyIssue = async (resource: Resource, name: string, type: string | undefined, ...bodies: readonly unknown[]) =>
  (await rejected(resource, ...bodies)).map((issues) => {
    const [issue] = issues as [Issue]
    assert.equal(
      issues.flatMap(({ loc }) => loc),
      ['body', name],
    )
    if (type) assert.is(issue.type, type)
    assert.ok(issue.msg.includes(name), issue.msg)
    return issue.msg
  })

const stored = async (resource: Resource, body: unknown) => {
  const response = await create(resource.path, body)
  assert.is(response.status, 201, response.text)
  const { id } = response.body
  assert.is(response.headers.location, `/api/v1/${resource.path}/${encodeURIComponent(id)}`)
  assert.equal((await get(`/v1/${resource.path}/${encodeURIComponent(id)}`)).body, response.body)
  return response.body
}

/** Replaces numbers, so that the values that a function returns at different moments are equal. */
const withoutNumbers = (value: unknown): string => String(value).replaceAll(/\d+/g, '9')

/** Compares a value with what the service sets: a constant, null, or what a function returns. */
const assertPreset = (value: unknown, preset: Field['default'] | null, name: string): void => {
  if (typeof preset === 'function') assert.is(withoutNumbers(value), withoutNumbers(preset()), name)
  else assert.equal(value, preset, name)
}

// biome-ignore format: one list
const exactStrings = [
  ' padded ', '漢字 ١٢٣ 🙂 \u{10FFFF}', '', ' ', 'Ångström', 'e\u0301 is not é', '\u0001\u007f\u2028',
  "'; drop table x; --", '%_*"\\', '\uFFFD\uFEFF', 'null',
]
const exactNumbers = [
  0, 3, 2.5, 0.1, 0.30000000000000004, -1.5, 1e-7, 123456789.125, 5e-324, 1.7976931348623157e308, 9007199254740991,
]

// biome-ignore format: one list
const inexactNumbers = ['1e999', '9007199254740993', '-1e999', '0.1000000000000000055', '1e-400', '1.00000000000000000001']

for (const resource of testedResources.filter((one) => one.create)) {
  const test = suite(`create ${resource.path}`)
  /** The kitchen sink has every kind of field with every option; of other fields, some values show that they are wired. */
  const some = <T>(values: readonly T[], count = 2): readonly T[] =>
    resource.path.startsWith('sink-') ? values : values.slice(0, count)
  const fields = writableFields(resource)
  const mandatory = fields.filter(isMandatory)
  const optional = fields.filter((field) => !isMandatory(field) && !field.unique && !field.redacted)
  const minimal = async () => {
    const full = await freshBody(resource)
    // Unique fields are always sent: a default value could be used once only.
    const sent = fields.filter((field) => isMandatory(field) || field.unique)
    return Object.fromEntries(sent.map(({ name }) => [name, full[name] as Value]))
  }
  /** Whether a field cannot get the value: a demo row has it, its kind is another, or a rule refuses it. */
  const isTaken = (name: string, value: Value) =>
    resource.fields.some(
      (field) =>
        field.name === name &&
        ((field.unique && resource.demo.some((row) => row[name] === value)) ||
          (value !== null && (!isValueOf(field, value) || findViolation(field, value) !== undefined))),
    )
  const plain = fields.filter((field) => !field.references && !field.redacted)

  test('all fields of a full body are stored', async () => {
    const body = await freshBody(resource)
    const before = await totalOf(resource)
    const row = await stored(resource, body)
    for (const { name, redacted } of fields) assert.equal(row[name], redacted ? null : body[name], name)
    assert.equal(
      Object.keys(row),
      resource.fields.map((field) => field.name),
    )
    assert.is(await totalOf(resource), before + 1)
  })

  test('a minimal body gets the defaults, what the service sets, and null for the rest', async () => {
    const row = await stored(resource, await minimal())
    for (const field of optional) assertPreset(row[field.name], field.default ?? null, field.name)
    for (const { name, managed, redacted } of resource.fields.filter((one) => one.managed && one.name !== 'id')) {
      assertPreset(row[name], managed === true || redacted ? null : managed, name)
    }
  })

  test('null becomes the default in a required field, and stays null in others', async () => {
    const row = await stored(resource, {
      ...(await minimal()),
      ...Object.fromEntries(optional.map(({ name }) => [name, null])),
    })
    for (const field of optional) assertPreset(row[field.name], field.required ? field.default : null, field.name)
  })

  test('what the service sets cannot be sent, and what it needs must be', async () => {
    const body = await freshBody(resource)
    for (const { name, required } of resource.fields.filter((field) => field.managed)) {
      await onlyIssue(resource, name, 'extra_forbidden', { ...body, [name]: required ? 'x' : 1 })
    }
    for (const { name } of mandatory) {
      const { [name]: _, ...rest } = body
      await onlyIssue(resource, name, 'missing', rest, { ...rest, [name]: null })
    }
  })

  for (const { name, kind } of fields) {
    test(`${name} rejects what is not ${kindOf(kind).expected}`, async () => {
      const body = JSON.stringify({ ...(await freshBody(resource)), [name]: '@' })
      const bodies = some(wrongLiterals[kind]).map((literal) => body.replace('"@"', literal))
      await onlyIssue(resource, name, undefined, ...bodies)
    })
  }

  for (const { name, kind } of plain) {
    const [count, exact] = kind === 'text' ? [2, exactStrings] : [3, exactNumbers]
    const allowed = exact.filter((value) => !isTaken(name, value))

    test(`${name} stores texts and numbers unchanged`, async () => {
      for (const value of some<Value>(allowed, count))
        assert.is((await stored(resource, { ...(await freshBody(resource)), [name]: value }))[name], value)
    })

    test(`${name} rejects what would be changed: a NUL, a lone surrogate, a number that would be rounded`, async () => {
      const body = JSON.stringify({ ...(await freshBody(resource)), [name]: '@' })
      const isText = kind === 'text' || kind === 'json'
      const literals = isText ? ['"\\u0000"', '"x\\udfff"', '"a\\u0000b"', '"\\ud800"'] : inexactNumbers
      const bodies = some(literals).map((literal) => body.replace('"@"', literal))
      await onlyIssue(resource, name, isText ? 'string_unicode' : undefined, ...bodies)
    })
  }

  for (const { name } of fields.filter(({ kind, redacted }) => kind === 'integer' && !redacted)) {
    test(`${name} accepts an integer written with a zero fraction`, async () => {
      const sent = await freshBody(resource)
      const literal = `"${name}":${sent[name]}`
      const { status, text } = await create(resource.path, JSON.stringify(sent).replace(literal, `${literal}.0`))
      assert.equal([status, text.includes(literal), text.includes(`${literal}.`)], [201, true, false], text)
    })
  }

  for (const { name, kind } of fields.filter((field) => field.references)) {
    test(`${name} must reference an existing row`, async () => {
      const body = await freshBody(resource)
      const ids = [missingIds[kind as IdKind], ...(kind === 'integer' ? [0, -1] : [])]
      const bodies = some(ids, 1).map((id) => ({ ...body, [name]: id }))
      await onlyIssue(resource, name, 'reference', ...bodies)
    })
  }

  /** Two rows can be given the same values of the key; not if the service sets one of them. */
  const isSettable = ({ unique }: Field) => unique?.every((name) => fields.some((field) => field.name === name))
  for (const { name, unique } of fields.filter(isSettable)) {
    test(`${name} is unique${unique?.length ? ` within ${unique.join(' and ')}` : ''}`, async () => {
      const first = await freshBody(resource)
      await stored(resource, first)
      const again = async () => ({ ...(await freshBody(resource)), [name]: first[name] as Value })
      const same = Object.fromEntries((unique ?? []).map((within) => [within, first[within] as Value]))
      const [issues] = await rejected(resource, { ...(await again()), ...same })
      assert.ok(issues?.some(({ type, loc }) => type === 'unique' && loc[1] === name))
      const elsewhere: Record<string, Value> = await again()
      if (unique?.some((within) => elsewhere[within] !== first[within])) await stored(resource, elsewhere)
    })
  }

  /** A name that no field has. */
  const unknownName = (name: string): string =>
    resource.fields.some((field) => field.name === name) ? unknownName(`${name}x`) : name

  test('an unknown property is rejected, with a suggestion', async () => {
    const [field] = fields
    if (!field) return
    const misspelt = unknownName(`${field.name}x`)
    const body = await freshBody(resource)
    const [msg = ''] = await onlyIssue(resource, misspelt, 'extra_forbidden', { ...body, [misspelt]: 1 })
    // Another field may be as similar.
    const distances = new Map(fields.map(({ name }) => [name, editDistance(misspelt, name)]))
    const [, suggestion = ''] = /Did you mean "(\w+)"\?$/.exec(msg) ?? []
    assert.is(distances.get(suggestion), Math.min(...distances.values()), msg)
    const keys = ['__proto__', 'constructor', 'toString', '']
    const bodies = keys.map((key) => `{${JSON.stringify(key)}:{"x":1},${JSON.stringify(body).slice(1)}`)
    const shown = (await rejected(resource, ...bodies)).map((issues) => issues.map(({ loc }) => loc))
    assert.equal(
      shown,
      keys.map((key) => [['body', key]]),
    )
  })

  test('all errors are reported at once, including those found by the database', async () => {
    const wrong = Object.fromEntries(
      fields
        .filter(({ kind }) => kind !== 'json')
        .map((field) => [
          field.name,
          field.references ? missingIds[field.kind as IdKind] : field.kind === 'text' ? 5 : 'x',
        ]),
    )
    const unknown = unknownName('unknown_field')
    const [issues = []] = await rejected(resource, { ...wrong, [unknown]: 1 })
    assert.equal(new Set(issues.map(({ loc }) => loc[1])), new Set([...Object.keys(wrong), unknown]))
  })

  test('the documented example is a valid body', async () => {
    const document = (await get('/openapi.json')).body
    const { example } = document.paths[`/v1/${resource.path}`].post.requestBody.content['application/json']
    // If the demo rows reference every row that there is, no create fits them.
    if (!mandatory.some(({ name, references }) => references && isTaken(name, example[name]))) {
      await stored(resource, example)
    }
  })

  test.run()
}
