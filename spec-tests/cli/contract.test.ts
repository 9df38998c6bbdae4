/** Each kind of change of a descriptor is named as breaking or not, and for whom. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { compareDocuments } from '../../cli/contract/compare.js'
import type { Difference } from '../../cli/contract/differences.js'
import type { Json } from '../../cli/contract/json.js'
import { rules } from '../../cli/contract/rules.js'
import { documentsOf } from '../../engine/contract/documents.js'
import { operationsOf } from '../../engine/contract/operations.js'
import type { Descriptor } from '../../engine/descriptor/define.js'
import { boolean, date, integer, now, number, text, timestamp, today } from '../../engine/descriptor/index.js'
import { type Registry, resourceFrom } from '../../engine/descriptor/registry.js'
import { product } from '../../product.js'

const documentOf = (registry: Registry, served = product): Json =>
  JSON.parse(documentsOf(served, operationsOf(registry)).openapi.toString()) as Json

const test = suite('the contract')

type Descriptors = Record<string, Descriptor>

/** The descriptors that each change begins with. */
const original: Descriptors = {
  authors: {
    name: 'Author',
    area: 'Library',
    table: 'authors',
    fields: { name: text() },
    required: ['name'],
    create: false,
  },
  books: {
    name: 'Book',
    area: 'Library',
    table: 'books',
    fields: {
      title: text(),
      subtitle: text(),
      isbn: text({ unique: true }),
      shelf: text({ unique: ['author_id'] }),
      author_id: integer({ references: 'authors', filter: true }),
      pages: integer(),
      price: number(),
      status: text({ default: 'available', filter: true }),
      added_on: text({ default: today }),
      notes: text({ redacted: true }),
      created: text({ managed: now }),
    },
    required: ['title', 'status', 'created'],
    create: true,
  },
}

const registryOf = (descriptors: Descriptors): Registry =>
  Object.entries(descriptors).map(([path, descriptor]) => resourceFrom(path, descriptor, []))

/** Changes properties of the books. */
const books =
  (change: Partial<Descriptor>) =>
  ({ books, ...others }: Descriptors): Descriptors => ({ ...others, books: { ...(books as Descriptor), ...change } })

/** Replaces, adds or (undefined) removes fields of the books. */
const fields =
  (change: Record<string, Descriptor['fields'][string] | undefined>) =>
  (descriptors: Descriptors): Descriptors => {
    const given = Object.entries({ ...descriptors['books']?.fields, ...change })
    const kept = given.filter((entry): entry is [string, Descriptor['fields'][string]] => entry[1] !== undefined)
    const required = descriptors['books']?.required.filter((name) => kept.some(([other]) => other === name)) ?? []
    return books({ fields: Object.fromEntries(kept), required })(descriptors)
  }

const require = (...names: string[]) => books({ required: ['title', 'status', 'created', ...names] })

