/** Hooks that take long: 10,000 imported rows, and the time limit. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { defineHook, defineResource, integer, text } from '../../engine/descriptor/index.js'
import { server } from '../support/database.js'
import { hooksNamed } from '../support/ownOperations.js'
import { registryFrom } from '../support/registryFrom.js'
import { authorized, clientOf, startService } from '../support/service.js'

const open = { create: true, update: true, delete: true, import: true } as const
const shelves = defineResource({
  name: 'Shelf',
  area: 'Library',
  table: 'shelves',
  fields: { books: integer({ min: 0, default: 0 }) },
  required: ['books'],
  ...open,
})
const books = defineResource({
  name: 'Book',
  area: 'Library',
  table: 'books',
  fields: { title: text(), shelf_id: integer({ references: 'shelves', filter: true }) },
  required: ['title', 'shelf_id'],
  ...open,
})
const hooks = hooksNamed({
  count: defineHook({
    resource: books,
    on: ['create'],
    async handle({ row, asService }) {
      if (row?.title === 'endless') await new Promise(() => {})
      const shelf = row && (await asService.of(shelves).get(row.shelf_id))
      if (shelf) await asService.of(shelves).update(shelf.id, { books: shelf.books + 1 })
    },
  }),
})
const { address } = await startService({ registry: registryFrom({ shelves, books }), hooks })
const { send } = clientOf(address)
const post = (path: string, body: unknown) =>
  send(`/api/v1/${path}`, { method: 'POST', headers: authorized, body: JSON.stringify(body) })
/** PostgreSQL gets slower with each change of the same row in one transaction. */
const shelfCount = 200
for (let n = 0; n < shelfCount; n++) await post('shelves', {})

const test = suite('hooks that take long')

/** On PostgreSQL, beside other tests, 10,000 may take longer than the 30 seconds of an import. */
const count = server ? 2_000 : 10_000

test(`an import of ${count} rows runs its hook for each`, async () => {
  const rows = Array.from({ length: count }, (_, n) => ({ title: `Book ${n}`, shelf_id: 1 + (n % shelfCount) }))
  const response = await post('books/import', rows)
  assert.equal([response.status, response.body.created], [201, count], response.text.slice(0, 200))
  const { body } = await send('/api/v1/shelves?limit=200')
  assert.equal(
    body.data.map((shelf: { books: number }) => shelf.books),
    Array.from({ length: shelfCount }, () => count / shelfCount),
  )
})

test('a write whose hook does not end is undone after five seconds, and the next one works', async () => {
  const start = performance.now()
  assert.is((await post('books', { title: 'endless', shelf_id: 1 })).status, 503)
  const seconds = (performance.now() - start) / 1_000
  assert.ok(seconds > 4, `${seconds} s`)
  assert.is((await post('books', { title: 'Next', shelf_id: 1 })).status, 201)
  assert.is((await send('/api/v1/books?limit=1')).body.meta.total, count + 1)
})

test.run()
