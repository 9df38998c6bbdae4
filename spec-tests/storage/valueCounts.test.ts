/** The counts of filter values: exact, with q and filters, or of the first rows. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { resourceIn } from '../support/registryFrom.js'

const fields = { note: text(), kind: text({ filter: true }), size: integer({ filter: true }) }
const things = resourceIn('things', fields, { create: false })

const rows = Array.from({ length: 20_000 }, (_, n) => ({
  id: n + 1,
  note: n % 10 === 0 ? 'tenth row' : 'another',
  kind: n % 5 === 0 ? null : n % 7 === 0 ? 'long '.repeat(200) : n % 4 === 0 ? 'fourth' : 'other',
  size: n % 30,
}))
const storage = await openStorage([things], await freshUrl(), storageOptions)
await storage.fill([{ resource: things, rows }])
const table = storage.table(things)

/** The counts in plain JavaScript: without null and long texts. */
const expected = (some: typeof rows, field: 'kind' | 'size') => {
  const counts = new Map<string, number>()
  for (const { [field]: value } of some) {
    if (value === null || String(value).length > 400) continue
    counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
  }
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, 12)
}

const size = (maxRows = 100_000) => ({ maxRows, maxValues: 12 })

const test = suite('value counts')

test('all rows: the most frequent values, without null and long texts', async () => {
  const counts = await table.valueCounts(listQuery(), ['kind', 'size'], size())
  assert.is(counts.rows, 20_000)
  assert.equal(counts.values.get('kind'), expected(rows, 'kind'))
  assert.is(counts.values.get('size')?.length, 12)
  for (const [, count] of counts.values.get('size') ?? []) assert.ok(count === 667 || count === 666)
})

test('a search and a filter narrow the rows', async () => {
  const found = rows.filter(({ note, size }) => note === 'tenth row' && size === 20)
  const counts = await table.valueCounts(listQuery({ q: 'TENTH', filters: { size: 20n } }), ['kind'], size())
  assert.is(counts.rows, found.length)
  assert.equal(counts.values.get('kind'), expected(found, 'kind'))
  const none = await table.valueCounts(listQuery({ q: 'nowhere' }), ['kind'], size())
  assert.equal(none, { rows: 0, values: new Map([['kind', []]]) })
})

test('no more rows are counted than asked for', async () => {
  const counts = await table.valueCounts(listQuery(), ['kind'], size(1_000))
  assert.is(counts.rows, 1_000)
  const counted = (counts.values.get('kind') ?? []).reduce((sum, [, count]) => sum + count, 0)
  assert.ok(counted > 500 && counted <= 1_000, `${counted} values`)
})

test.after(() => storage.close())
test.run()