/** A change, and its differences: the rule, what it is about, and who breaks. Changed sentences are left out. */
const changes: [title: string, change: (before: Descriptors) => Descriptors, expected: string[]][] = [
  ['nothing', (before) => before, []],
  [
    'a new resource',
    (before) => ({ ...before, shelves: { ...(before['authors'] as Descriptor), name: 'Shelf', table: 'shelves' } }),
    ['operation-added GET /v1/shelves', 'operation-added GET /v1/shelves/{item_id}'],
  ],
  [
    'a resource that is removed',
    ({ books: removed, ...others }) => (removed ? others : {}),
    [
      'operation-removed GET /v1/books: readers',
      'operation-removed GET /v1/books/{item_id}: readers',
      'operation-removed POST /v1/books: writers',
    ],
  ],
  ['no creates', books({ create: false }), ['operation-removed POST /v1/books: writers']],
  [
    'another name',
    books({ name: 'Volume' }),
    [
      'operation-renamed GET /v1/books/{item_id}: generated clients',
      'operation-renamed GET /v1/books: generated clients',
      'operation-renamed POST /v1/books: generated clients',
      'schema-renamed schema Book: generated clients',
      'schema-renamed schema BookCollection: generated clients',
      'schema-renamed schema BookCreate: generated clients',
    ],
  ],
  ['another plural', books({ plural: 'Library books' }), ['operation-renamed GET /v1/books: generated clients']],
  [
    'another area',
    books({ area: 'Loans' }),
    ['tag-changed GET /v1/books', 'tag-changed GET /v1/books/{item_id}', 'tag-changed POST /v1/books'],
  ],
  ['another table', books({ table: 'volumes' }), []],
  ['another sentence', books({ about: 'A book.' }), []],
  ['a new field', fields({ language: text() }), ['field-added Book.language', 'field-added BookCreate.language']],
  [
    'a new required field',
    (before) => require('language')(fields({ language: text() })(before)),
    ['field-added Book.language', 'required-field-added BookCreate.language: writers'],
  ],
  [
    'a new required field with a default',
    (before) => require('language')(fields({ language: text({ default: 'en' }) })(before)),
    ['field-added Book.language', 'field-added BookCreate.language'],
  ],
  ['a new managed field', fields({ updated: text({ managed: now }) }), ['field-added Book.updated']],
  [
    'a field that is removed',
    fields({ subtitle: undefined }),
    ['field-removed Book.subtitle: readers', 'field-removed BookCreate.subtitle: writers'],
  ],
  [
    'fields in another order',
    ({ books: { fields: all, ...rest } = original['books'] as Descriptor, ...others }) => ({
      ...others,
      books: { ...rest, fields: Object.fromEntries(Object.entries(all).reverse()) },
    }),
    [],
  ],
  [
    'a field that becomes required',
    require('subtitle'),
    ['became-required Book.subtitle', 'became-required BookCreate.subtitle: writers'],
  ],
  [
    'a field that becomes required and has a default',
    (before) => require('added_on')(before),
    ['became-required Book.added_on'],
  ],
  [
    'a field that is no longer required',
    books({ required: ['status', 'created'] }),
    ['became-optional Book.title: readers', 'became-optional BookCreate.title'],
  ],
  [
    'a field that becomes managed',
    fields({ subtitle: text({ managed: true }) }),
    ['field-removed BookCreate.subtitle: writers'],
  ],
  [
    'a field that is no longer managed',
    (before) => books({ required: ['title', 'status'] })(fields({ created: text() })(before)),
    ['became-optional Book.created: readers', 'field-added BookCreate.created'],
  ],
  [
    'a new filter',
    fields({ pages: integer({ filter: true }) }),
    ['', '.in', '.null'].map((suffix) => `parameter-added query parameter "pages${suffix}"`),
  ],
  [
    'a filter that is removed',
    fields({ status: text({ default: 'available' }) }),
    ['', '.in', '.null'].map((suffix) => `parameter-removed query parameter "status${suffix}": readers`),
  ],
  [
    'another default',
    fields({ status: text({ default: 'lent', filter: true }) }),
    ['default-changed BookCreate.status: writers'],
  ],
  [
    'a default for a field that was mandatory',
    fields({ title: text({ default: 'Untitled' }) }),
    ['became-optional BookCreate.title'],
  ],
  [
    'a default for a field that was null when left out',
    fields({ subtitle: text({ default: 'none' }) }),
    ['default-changed BookCreate.subtitle: writers'],
  ],
  [
    'no default for a required field',
    fields({ status: text({ filter: true }) }),
    ['became-required BookCreate.status: writers'],
  ],
  [
    'a constant in place of the clock',
    fields({ added_on: text({ default: '2026-01-01' }) }),
    ['default-changed BookCreate.added_on: writers'],
  ],
  [
    'unique among other rows',
    fields({ shelf: text({ unique: ['status'] }) }),
    [
      'unique-loosened Book.shelf: readers',
      'unique-loosened BookCreate.shelf',
      'unique-tightened Book.shelf',
      'unique-tightened BookCreate.shelf: writers',
    ],
  ],
  [
    'a field that becomes redacted',
    fields({ subtitle: text({ redacted: true }) }),
    ['redacted Book.subtitle: readers'],
  ],
  ['a field that is no longer redacted', fields({ notes: text() }), ['revealed Book.notes']],
  ['another format', fields({ subtitle: text({ format: 'date' }) }), []],
  ['another example', fields({ subtitle: text({ example: 'A story' }) }), []],
]

