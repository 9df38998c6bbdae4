/** Search and filters of every resource, compared with plain JavaScript. */
import * as assert from 'uvu/assert'
import { kindOf } from '../../engine/descriptor/kinds/index.js'
import { type Field, filterFields, type Resource, type RowValues } from '../../engine/descriptor/registry.js'
import { sampleValue } from '../../engine/descriptor/samples.js'
import { publicRow } from '../../support/samples.js'
import { derivedSuite } from '../support/derivedSuite.js'
import { containing, joinedText } from '../support/searchOracle.js'
import { startService } from '../support/service.js'
import { eachProject } from '../support/tested.js'

const searchTexts = (resource: Resource, rows: readonly RowValues[]): string[] => {
  const texts = rows.slice(0, 12).map((row) => joinedText(resource, row))
  const cut = texts.flatMap((text) => {
    const letters = Array.from(text)
    return [letters.slice(2, 9).join(''), letters.slice(-5).join(''), letters.slice(0, 2).join(''), letters[0] ?? '']
  })
  const swapped = cut.flatMap((piece) =>
    [piece.toUpperCase(), piece.toLowerCase()].filter((other) => containing(piece)(other)),
  )
  const signs = ['%', '_', '"', "'", '*', '\\', ' OR ', 'AND', 'no such text', 'ﬁ', '-', '(', '^a', 'null']
  return [...new Set([...cut, ...swapped, ...signs])]
}

const toQuery = (values: RowValues): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')

await eachProject(async ({ resources, settings }) => {
  const { get } = await startService(settings)

  const expectPage = async (path: string, query: string, rows: readonly RowValues[]): Promise<void> => {
    const { status, body } = await get(`${path}?limit=200&${query}`)
    assert.is(status, 200)
    assert.equal(body.data, rows.slice(0, 200), query)
    assert.is(body.meta.total, rows.length, query)
  }

  for (const resource of resources) {
    const test = derivedSuite('search', resource)
    const path = `/v1/${resource.path}`
    const rows = resource.demo.map((row) => publicRow(resource, row))
    const filters = filterFields(resource)
    const valuesOf = ({ name }: Field) =>
      [...new Set(rows.map((row) => row[name] ?? null))].filter((value) => value !== null)

    test('q finds the rows that contain it, whatever its case', async () => {
      for (const q of searchTexts(resource, rows)) {
        const found = q.trim() === '' ? rows : rows.filter((row) => containing(q)(joinedText(resource, row)))
        await expectPage(path, `q=${encodeURIComponent(q)}`, found)
      }
    })

    test('white space around q is ignored, and an empty q matches everything', async () => {
      await expectPage(path, 'q=', rows)
      await expectPage(path, 'q=%20%09', rows)
      await expectPage(path, 'q', rows)
      const piece = Array.from(joinedText(resource, rows[0] ?? {}))
        .slice(0, 4)
        .join('')
        .trim()
      const found = rows.filter((row) => containing(piece)(joinedText(resource, row)))
      await expectPage(path, `q=%20${encodeURIComponent(piece)}%20`, found)
    })

    for (const field of filters) {
      test(`${field.name} filters by equality`, async () => {
        for (const value of valuesOf(field).slice(0, 8)) {
          const equal = rows.filter((row) => row[field.name] === value)
          await expectPage(path, toQuery({ [field.name]: value }), equal)
        }
        const absent = sampleValue(field, 40_000)
        if (absent !== undefined && rows.every((row) => row[field.name] !== absent))
          await expectPage(path, toQuery({ [field.name]: absent }), [])
      })

      if (field.kind === 'integer') {
        test(`${field.name} rejects non-integers, and matches nothing beyond the integer range`, async () => {
          const { status, body } = await get(`${path}?${field.name}=abc&limit=x`)
          assert.is(status, 422)
          const places = body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))
          assert.equal(places, ['query.limit', `query.${field.name}`])
          if (field.oneOf) return
          for (const beyond of ['9223372036854775807', '9223372036854775808', `-${'9'.repeat(40)}`]) {
            await expectPage(path, `${field.name}=${beyond}`, [])
          }
        })
      } else if (field.oneOf || !kindOf(field.kind).isText) {
        test(`${field.name} rejects what is not one of its values`, async () => {
          const other = ['nothing', 'none'].find((one) => !field.oneOf?.includes(one))
          const { status, body } = await get(`${path}?${field.name}=${other}`)
          assert.is(status, 422)
          assert.equal(body.detail[0].loc, ['query', field.name])
        })
      } else {
        test(`${field.name} is case-sensitive`, async () => {
          const value = String(valuesOf(field)[0] ?? 'x')
          const other = value === value.toUpperCase() ? value.toLowerCase() : value.toUpperCase()
          const equal = rows.filter((row) => row[field.name] === other)
          await expectPage(path, toQuery({ [field.name]: other }), equal)
        })
      }
    }

    test('filters are joined by AND, with one another and with q', async () => {
      for (const row of rows.slice(0, 10)) {
        const named = filters.filter(({ name }) => (row[name] ?? null) !== null)
        const values = Object.fromEntries(named.map(({ name }) => [name, row[name] ?? null]))
        const same = rows.filter((other) => named.every(({ name }) => other[name] === row[name]))
        await expectPage(path, toQuery(values), same)
        const q = Array.from(joinedText(resource, row)).slice(0, 5).join('').trim()
        const found = same.filter((other) => containing(q)(joinedText(resource, other)))
        await expectPage(path, `${toQuery(values)}&q=${encodeURIComponent(q)}`, found)
      }
    })

    for (const field of resource.fields.filter((one) => one.redacted)) {
      test(`${field.name} is neither searched nor filtered`, async () => {
        await expectPage(path, `${field.name}=x`, rows)
      })
    }

    test.run()
  }
})
