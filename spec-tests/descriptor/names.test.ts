/** Tables and fields may have any valid name, even a word of SQL or one that the engine's own statements use. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, number, text } from '../../engine/descriptor/index.js'
import { newRow, type Registry, type RowValues, resourceFrom } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { listQuery, type ShortQuery } from '../support/listQuery.js'

// biome-ignore format: one list
const words = [
  'blocks', 'found', 'given', 'made', 'matches', 'order', 'page', 'rows', 'select', 'size', 'start', 'state',
]
const registry: Registry = words.map((table, n) => {
  const references = words[(n + 1) % words.length] as string
  const fields = {
    text: text({ unique: ['group'] }),
    group: text({ filter: true }),
    skip: integer({ filter: true }),
    first: integer({ references }),
    ...Object.fromEntries(
      ['body', 'conflicts', 'json', 'key', 'r', 'row', 'size', 'tag', 'value'].map((name) => [name, text()]),
    ),
    ...Object.fromEntries(['block', 'total', 'version'].map((name) => [name, number()])),
  }
  return resourceFrom(table, { name: 'Thing', area: 'Things', table, fields, required: [], create: true }, [])
})
const storage = await openStorage(registry, await freshUrl(), storageOptions)

const test = suite('names')

for (const resource of registry) {
  test(`a table and its fields can be read and written: ${resource.table}`, async () => {
    const table = storage.table(resource)
    const pageOf = async (query: ShortQuery): Promise<{ ids: number[]; total: number }> => {
      const { body } = await table.list(listQuery({ limit: 2, ...query }))
      const { data, meta } = JSON.parse(String(body)) as { data: { id: number }[]; meta: { total: number } }
      return { ids: data.map(({ id }) => id), total: meta.total }
    }
    for (const [n, group] of ['a', 'a', 'b'].entries()) {
      const row = newRow(resource, { text: `needle ${n}`, group, skip: 7, total: n, value: 'x' })
      const created = await table.write(insertion(row, { key: `${resource.table} ${n}`, digest: 'd' }))
      assert.is('id' in created && created.id, n + 1)
    }
    assert.is(JSON.parse(String((await table.get(3))?.body)).text, 'needle 2')
    assert.equal(await pageOf({}), { ids: [1, 2], total: 3 })
    assert.equal(await pageOf({ offset: 1n }), { ids: [2, 3], total: 3 })
    assert.equal(await pageOf({ filters: { skip: 7n }, offset: 2n }), { ids: [3], total: 3 })
    assert.equal(await pageOf({ filters: { group: 'a', skip: 7n } }), { ids: [1, 2], total: 2 })
    assert.equal(await pageOf({ q: 'NEEDLE', filters: { group: 'b' } }), { ids: [3], total: 1 })
    assert.equal(await pageOf({ q: 'e 1' }), { ids: [2], total: 1 })
    const wrong = newRow(resource, { text: 'needle 0', group: 'a', first: 99 })
    const conflicts = [
      { type: 'unique', field: 'text' },
      { type: 'reference', field: 'first' },
    ]
    assert.equal(await table.conflicts(wrong), conflicts)
    assert.equal(await table.write(insertion(wrong)), { conflicts })
    const lines: string[] = []
    for await (const part of table.stream(listQuery({ q: 'needle', filters: { group: 'a' } })))
      lines.push(String(Buffer.from(part)))
    assert.equal(
      lines
        .join('')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).id),
      [1, 2],
    )
    const counts = await table.valueCounts(listQuery({ filters: { skip: 7n } }), ['group', 'skip'], 1)
    assert.equal(
      [...counts.values],
      [
        [
          'group',
          [
            ['a', 2],
            ['b', 1],
          ],
        ],
        ['skip', [['7', 3]]],
      ],
    )
    assert.is((await table.valueCounts(listQuery(), ['group'], 0.5)).values.size, 1)
    assert.equal(await table.excerpts([3], ['text', 'total', 'value']), [
      { id: 3, text: 'needle 2', total: 2, value: 'x' },
    ])
    const [row] = await storage.rows(resource, 2, 1)
    await storage.fill([{ resource, rows: [{ ...row, id: 9, group: 'c' } as RowValues] }])
    assert.equal(await pageOf({ offset: 2n }), { ids: [3, 9], total: 4 })
  })
}

test.after(() => storage.close())
test.run()