/** What a description or an example says breaks nobody. */
const isWording = ({ rule }: Difference): boolean =>
  rule === 'description-changed' || rule === 'example-changed' || rule === 'order-changed'

const summaryOf = ({ rule, subject, breaks }: Difference): string =>
  [`${rule} ${subject}`, ...breaks.map(({ audience }) => audience)].join(': ')

const before = documentOf(registryOf(original))

/** The rules that a test has met. */
const met = new Set<string>()
const compare = (one: Json, other: Json): Difference[] => {
  const differences = compareDocuments(one, other)
  for (const { rule } of differences) met.add(rule)
  return differences
}

for (const [title, change, expected] of changes) {
  test(`a change of a descriptor: ${title}`, () => {
    const after = documentOf(registryOf(change(original)))
    const differences = compare(before, after)
    const structural = differences.filter((one) => !isWording(one))
    assert.equal(structural.map(summaryOf).toSorted(), expected.toSorted())
    for (const one of differences.filter(isWording)) assert.equal(one.breaks, [])
    assert.is(differences.length === 0, JSON.stringify(before) === JSON.stringify(after))
  })
}

/** Changes of a document that no descriptor makes: where, the new value (undefined removes it), and the differences. */
const edits: [where: string, value: unknown, expected: string[]][] = [
  ['servers', [{ url: '/v2' }], ['base-path-changed the service: readers: writers']],
  ['info.version', '2.0.0', []],
  ['openapi', '3.2.0', ['keyword-changed openapi: readers: writers']],
  ['components.securitySchemes.writeToken.scheme', 'basic', ['token-scheme-changed the service: readers: writers']],
  ['list.security', [{ writeToken: [] }], ['token-required GET /v1/books: readers']],
  ['create.security', [], ['token-not-required POST /v1/books']],
  ['create.deprecated', true, ['keyword-changed POST /v1/books: deprecated: writers']],
  ['list.parameters.0.schema.maximum', 100, ['bound-tightened query parameter "limit": the maximum: readers']],
  ['list.parameters.0.schema.maximum', 500, ['bound-loosened query parameter "limit": the maximum']],
  ['list.parameters.0.schema.minimum', 5, ['bound-tightened query parameter "limit": the minimum: readers']],
  ['list.parameters.0.schema.default', 20, ['default-changed query parameter "limit": readers']],
  ['list.parameters.2.required', true, ['became-required query parameter "q": readers']],
  ['list.parameters.2.schema.type', 'integer', ['type-changed query parameter "q": readers']],
  [
    'list.parameters.13',
    { in: 'query', name: 'lang', required: true, schema: {} },
    ['required-parameter-added query parameter "lang": readers'],
  ],
  ['create.parameters.0.schema.pattern', '^a', ['pattern-changed header parameter "Idempotency-Key": writers']],
  ['create.parameters.0.schema.pattern', undefined, ['bound-loosened header parameter "Idempotency-Key": the pattern']],
  [
    'create.parameters.0.schema.maxLength',
    64,
    ['bound-tightened header parameter "Idempotency-Key": the maxLength: writers'],
  ],
  ['create.requestBody', undefined, ['body-removed request body: writers']],
  ['list.requestBody', { required: true }, ['body-added request body: readers']],
  ['create.requestBody.required', false, ['became-optional request body']],
  ['create.requestBody.content.application/xml', {}, ['media-type-added application/xml of request body']],
  [
    'create.requestBody.content.application/json',
    undefined,
    ['media-type-removed application/json of request body: writers'],
  ],
  ['list.responses.200', undefined, ['success-removed response 200: readers']],
  ['list.responses.412', undefined, ['error-removed response 412']],
  ['list.responses.429', {}, ['status-added response 429']],
  ['list.responses.200.headers.ETag', undefined, ['header-removed header ETag of 200: readers']],
  ['list.responses.200.headers.Age', {}, ['header-added header Age of 200']],
  ['create.responses.201.headers.Location.required', false, ['became-optional header Location of 201: writers']],
  ['schemas.Book.properties.title.enum', ['a', 'b'], ['bound-tightened Book.title: the list of values']],
  [
    'schemas.BookCreate.properties.title.enum',
    ['a', 'b'],
    ['bound-tightened BookCreate.title: the list of values: writers'],
  ],
  ['schemas.BookCreate.additionalProperties', undefined, ['opened BookCreate']],
  ['schemas.BookCreate.properties.title.type', ['string', 'null'], ['null-added BookCreate.title']],
  ['schemas.Book.properties.title.type', ['string', 'null'], ['null-added Book.title: readers']],
  ['schemas.BookCreate.properties.subtitle.type', 'string', ['null-removed BookCreate.subtitle: writers']],
  ['schemas.Book.properties.title.multipleOf', 2, ['keyword-changed Book.title: multipleOf: readers']],
]

