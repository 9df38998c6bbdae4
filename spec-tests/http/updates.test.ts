/** Updates and deletes: order of the checks, merge, tags, keys, conflicts and references. */
import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, integer, now, text, timestamp } from '../../engine/descriptor/index.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import type { StoredRow } from '../../engine/storage/storage.js'
import { resourceIn } from '../support/registryFrom.js'
import { issuesOf, startService } from '../support/service.js'
import { transcriptWith } from '../support/transcript.js'

const bookFields = {
  title: text({ maxLength: 80 }),
  author_id: integer({ references: 'authors', filter: true }),
  editor_id: integer({ references: 'authors', onDelete: 'set null' }),
  slug: text({ unique: ['author_id'] }),
  state: text({ default: 'new', oneOf: ['new', 'sold'] }),
  lent: boolean({ default: false, filter: true }),
  created: text({ managed: now }),
  changed: timestamp({ managed: now, onUpdate: now }),
}
const reviewFields = {
  book_id: integer({ references: 'books', onDelete: 'cascade', filter: true }),
  reply_to_id: integer({ references: 'reviews', onDelete: 'cascade' }),
  words: text(),
}
const quoteFields = {
  review_id: integer({ references: 'reviews' }),
  book_id: integer({ references: 'books', onDelete: 'cascade' }),
}
const noteFields = {
  review_id: integer({ references: 'reviews', onDelete: 'set null', filter: true }),
  second_id: integer({ references: 'reviews', onDelete: 'set null' }),
  words: text(),
  changed: timestamp({ managed: now, onUpdate: now }),
}
const both = { update: true, delete: true } as const
const registry = [
  resourceIn('authors', { name: text(), secret: text({ redacted: true }) }, { required: ['name'], ...both }),
  resourceIn('books', bookFields, { required: ['title', 'state', 'lent', 'created', 'changed'], ...both }),
  resourceIn('reviews', reviewFields, { required: ['book_id'] }),
  resourceIn('quotes', quoteFields, { delete: true }),
  resourceIn('notes', noteFields, { delete: true }),
]
const service = await startService({ registry })
const { send, get, create, remove, fill } = service
const run = transcriptWith(service)
const change: typeof service.change = (path, body, headers) =>
  service.change(path, body, { 'content-type': 'application/merge-patch+json', ...headers })

let count = 0
/** A new row, its path and its tag. */
const fresh = async (resource: string, values: object = {}) => {
  const name = `${resource} ${count++}`
  const body = { authors: { name }, books: { title: name }, reviews: { words: name }, notes: { words: name } }[resource]
  const created = await create(resource, { ...body, ...values })
  assert.is(created.status, 201, created.text)
  const path = `${resource}/${created.body.id}`
  const { headers } = await get(`/v1/${path}`)
  return { path, id: created.body.id as number, row: created.body, tag: String(headers['etag']) }
}

const test = suite('updates and deletes')

test('a change sets a field with onUpdate', async () => {
  const { path, row } = await fresh('books')
  while (new Date().toISOString() <= row.changed) await setImmediate()
  assert.ok((await change(path, { lent: true })).body.changed > row.changed)
})

test('the tag of a row is its own: another row does not change it', async () => {
  const one = await fresh('books')
  await fresh('books')
  const other = await fresh('books')
  await change(other.path, { title: 'Changed' })
  assert.is((await get(`/v1/${one.path}`)).headers['etag'], one.tag)
  const known = await send(`/api/v1/${one.path}`, { headers: { 'if-none-match': one.tag } })
  assert.is(known.status, 304)
})

test('If-Match: the tag of any encoding matches, a weak or another one does not', async () => {
  const { path, tag } = await fresh('books')
  const refused = await change(path, { title: 'x' }, { 'if-match': '"other"' })
  assert.equal([refused.status, refused.body.error.code, refused.headers['etag']], [412, 'precondition_failed', tag])
  await run(`
    PATCH ${path} if-match=W/${tag} {"title":"x"} -> 412
    PATCH ${path} if-match="a",${tag.replace(/"$/, '-gzip"')} {"title":"x"} -> 200
    DELETE ${path} if-match=${tag} -> 412
    DELETE ${path} if-match=* -> 204`)
})

test('checks come in order: token, row, tag, body', async () => {
  const { path } = await fresh('books')
  await run(`
    x PATCH ${path} if-match="no" { -> 401
    PATCH books/987654 if-match="no" { -> 404
    PATCH books/abc { -> 404
    PATCH books/%FF { -> 422 string_unicode path item_id
    PATCH ${path} if-match="no" { -> 412
    PATCH ${path} { -> 422 json_invalid body
    PATCH ${path} content-type=text/plain {} -> 422 content_type body
    PATCH ${path} content-type=application/json {} -> 200
    PATCH ${path} content-type=application/merge-patch+json {} -> 200
    PATCH ${path} {"title":"${'x'.repeat(1_100_000)}"} -> 413`)
})

