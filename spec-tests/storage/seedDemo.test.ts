/** `npm run seed -- --demo`: demo rows reach a database that has rows of other resources. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadDemoRows } from '../../cli/seed/loadDemoRows.js'
import { integer, text, today } from '../../engine/descriptor/index.js'
import { newRow, type Registry, type Resource, type RowValues } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import type { Storage } from '../../engine/storage/storage.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { resourceIn } from '../support/registryFrom.js'

const authorRows = [
  { id: 1, name: 'Ada' },
  { id: 7, name: 'Blaise' },
]
const bookRows = [
  { id: 2, title: 'First', author_id: 7 },
  { id: 3, title: 'Second', author_id: 1, sequel_id: 5 },
  { id: 5, title: 'Third', sequel_id: 3 },
]

const bookFields = {
  title: text({ unique: true }),
  author_id: integer({ references: 'authors' }),
  sequel_id: integer({ references: 'books' }),
}
const registryOf = (authors: RowValues[], books: RowValues[]): Registry => [
  resourceIn('authors', { name: text() }, { demo: authors }),
  resourceIn('books', bookFields, { required: ['title'], demo: books }),
]

/** A database with the given authors and no books, opened with the demo rows of both. */
const openedWith = async (authors: RowValues[]): Promise<{ storage: Storage; books: Resource }> => {
  const url = await freshUrl()
  await (await openStorage(registryOf(authors, []), url, storageOptions)).close()
  const registry = registryOf(authorRows, bookRows)
  return { storage: await openStorage(registry, url, storageOptions), books: registry[1] as Resource }
}

const countOf = async (storage: Storage, resource: Resource): Promise<number | undefined> =>
  (await storage.counts()).get(resource)

const test = suite('seed --demo')

test('the rows are loaded with their ids, and the next row gets the next one', async () => {
  const { storage, books } = await openedWith(authorRows)
  assert.is(await countOf(storage, books), 0)
  const said: string[] = []
  await loadDemoRows(storage, [books], (message) => said.push(message))
  assert.equal(said, ['books: loaded 3 demo rows.'])
  const stored = await storage.rows(books, 0, 10)
  assert.is(JSON.stringify(stored.map(({ id, sequel_id }) => [id, sequel_id])), '[[2,null],[3,5],[5,3]]')
  const created = await storage.table(books).write(insertion(newRow(books, { title: 'Fourth', author_id: 1 })))
  assert.is('id' in created && created.id, '6')
  await storage.close()
})

test('a demo row takes the default of a required field that it lacks, and no other', async () => {
  const fields = {
    title: text({ default: 'Untitled' }),
    note: text({ default: 'none' }),
    since: text({ default: today }),
  }
  const demo = [{ id: 1 }, { id: 2, title: 'Mine', since: '2026-01-31' }]
  const books = resourceIn('books', fields, { required: ['title', 'since'], demo })
  const storage = await openStorage([books], await freshUrl(), storageOptions)
  assert.equal(await storage.rows(books, 0, 10), [
    { id: 1, title: 'Untitled', note: null, since: today() },
    { id: 2, title: 'Mine', note: null, since: '2026-01-31' },
  ])
  await storage.close()
})

test('references that name no row of this database are all reported, and nothing is loaded', async () => {
  const { storage, books } = await openedWith([{ id: 3, name: 'Another' }])
  const refused = await loadDemoRows(storage, [books], () => {}).catch(String)
  assert.is(
    refused,
    [
      'CommandError: Nothing was loaded:',
      'seeds/books.json, row 1: author_id references row 7 of authors, which is not in the database.',
      'seeds/books.json, row 2: author_id references row 1 of authors, which is not in the database.',
    ].join('\n  '),
  )
  assert.is(await countOf(storage, books), 0)
  await storage.close()
})

test('resources that reference each other are loaded together', async () => {
  const url = await freshUrl()
  const other = resourceIn('others', { name: text() }, { demo: [{ id: 1, name: 'x' }] })
  await (await openStorage([other], url, storageOptions)).close()
  const registry = [...registryOf(authorRows, bookRows), other]
  const storage = await openStorage(registry, url, storageOptions)
  await loadDemoRows(storage, registry.slice(0, 2), () => {})
  assert.equal([...(await storage.counts()).values()], [2, 3, 1])
  await storage.close()
})

test.run()