/** A copy of the document with another value at a place. */
const edited = (document: Json, where: readonly string[], value: unknown): Json => {
  const copy = structuredClone(document)
  let parent = copy as Record<string, unknown>
  for (const key of where.slice(0, -1)) parent = parent[key] as Record<string, unknown>
  const last = where.at(-1) as string
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy
}

const places: Record<string, string[]> = {
  list: ['paths', '/v1/books', 'get'],
  create: ['paths', '/v1/books', 'post'],
  schemas: ['components', 'schemas'],
}
const keysIn = (where: string): string[] => where.split('.').flatMap((key) => places[key] ?? key)

for (const [where, value, expected] of edits) {
  test(`a change of the document: ${where} is ${JSON.stringify(value)}`, () => {
    const differences = compare(before, edited(before, keysIn(where), value))
    assert.equal(differences.filter((one) => !isWording(one)).map(summaryOf), expected)
    assert.ok(differences.length > 0)
  })
}

/** Rules of a field that change, and who breaks. A rule that becomes stricter breaks writers, a looser one readers. */
const [stricter, looser, both] = [['BookCreate'], ['Book'], ['Book', 'BookCreate']]
const field = (spec: Descriptor['fields'][string]) => documentOf(registryOf(fields({ extra: spec })(original)))
const ruled: [
  title: string,
  spec: [before: Descriptor['fields'][string], after: Descriptor['fields'][string]],
  rule: string,
  breaks: string[] | undefined,
][] = [
  ['oneOf', [text(), text({ oneOf: ['a', 'b'] })], 'bound-tightened', stricter],
  ['no oneOf', [text({ oneOf: ['a', 'b'] }), text()], 'bound-loosened', looser],
  ['a further value', [text({ oneOf: ['a'] }), text({ oneOf: ['a', 'b'] })], 'value-added', looser],
  ['a value less', [integer({ oneOf: [1, 2] }), integer({ oneOf: [1] })], 'value-removed', stricter],
  ['a greater min', [number({ min: 0 }), number({ min: 1 })], 'bound-tightened', stricter],
  ['a lower min', [integer({ min: 1 }), integer({ min: 0 })], 'bound-loosened', looser],
  ['a later min', [date({ min: '2026-01-01' }), date({ min: '2026-02-01' })], 'bound-tightened', stricter],
  [
    'a later max, with another offset',
    [timestamp({ max: '2026-01-01T00:00:00+02:00' }), timestamp({ max: '2026-01-01T00:00:00+01:00' })],
    'bound-loosened',
    looser,
  ],
  ['maxLength', [text(), text({ maxLength: 9 })], 'bound-tightened', stricter],
  ['a longer maxLength', [text({ maxLength: 9 }), text({ maxLength: 10 })], 'bound-loosened', looser],
  [
    'another pattern',
    [text({ maxLength: 9, pattern: 'a+' }), text({ maxLength: 9, pattern: 'b+' })],
    'pattern-changed',
    both,
  ],
  ['date to text', [date(), text()], 'type-widened', looser],
  ['text to date', [text(), date()], 'type-narrowed', stricter],
  ['text to boolean', [text(), boolean()], 'type-changed', both],
  ['integer to number', [integer(), number()], 'type-widened', looser],
  ['number to integer', [number(), integer()], 'type-narrowed', stricter],
  ['text to integer', [text(), integer()], 'type-changed', both],
  ['unique', [text(), text({ unique: true })], 'unique-tightened', stricter],
  ['no unique', [text({ unique: true }), text()], 'unique-loosened', looser],
  ['unique everywhere', [text({ unique: ['isbn'] }), text({ unique: true })], 'unique-tightened', stricter],
  ['a reference', [integer(), integer({ references: 'books' })], 'reference-added', stricter],
  ['no reference', [integer({ references: 'books' }), integer()], 'reference-removed', looser],
  [
    'another reference',
    [integer({ references: 'books' }), integer({ references: 'authors' })],
    'reference-changed',
    both,
  ],
  ['date to timestamp', [date(), timestamp()], 'type-changed', both],
]
for (const [title, [from, to], rule, breaks] of ruled) {
  test(`a rule or kind that changes: ${title}`, () => {
    const differences = compare(field(from), field(to)).filter((one) => !isWording(one))
    const expected = both?.map((schema) => {
      const who = breaks?.includes(schema) ? (schema === 'Book' ? ': readers' : ': writers') : ''
      return `${rule} ${schema}.extra${who}`
    })
    const found = differences.map(summaryOf).map((summary) => summary.replace(/: the [\w -]+/, ''))
    assert.equal(found, expected)
  })
}

