/** The same responses from both databases: every list, filter, search, get-one, create and error. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { now, today } from '../../engine/descriptor/index.js'
import { filterFields, type Resource, searchedFields, writableFields } from '../../engine/descriptor/registry.js'
import { sampleBody } from '../../support/samples.js'
import { registry, startService, type TestResponse } from '../support/service.js'

const sqlite = await startService({ url: 'sqlite::memory:' })
const postgres = await startService()

/** What a client sees, except the random tag and the time of a create. */
const visible = ({ status, headers, text }: TestResponse) => ({
  status,
  type: headers['content-type'],
  location: headers.location,
  // Numbers are compared by value: 1e+23 equals 1.0e+23.
  body: JSON.parse(text.replaceAll(/T\d\d:\d\d:\d\dZ"/g, 'T…Z"')),
})

const expectSame = async (path: string): Promise<void> => {
  const [one, other] = await Promise.all([sqlite.get(path), postgres.get(path)])
  assert.equal(visible(other), visible(one), path)
}

const expectSameCreate = async ({ path }: Resource, body: unknown): Promise<void> => {
  const [one, other] = await Promise.all([sqlite.create(path, body), postgres.create(path, body)])
  assert.equal(visible(other), visible(one), JSON.stringify(body))
}

/** Pages from the first to beyond the last, and invalid parameters. */
const pages = [
  '',
  'limit=1',
  'limit=7&offset=3',
  'limit=200',
  'limit=200&offset=150',
  'offset=100000',
  'offset=9223372036854775807',
  'offset=9223372036854775808',
  `offset=${'9'.repeat(60)}`,
  'limit=0',
  'limit=201&offset=-1',
  'limit=x&offset=1.5',
]

const texts = ['%', '_', '\\', '"', "'", '*', '?', '[a', '-', ' OR ', '^', '%00', 'ß', 'SS', 'ﬁ', 'ı', 'I', 'K', '🙂']

const strings = ['', ' ', '"\\/\b\f\n\r\t', '\u0001\u001f\u007f\u0080\u2028\u{10FFFF}', 'İıſßẞΣςК', 'x'.repeat(5_000)]
const numbers = [0, -0, 3, 2.5, 0.1, 49.47, 1 / 3, 0.1 + 0.2, 1e15, 1e16, 1e17, 1e21, 1e23, 1e-4, 1e-5, 1e-7, 5e-324]
const large = [2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 63, 9.2e18, 1.7976931348623157e308, -1.5e-300, 123456789012345.6]

/** Whether both services set the same values: clocks do, but not counters and random values. */
const isComparable = ({ fields }: Resource): boolean =>
  fields.every(({ managed }) => typeof managed !== 'function' || managed === now || managed === today)

for (const resource of registry.filter(isComparable)) {
  const test = suite(`parity of ${resource.path}`)
  const path = `/v1/${resource.path}`
  const filters = filterFields(resource)
  const rows = resource.demo.slice(0, 15)

  test('lists', async () => {
    for (const page of pages) await expectSame(`${path}?${page}`)
  })

  test('filters, alone, together and wrong', async () => {
    for (const { name } of filters) {
      for (const value of [...rows.map((row) => row[name]), 'x', '', '%00', '9223372036854775808', 'y'.repeat(3_000)]) {
        await expectSame(`${path}?${name}=${encodeURIComponent(String(value)).replaceAll('%25', '%')}`)
      }
    }
    for (const row of rows) {
      const given = filters.map(({ name }) => `${name}=${encodeURIComponent(String(row[name]))}`).join('&')
      for (const page of ['', 'limit=2&offset=1', 'offset=1000']) await expectSame(`${path}?${given}&${page}`)
      await expectSame(`${path}?${given}&q=a`)
      await expectSame(`${path}?${given}&q=ing&limit=3`)
    }
  })

  test('searches', async () => {
    const words = rows.flatMap((row) =>
      searchedFields(resource).map(({ name }) =>
        Array.from(String(row[name] ?? 'null'))
          .slice(0, 7)
          .join(''),
      ),
    )
    for (const q of new Set([...texts, ...words, ...words.map((word) => word.toUpperCase())])) {
      const sent = q === '%00' ? q : encodeURIComponent(q)
      await expectSame(`${path}?q=${sent}`)
      await expectSame(`${path}?q=${sent}&limit=2&offset=1`)
    }
  })

  test('one row', async () => {
    for (const id of [...rows.map((row) => row['id']), 0, '007', 'x', '987654321', '9'.repeat(30), '%00', '%']) {
      await expectSame(`${path}/${id}`)
    }
  })

  if (resource.create) {
    test('valid and invalid creates', async () => {
      let n = 500_000
      const body = () => sampleBody(registry, resource, n++)
      const fields = writableFields(resource)
      await expectSameCreate(resource, body())
      await expectSameCreate(resource, {})
      await expectSameCreate(resource, { ...body(), unknown_field: 1 })
      for (const { name, kind, references, unique } of fields) {
        await expectSameCreate(resource, { ...body(), [name]: null })
        await expectSameCreate(resource, { ...body(), [name]: 987654321 })
        const values = kind === 'text' ? strings : [...numbers, ...large]
        for (const value of values) await expectSameCreate(resource, { ...body(), [name]: value })
        if (references) await expectSameCreate(resource, { ...body(), [name]: -1 })
        const repeated = body()
        await expectSameCreate(resource, repeated)
        if (unique) await expectSameCreate(resource, repeated)
        if (unique) await expectSameCreate(resource, { ...repeated, [name]: `${repeated[name]}`.toUpperCase() })
      }
      await expectSame(`${path}?limit=200&offset=100`)
      for (const q of strings) await expectSame(`${path}?q=${encodeURIComponent(q)}`)
      for (const { name } of filters) await expectSame(`${path}?${name}=${'x'.repeat(5_000)}`)
    })
  }

  test.run()
}