test('every issue of an update is reported at once', async () => {
  const { path } = await fresh('books')
  const body = { id: 1, created: 'x', title: null, state: 'sld', author_id: 987654, lent: 1, colour: 'red' }
  // biome-ignore format: one list
  const issues = [
    'bool_type body lent', 'enum body state', 'extra_forbidden body colour', 'extra_forbidden body created',
    'extra_forbidden body id', 'missing body title', 'reference body author_id',
  ]
  assert.equal(issuesOf(await change(path, body)).sort(), issues)
  const author = await fresh('authors')
  assert.equal(issuesOf(await change(author.path, { secret: null })), ['redacted body secret'])
})

test('unique values are compared on the merged row, and not with itself', async () => {
  await run(`
    author = POST authors {"name":"Of unique books"} -> 201
    one = POST books {"title":"One","author_id":{author},"slug":"same"} -> 201
    two = POST books {"title":"Two","slug":"same"} -> 201
    PATCH books/{one} {"slug":"same","title":"Same slug"} -> 200
    PATCH books/{two} {"author_id":{author}} -> 422 unique body slug
    PATCH books/{two} {"author_id":{author},"slug":"other"} -> 200`)
})

test('a delete is prevented by what references a row further down its cascades, unless that is deleted too', async () => {
  const [book, other] = [await fresh('books'), await fresh('books')]
  const review = await fresh('reviews', { book_id: book.id })
  const reply = await fresh('reviews', { book_id: other.id, reply_to_id: review.id })
  const quote = await fresh('quotes', { review_id: reply.id })
  await fresh('quotes', { review_id: review.id, book_id: book.id })
  const refused = await remove(book.path)
  assert.equal([refused.status, refused.body.error.code], [409, 'referenced'])
  assert.equal(refused.body.error.details.references, [{ resource: 'quotes', field: 'review_id', count: 1 }])
  assert.is((await remove(quote.path)).status, 204)
  const total = async () => (await get('/v1/reviews')).body.meta.total
  const before = await total()
  assert.is((await remove(book.path)).status, 204)
  assert.is((await get(`/v1/${reply.path}`)).status, 404)
  assert.is(await total(), before - 2)
})

test('a cascade goes through more levels than a foreign key does', async () => {
  const [book, other] = [await fresh('books'), await fresh('books')]
  const [reviews] = registry.filter(({ path }) => path === 'reviews')
  const rows = Array.from({ length: 1_500 }, (_, n) => ({
    id: 700_000 + n,
    // Only the replies lead to the reviews of the other book.
    book_id: n === 0 ? book.id : other.id,
    reply_to_id: n === 0 ? null : 700_000 + n - 1,
  }))
  await fill([{ resource: reviews as never, rows }])
  assert.is((await remove(book.path)).status, 204)
  assert.is((await get(`/v1/reviews?book_id=${other.id}`)).body.meta.total, 0)
  assert.is((await remove(other.path)).status, 204)
})

test('set null by a delete is a change of the row, at every level: onUpdate applies, and the tags follow', async () => {
  const author = await fresh('authors')
  const edited = await fresh('books', { editor_id: author.id })
  const book = await fresh('books')
  const review = await fresh('reviews', { book_id: book.id })
  const reply = await fresh('reviews', { book_id: book.id, reply_to_id: review.id })
  const note = await fresh('notes', { review_id: reply.id, second_id: review.id })
  const other = await fresh('notes', { second_id: reply.id })
  const tagOfList = async () => (await get('/v1/notes?limit=1')).headers['etag']
  const before = await tagOfList()
  while (new Date().toISOString() <= other.row.changed) await setImmediate()
  for (const { path } of [author, book]) assert.is((await remove(path)).status, 204)
  const cleared = { editor_id: null, review_id: null, second_id: null }
  for (const { path, row, tag } of [edited, note, other]) {
    const read = await get(`/v1/${path}`)
    const { changed, ...values } = read.body
    const expected = Object.entries(row).filter(([name]) => name !== 'changed')
    const given = expected.map(([name, value]) => [name, name in cleared ? null : value])
    assert.equal(values, Object.fromEntries(given))
    assert.ok(changed > row.changed, `${path} was changed at ${changed}`)
    assert.is.not(read.headers['etag'], tag)
  }
  assert.is.not(await tagOfList(), before)
  assert.is((await get(`/v1/notes?q=${encodeURIComponent(note.row.words)}`)).body.meta.total, 1)
  assert.is((await get('/v1/notes?review_id.null=true')).body.meta.total, (await get('/v1/notes')).body.meta.total)
})