test('a oneOf field that becomes required is one change', () => {
  const state = fields({ state: text({ oneOf: ['a', 'b'] }) })(original)
  assert.equal(
    compare(documentOf(registryOf(state)), documentOf(registryOf(require('state')(state))))
      .filter((one) => !isWording(one))
      .map(summaryOf),
    ['became-required Book.state', 'became-required BookCreate.state: writers'],
  )
})

test('updates and deletes that are removed, and fields that can no longer be changed, break writers', () => {
  const update = ['title', 'subtitle', 'status']
  const open = documentOf(registryOf(books({ update, delete: true })(original)))
  const narrower = documentOf(registryOf(books({ update: ['title', 'status'], delete: true })(original)))
  assert.equal(compare(before, open).map(summaryOf), [
    'operation-added PATCH /v1/books/{item_id}',
    'operation-added DELETE /v1/books/{item_id}',
  ])
  assert.equal(compare(open, before).map(summaryOf), [
    'operation-removed PATCH /v1/books/{item_id}: writers',
    'operation-removed DELETE /v1/books/{item_id}: writers',
  ])
  assert.equal(compare(open, narrower).map(summaryOf), ['field-removed BookUpdate.subtitle: writers'])
})

test('an object that no longer allows other properties breaks writers', () => {
  const closed = edited(before, ['components', 'schemas', 'BookCreate', 'additionalProperties'], true)
  assert.equal(compare(closed, before).map(summaryOf), ['closed BookCreate: writers'])
})

/** The places of all values in a document. */
const placesIn = (value: unknown, at: readonly string[] = []): (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? [at, ...Object.entries(value).flatMap(([key, part]) => placesIn(part, [...at, key]))]
    : [at]

test('no change of the document goes unnoticed, wherever it is', () => {
  const document = documentOf(registryOf({ authors: { ...(original['authors'] as Descriptor), create: true } }))
  const places = placesIn(document).filter((at) => at.length > 0)
  assert.ok(places.length > 500)
  for (const at of places) {
    const differences = compare(document, edited(document, at, { changed: 1 }))
    assert.ok(differences.length > 0, at.join(' '))
  }
})

test('another order of properties is a difference that breaks nobody', () => {
  const { openapi, ...rest } = before
  assert.equal(compare(before, { ...rest, openapi }).map(summaryOf), ['order-changed the document'])
})

test('every rule is in a table above', () => {
  const found = Object.keys(rules).filter((name) => !met.has(name))
  assert.equal(found, [])
})

test.run()
