/** Creates of every resource that allows them: each rule for each field, and that a rejected create stores nothing. */
import * as assert from 'uvu/assert'
import { kindOf } from '../../engine/descriptor/kinds/index.js'
import { editDistance } from '../../engine/descriptor/nearest.js'
import {
  canonicalValue,
  type Field,
  isMandatory,
  newRow,
  type Resource,
  type Value,
  writableFields,
} from '../../engine/descriptor/registry.js'
import { keepsRules, plainValues } from '../../engine/descriptor/sampleRows.js'
import { missingReferences, withLiteral } from '../../support/samples.js'
import { derivedSuite, ifFound } from '../support/derivedSuite.js'
import { freshBodies } from '../support/freshBodies.js'
import { startService } from '../support/service.js'
import { eachProject, type Project } from '../support/tested.js'

interface Issue {
  readonly type: string
  readonly loc: string[]
  readonly msg: string
  readonly ctx?: object
}

/** Replaces numbers, so that the values that a function returns at different moments are equal. */
const withoutNumbers = (value: unknown): string => String(value).replaceAll(/\d+/g, '9')

/** Compares a value with what the service sets: a constant, null, or what a function returns. */
const assertPreset = (value: unknown, field: Field, preset: Field['default'] | null): void => {
  const expected = (given: Value) => plainValues({ given: canonicalValue(field, given) })['given']
  if (typeof preset === 'function') assert.is(withoutNumbers(value), withoutNumbers(expected(preset())), field.name)
  else assert.equal(value, expected(preset ?? null), field.name)
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

const defineTests = async ({ registry, resources, settings }: Project): Promise<void> => {
  const creatable = resources.filter((resource) => resource.create)
  if (creatable.length === 0) return
  const service = await startService(settings)
  const { get, create, rows } = service
  const { freshBody, hold, release, accepts } = freshBodies(service, registry)

  const totalOf = async (resource: Resource): Promise<number> =>
    (await get(`/v1/${resource.path}?limit=1`)).body.meta.total

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
        JSON.stringify(issues),
      )
      if (type) assert.is(issue.type, type)
      // A long name is cut.
      assert.ok(issue.msg.includes(name.slice(0, 60)), issue.msg)
      return issue.msg
    })

  const stored = async (resource: Resource, body: unknown) => {
    const response = await create(resource.path, body)
    assert.is(response.status, 201, response.text)
    const { id } = response.body
    hold(resource, id)
    assert.is(response.headers.location, `/api/v1/${resource.path}/${encodeURIComponent(id)}`)
    assert.equal((await get(`/v1/${resource.path}/${encodeURIComponent(id)}`)).body, response.body)
    return response.body
  }

  for (const resource of creatable) {
    const test = derivedSuite('create', resource)
    /** The kitchen sink has every kind of field with every option; of other fields, some values show that they are wired. */
    const some = <T>(values: readonly T[], count = 2): readonly T[] =>
      resource.path.startsWith('sink-') ? values : values.slice(0, count)
    const fields = writableFields(resource)
    const mandatory = fields.filter(isMandatory)

    /** A body without the fields that may be left out, if the rules allow that; and these fields. */
    const minimal = async () => {
      let body = await freshBody(resource)
      const left: Field[] = []
      // Redacted values are not shown, and a default value of a unique field could be used once only.
      for (const field of fields.filter((one) => !isMandatory(one) && !one.unique && !one.redacted)) {
        const { [field.name]: _, ...rest } = body
        if (!(await accepts(resource, rest))) continue
        left.push(field)
        body = rest
      }
      return { body, left }
    }
    const plain = fields.filter((field) => !field.references && !field.redacted)

    test('all fields of a full body are stored', async () => {
      const body = await freshBody(resource)
      const before = await totalOf(resource)
      const row = await stored(resource, body)
      for (const { name, redacted, ...field } of fields) {
        const sent = body[name] ?? null
        if (redacted) assert.is(row[name], null, name)
        else if (sent === null && field.required) assertPreset(row[name], { ...field, name }, field.default)
        else assert.equal(row[name], sent === null ? null : canonicalIn(field, sent), name)
      }
      assert.equal(
        Object.keys(row),
        resource.fields.map((field) => field.name),
      )
      assert.is(await totalOf(resource), before + 1)
    })

    test('a minimal body gets the defaults, what the service sets, and null for the rest', async () => {
      const { body, left } = await minimal()
      const row = await stored(resource, body)
      for (const field of left) assertPreset(row[field.name], field, field.default ?? null)
      for (const field of resource.fields.filter((one) => one.managed && one.name !== 'id')) {
        const { name, managed, redacted } = field
        assertPreset(row[name], field, managed === true || redacted ? null : managed)
      }
    })

    test('null becomes the default in a required field, and stays null in others', async () => {
      const { body, left } = await minimal()
      const sent = { ...body, ...Object.fromEntries(left.map(({ name }) => [name, null])) }
      const row = await stored(resource, sent)
      for (const field of left) assertPreset(row[field.name], field, field.required ? field.default : null)
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
        const body = await freshBody(resource)
        await onlyIssue(
          resource,
          name,
          undefined,
          ...some(kindOf(kind).wrongLiterals).map((literal) => withLiteral(body, name, literal)),
        )
      })
    }

    for (const { name, kind } of plain) {
      const [count, exact] = kind === 'text' ? [2, exactStrings] : [3, exactNumbers]

      test(`${name} stores texts and numbers unchanged`, async () => {
        for (const value of some<Value>(exact, count)) {
          release()
          const body = await freshBody(resource)
          const sent = { ...body, [name]: value }
          if (await accepts(resource, sent)) assert.is((await stored(resource, sent))[name], value)
        }
      })

      test(`${name} rejects what would be changed: a NUL, a lone surrogate, a number that would be rounded`, async () => {
        const body = await freshBody(resource)
        const isText = kind === 'text' || kind === 'json'
        const literals = isText ? ['"\\u0000"', '"x\\udfff"', '"a\\u0000b"', '"\\ud800"'] : inexactNumbers
        const bodies = some(literals).map((literal) => withLiteral(body, name, literal))
        await onlyIssue(resource, name, isText ? 'string_unicode' : undefined, ...bodies)
      })
    }

    for (const { name } of fields.filter(({ kind, redacted }) => kind === 'integer' && !redacted)) {
      test(`${name} accepts an integer written with a zero fraction`, async () => {
        const body = await freshBody(resource, {}, [name])
        const value = body[name]
        const { status, text, body: row } = await create(resource.path, withLiteral(body, name, `${value}.0`))
        assert.equal([status, row[name], text.includes(`"${name}":${value}.0`)], [201, value, false], text)
      })
    }

    for (const field of fields.filter(({ start }) => start)) {
      const { name, oneOf = [], start = [] } = field
      test(`${name} of a new row begins as ${start.join(' or ')}`, async () => {
        for (const value of start) {
          release()
          const body = await ifFound(freshBody(resource, { [name]: value }))
          if (body) await stored(resource, body)
        }
        const body = await freshBody(resource)
        for (const value of oneOf.filter((one) => !start.includes(one))) {
          const [issues] = await rejected(resource, { ...body, [name]: value })
          assert.equal(
            issues?.filter(({ loc }) => loc[1] === name).map(({ type, ctx }) => [type, ctx]),
            [['transition', { from: null, expected: start }]],
            JSON.stringify(issues),
          )
        }
      })
    }

    /** Values of a reference to no row. */
    const missingIds = async (field: Field): Promise<Value[]> => {
      const target = registry.find(({ path }) => path === field.references) as Resource
      const ids = (await rows(target)).map((row) => row['id'] ?? null)
      return missingReferences(field, ids)
    }

    for (const field of fields.filter(({ references }) => references)) {
      const { name } = field
      const others = fields.filter((one) => one !== field && !one.required).map((one) => [one.name, null])
      test(`${name} must reference an existing row`, async () => {
        const ids = await missingIds(field)
        const bodies = [await freshBody(resource), await ifFound(freshBody(resource, Object.fromEntries(others)))]
        for (const body of bodies) {
          const wrong = ids.map((id) => ({ ...body, [name]: id }))
          const ruled = wrong.filter((sent) => keepsRules(resource, newRow(resource, sent)))
          if (!body || ruled.length === 0) continue
          await onlyIssue(resource, name, 'reference', ...some(ruled, 1))
          return
        }
      })
    }

    /** Two rows can be given the same values of the key; not if the service sets one of them. */
    const isSettable = ({ unique }: Field) => unique?.every((name) => fields.some((field) => field.name === name))
    for (const { name, unique = [] } of fields.filter(isSettable)) {
      test(`${name} is unique${unique.length > 0 ? ` within ${unique.join(' and ')}` : ''}`, async () => {
        const body = await freshBody(resource, {}, [...unique, name])
        await stored(resource, body)
        const [issues] = await rejected(resource, body)
        assert.ok(
          issues?.some(({ type, loc }) => type === 'unique' && loc[1] === name),
          JSON.stringify(issues),
        )
        if (unique.length === 0) return
        const elsewhere = await ifFound(freshBody(resource, { [name]: body[name] as Value }))
        if (elsewhere) await stored(resource, elsewhere)
      })
    }

    /** A name that no field has. */
    const unknownName = (name: string): string =>
      resource.fields.some((field) => field.name === name) ? unknownName(`${name}x`) : name

    test('an unknown property is rejected, with a suggestion', async () => {
      const body = await freshBody(resource)
      const [field] = fields
      if (field) {
        const misspelt = unknownName(`${field.name}x`)
        const [msg = ''] = await onlyIssue(resource, misspelt, 'extra_forbidden', { ...body, [misspelt]: 1 })
        // Another field may be as similar.
        const distances = new Map(fields.map(({ name }) => [name, editDistance(misspelt, name)]))
        const [, suggestion = ''] = /Did you mean "(\w+)"\?$/.exec(msg) ?? []
        assert.is(distances.get(suggestion), Math.min(...distances.values()), msg)
      }
      const keys = ['__proto__', 'constructor', 'toString', '']
      const members = JSON.stringify(body).slice(1)
      const bodies = keys.map((key) => `{${JSON.stringify(key)}:{"x":1}${members === '}' ? '' : ','}${members}`)
      const places = (await rejected(resource, ...bodies)).map((issues) => issues.map(({ loc }) => loc))
      assert.equal(
        places,
        keys.map((key) => [['body', key]]),
      )
    })

    test('all errors are reported at once, including those found by the database', async () => {
      const wrong: Record<string, unknown> = {}
      for (const field of fields.filter(({ kind }) => kind !== 'json')) {
        const [missing] = field.references ? await missingIds(field) : []
        wrong[field.name] = missing ?? (field.kind === 'text' ? 5 : 'x')
      }
      const unknown = unknownName('unknown_field')
      const [issues = []] = await rejected(resource, { ...wrong, [unknown]: 1 })
      const mandatoryJson = mandatory.filter(({ kind }) => kind === 'json').map(({ name }) => name)
      assert.equal(
        new Set(issues.map(({ loc }) => loc[1])),
        new Set([...Object.keys(wrong), ...mandatoryJson, unknown]),
      )
    })

    test.run()
  }
}

const canonicalIn = (field: Pick<Field, 'kind' | 'digits' | 'places'>, value: Value): unknown =>
  plainValues({ value: canonicalValue(field, value) })['value']

await eachProject(defineTests)