test('a delete that would remove or change more than 10,000 other rows is refused, with their numbers', async () => {
  const [, , reviews, , notes] = registry as [Resource, Resource, Resource, Resource, Resource]
  const book = await fresh('books')
  const { id: first } = await fresh('reviews', { book_id: book.id })
  const { id: last } = await fresh('notes', { review_id: first, second_id: first })
  const many = (length: number, row: (n: number) => StoredRow) => Array.from({ length }, (_, n) => row(n))
  await fill([
    { resource: reviews, rows: many(5_999, (n) => ({ id: first + 1 + n, book_id: book.id, words: 'many' })) },
    // A row with two references counts once.
    { resource: notes, rows: many(4_000, (n) => ({ review_id: first + n, second_id: first + n })) },
  ])
  const refused = await remove(book.path)
  assert.equal([refused.status, refused.body.error.code], [409, 'referenced'])
  assert.equal(refused.body.error.details.references, [
    { resource: 'reviews', field: 'book_id', count: 6_000 },
    { resource: 'notes', field: 'review_id', count: 4_001 },
    { resource: 'notes', field: 'second_id', count: 4_001 },
  ])
  assert.match(refused.body.error.message, /at most 10000 other rows.* 6000 of reviews \(book_id\), 4001 of notes/)
  const total = async (list: string) => (await get(`/v1/${list}`)).body.meta.total
  assert.is(await total(`notes?review_id=${first}`), 2)
  assert.is((await remove(`notes/${last}`)).status, 204)
  const [before, allNotes] = [await total('reviews'), await total('notes')]
  assert.is((await remove(book.path)).status, 204)
  assert.equal([await total('reviews'), await total('notes')], [before - 6_000, allNotes])
  assert.is(await total('notes?review_id.null=true'), allNotes)
})

test('the rows of a level that has too many are counted, and no further level is read', async () => {
  const [, , reviews] = registry as [Resource, Resource, Resource]
  const book = await fresh('books')
  const { id: first } = await fresh('reviews', { book_id: book.id })
  const row = (n: number) => ({ id: first + 1 + n, book_id: book.id, reply_to_id: first + n })
  await fill([{ resource: reviews, rows: Array.from({ length: 12_000 }, (_, n) => row(n)) }])
  const refused = await remove(book.path)
  assert.equal(refused.body.error.details.references, [{ resource: 'reviews', field: 'book_id', count: 12_001 }])
})

test('a retry with the same key has the same outcome, whatever the tag is by now', async () => {
  const { id, path, tag } = await fresh('books')
  const once = `PATCH ${path} idempotency-key=update if-match=${tag}`
  await run(`
    ${once} {"title":"Once"} -> 200 {"title":"Once"}
    PATCH ${path} {"title":"In between"} -> 200
    ${once} {"title":"Once"} -> 200 replayed {"title":"Once"}
    GET ${path} -> 200 {"title":"In between"}
    ${once} {"title":"Twice"} -> 422 idempotency_key_reused header Idempotency-Key
    DELETE ${path} idempotency-key=delete -> 204
    DELETE ${path} idempotency-key=delete -> 204
    PATCH ${path} idempotency-key=delete {} -> 422 idempotency_key_reused header Idempotency-Key`)
  assert.ok((await fresh('books')).id > id, 'an id was given again')
})

test('requests with the same key at the same time have the same outcome', async () => {
  const { path, tag } = await fresh('books')
  const headers = { 'idempotency-key': `both-${path}`, 'if-match': tag }
  for (const send of [
    () => change(path, { title: 'Once' }, headers),
    () => remove(path, { 'idempotency-key': `all-${path}` }),
  ]) {
    const responses = await Promise.all(Array.from({ length: 20 }, send))
    assert.is(new Set(responses.map(({ status, text: body }) => `${status} ${body}`)).size, 1)
    assert.is(responses.filter((one) => one.headers['idempotency-replayed'] === undefined).length, 1)
  }
})

test('clients that read, add one and write with the tag they read lose no update', async () => {
  const { path } = await fresh('books', { title: '0' })
  const addOne = async (): Promise<void> => {
    const { headers, body } = await get(`/v1/${path}`)
    const title = String(Number(body.title) + 1)
    const changed = await change(path, { title }, { 'if-match': String(headers['etag']) })
    if (changed.status === 412) return addOne()
    assert.is(changed.status, 200, changed.text)
  }
  await Promise.all(Array.from({ length: 40 }, addOne))
  assert.is((await get(`/v1/${path}`)).body.title, '40')
})

test.run()
