/** Each kind of change of a descriptor is named as breaking or not, and for whom. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { compareDocuments } from '../../cli/contract/compare.js'
import type { Difference } from '../../cli/contract/differences.js'
import type { Json } from '../../cli/contract/json.js'
import { rules } from '../../cli/contract/rules.js'
import { createDocuments } from '../../engine/contract/documents.js'
import { deriveOperations } from '../../engine/contract/operations.js'
import type { Product } from '../../engine/contract/service.js'
import type { AccessRule, Descriptor } from '../../engine/descriptor/define.js'
import {
  boolean,
  claim,
  date,
  decimal,
  integer,
  now,
  number,
  text,
  timestamp,
  today,
} from '../../engine/descriptor/index.js'
import { type Registry, resourceFrom } from '../../engine/descriptor/registry.js'
import { product } from '../support/testedProject.js'

const makeDocument = (registry: Registry, served: Product = product): Json =>
  JSON.parse(createDocuments(served, deriveOperations(registry, served)).openapi.toString()) as Json

const test = suite('the contract')

type Descriptors = Record<string, Descriptor>

/** The descriptors that each change begins with. */
const original: Descriptors = {
  authors: {
    ...{ name: 'Author', area: 'Library', table: 'authors', create: false },
    fields: { name: text() },
    required: ['name'],
  },
  books: {
    ...{ name: 'Book', area: 'Library', table: 'books', create: true },
    fields: {
      ...{ title: text(), subtitle: text(), pages: integer(), price: number() },
      isbn: text({ unique: true }),
      shelf: text({ unique: ['author_id'] }),
      author_id: integer({ references: 'authors', filter: true }),
      status: text({ default: 'available', filter: true }),
      added_on: text({ default: today }),
      notes: text({ redacted: true }),
      created: text({ managed: now }),
    },
    required: ['title', 'status', 'created'],
  },
}

const makeRegistry = (descriptors: Descriptors): Registry =>
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

const operations = ['GET /v1/books', 'GET /v1/books/{item_id}', 'POST /v1/books']
const filtered = (rule: string, field: string, breaks = '') =>
  ['', '.in', '.null'].map((suffix) => `${rule} query parameter "${field}${suffix}"${breaks}`)

/** A change, and its differences: the rule, what it is about, and who breaks. Changed sentences are left out. */
const changes: [change: (before: Descriptors) => Descriptors, ...expected: string[]][] = [
  [(before) => before],
  [books({ table: 'volumes' })],
  [books({ about: 'A book.' })],
  [fields({ subtitle: text({ format: 'date' }) })],
  [fields({ subtitle: text({ example: 'A story' }) })],
  [
    ({ books: { fields: all, ...rest } = original['books'] as Descriptor, ...others }) => ({
      ...others,
      books: { ...rest, fields: Object.fromEntries(Object.entries(all).reverse()) },
    }),
  ],
  [
    (before) => ({ ...before, shelves: { ...(before['authors'] as Descriptor), name: 'Shelf', table: 'shelves' } }),
    'operation-added GET /v1/shelves',
    'operation-added GET /v1/shelves/{item_id}',
  ],
  [
    ({ books: removed, ...others }) => (removed ? others : {}),
    'operation-removed GET /v1/books: readers',
    'operation-removed GET /v1/books/{item_id}: readers',
    'operation-removed POST /v1/books: writers',
    // No author has books any more.
    'field-removed response 200.expanded: readers',
    'parameter-removed query parameter "expand": readers',
  ],
  [
    books({ name: 'Volume' }),
    ...operations.map((operation) => `operation-renamed ${operation}: generated clients`),
    ...['Book', 'BookCollection', 'BookCreate'].map((name) => `schema-renamed schema ${name}: generated clients`),
  ],
  [books({ plural: 'Library books' }), 'operation-renamed GET /v1/books: generated clients'],
  [
    books({ access: { read: 'staff', create: ['staff', { status: claim('status') }] } }),
    ...['GET /v1/books', 'GET /v1/books/{item_id}'].flatMap((operation) => [
      `access-lost ${operation}: readers`,
      `access-gained ${operation}`,
    ]),
    'status-added response 401',
    'status-added response 403',
    'access-gained POST /v1/books',
    'access-gained POST /v1/books',
  ],
  [
    fields({ subtitle: text({ readBy: ['staff'] }) }),
    'field-hidden Book.subtitle: readers',
    'field-hidden BookCreate.subtitle: writers',
    // A key that is not the write token.
    'status-added response 403',
  ],
  [books({ area: 'Loans' }), ...operations.map((operation) => `tag-changed ${operation}`)],
  [fields({ language: text() }), 'field-added Book.language', 'field-added BookCreate.language'],
  [
    (before) => require('language')(fields({ language: text() })(before)),
    'field-added Book.language',
    'required-field-added BookCreate.language: writers',
  ],
  [
    (before) => require('language')(fields({ language: text({ default: 'en' }) })(before)),
    'field-added Book.language',
    'field-added BookCreate.language',
  ],
  [fields({ updated: text({ managed: now }) }), 'field-added Book.updated'],
  [
    fields({ subtitle: undefined }),
    'field-removed Book.subtitle: readers',
    'field-removed BookCreate.subtitle: writers',
  ],
  [require('subtitle'), 'became-required Book.subtitle', 'became-required BookCreate.subtitle: writers'],
  [require('added_on'), 'became-required Book.added_on'],
  [
    books({ required: ['status', 'created'] }),
    'became-optional Book.title: readers',
    'became-optional BookCreate.title',
  ],
  [fields({ subtitle: text({ managed: true }) }), 'field-removed BookCreate.subtitle: writers'],
  [
    (before) => books({ required: ['title', 'status'] })(fields({ created: text() })(before)),
    'became-optional Book.created: readers',
    'field-added BookCreate.created',
  ],
  [fields({ pages: integer({ filter: true }) }), ...filtered('parameter-added', 'pages')],
  [fields({ status: text({ default: 'available' }) }), ...filtered('parameter-removed', 'status', ': readers')],
  [fields({ status: text({ default: 'lent', filter: true }) }), 'default-changed BookCreate.status: writers'],
  [fields({ title: text({ default: 'Untitled' }) }), 'became-optional BookCreate.title'],
  [fields({ subtitle: text({ default: 'none' }) }), 'default-changed BookCreate.subtitle: writers'],
  [fields({ status: text({ filter: true }) }), 'became-required BookCreate.status: writers'],
  [fields({ added_on: text({ default: '2026-01-01' }) }), 'default-changed BookCreate.added_on: writers'],
  [
    fields({ shelf: text({ unique: ['status'] }) }),
    'unique-loosened Book.shelf: readers',
    'unique-loosened BookCreate.shelf',
    'unique-tightened Book.shelf',
    'unique-tightened BookCreate.shelf: writers',
  ],
  [fields({ subtitle: text({ redacted: true }) }), 'redacted Book.subtitle: readers'],
  [fields({ notes: text() }), 'revealed Book.notes'],
]

/** What a description or an example says breaks nobody. */
const isWording = ({ rule }: Difference): boolean =>
  rule === 'description-changed' || rule === 'example-changed' || rule === 'order-changed'

const summarize = ({ rule, subject, breaks }: Difference): string =>
  [`${rule} ${subject}`, ...breaks.map(({ audience }) => audience)].join(': ')

const before = makeDocument(makeRegistry(original))

/** The rules that a test has met. */
const met = new Set<string>()
const compare = (one: Json, other: Json): Difference[] => {
  const differences = compareDocuments(one, other)
  for (const { rule } of differences) met.add(rule)
  return differences
}

const structural = (differences: readonly Difference[]): string[] =>
  differences.filter((one) => !isWording(one)).map(summarize)

for (const [n, [change, ...expected]] of changes.entries()) {
  test(`change ${n + 1} of a descriptor: ${expected.join(', ') || 'nothing but sentences'}`, () => {
    const after = makeDocument(makeRegistry(change(original)))
    const differences = compare(before, after)
    assert.equal(structural(differences).toSorted(), expected.toSorted())
    for (const one of differences.filter(isWording)) assert.equal(one.breaks, [])
    assert.is(differences.length === 0, JSON.stringify(before) === JSON.stringify(after))
  })
}

const required = { in: 'query', name: 'lang', required: true, schema: {} }

/** Changes of a document that no descriptor makes: where, the new value (undefined removes it), and the difference. */
const edits: [where: string, value: unknown, ...expected: string[]][] = [
  ['servers', [{ url: '/v2' }], 'base-path-changed the service: readers: writers'],
  ['info.version', '2.0.0'],
  ['openapi', '3.2.0', 'keyword-changed openapi: readers: writers'],
  ['components.securitySchemes.writeToken.scheme', 'basic', 'token-scheme-changed the service: readers: writers'],
  ['list.security', [{ writeToken: [] }], 'token-required GET /v1/books: readers'],
  ['create.security', [], 'token-not-required POST /v1/books'],
  ['create.deprecated', true, 'keyword-changed POST /v1/books: deprecated: writers'],
  ['list.parameters.0.schema.maximum', 100, 'bound-tightened query parameter "limit": the maximum: readers'],
  ['list.parameters.0.schema.maximum', 500, 'bound-loosened query parameter "limit": the maximum'],
  ['list.parameters.0.schema.default', 20, 'default-changed query parameter "limit": readers'],
  ['list.parameters.2.required', true, 'became-required query parameter "q": readers'],
  ['list.parameters.2.schema.type', 'integer', 'type-changed query parameter "q": readers'],
  ['list.parameters.14', required, 'required-parameter-added query parameter "lang": readers'],
  ['create.parameters.0.schema.pattern', '^a', 'pattern-changed header parameter "Idempotency-Key": writers'],
  ['create.parameters.0.schema.pattern', undefined, 'bound-loosened header parameter "Idempotency-Key": the pattern'],
  ['create.requestBody', undefined, 'body-removed request body: writers'],
  ['list.requestBody', { required: true }, 'body-added request body: readers'],
  ['create.requestBody.required', false, 'became-optional request body'],
  ['create.requestBody.content.application/xml', {}, 'media-type-added application/xml of request body'],
  [
    'create.requestBody.content.application/json',
    undefined,
    'media-type-removed application/json of request body: writers',
  ],
  ['list.responses.200', undefined, 'success-removed response 200: readers'],
  ['list.responses.412', undefined, 'error-removed response 412'],
  ['list.responses.429', {}, 'status-added response 429'],
  ['list.responses.200.headers.ETag', undefined, 'header-removed header ETag of 200: readers'],
  ['list.responses.200.headers.Age', {}, 'header-added header Age of 200'],
  ['create.responses.201.headers.Location.required', false, 'became-optional header Location of 201: writers'],
  ['schemas.BookCreate.additionalProperties', undefined, 'opened BookCreate'],
  ['schemas.BookCreate.properties.title.type', ['string', 'null'], 'null-added BookCreate.title'],
  ['schemas.Book.properties.title.type', ['string', 'null'], 'null-added Book.title: readers'],
  ['schemas.BookCreate.properties.subtitle.type', 'string', 'null-removed BookCreate.subtitle: writers'],
  ['schemas.Book.properties.title.multipleOf', 2, 'keyword-changed Book.title: multipleOf: readers'],
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

for (const [where, value, ...expected] of edits) {
  test(`a change of the document: ${where} is ${JSON.stringify(value)}`, () => {
    const differences = compare(before, edited(before, keysIn(where), value))
    assert.equal(structural(differences), expected)
    assert.ok(differences.length > 0)
  })
}

type Spec = Descriptor['fields'][string]
const withField = (spec: Spec) => makeDocument(makeRegistry(fields({ extra: spec })(original)))

const money = { digits: 12, places: 2 } as const

/** Rules and kinds of a field that change. A stricter one breaks writers, a looser one readers, and some break both. */
const ruled: Record<'stricter' | 'looser' | 'other', [rule: string, before: Spec, after: Spec][]> = {
  stricter: [
    ['bound-tightened', text(), text({ oneOf: ['a', 'b'] })],
    ['value-removed', integer({ oneOf: [1, 2] }), integer({ oneOf: [1] })],
    ['bound-tightened', number({ min: 0 }), number({ min: 1 })],
    ['bound-tightened', date({ min: '2026-01-01' }), date({ min: '2026-02-01' })],
    ['bound-tightened', text(), text({ maxLength: 9 })],
    ['bound-tightened', decimal({ digits: 12, places: 2 }), decimal({ digits: 10, places: 2 })],
    ['bound-tightened', decimal({ ...money, min: '2' }), decimal({ ...money, min: '10' })],
    ['type-narrowed', text(), date()],
    ['type-narrowed', number(), integer()],
    ['unique-tightened', text(), text({ unique: true })],
    ['unique-tightened', text({ unique: ['isbn'] }), text({ unique: true })],
    ['reference-added', integer(), integer({ references: 'books' })],
  ],
  looser: [
    ['bound-loosened', text({ oneOf: ['a', 'b'] }), text()],
    ['value-added', text({ oneOf: ['a'] }), text({ oneOf: ['a', 'b'] })],
    ['bound-loosened', integer({ min: 1 }), integer({ min: 0 })],
    [
      'bound-loosened',
      timestamp({ max: '2026-01-01T00:00:00+02:00' }),
      timestamp({ max: '2026-01-01T00:00:00+01:00' }),
    ],
    ['bound-loosened', text({ maxLength: 9 }), text({ maxLength: 10 })],
    ['bound-loosened', decimal({ digits: 12, places: 2 }), decimal({ digits: 12, places: 3 })],
    ['type-widened', date(), text()],
    ['type-widened', integer(), number()],
    ['unique-loosened', text({ unique: true }), text()],
    ['reference-removed', integer({ references: 'books' }), integer()],
  ],
  other: [
    ['pattern-changed', text({ maxLength: 9, pattern: 'a+' }), text({ maxLength: 9, pattern: 'b+' })],
    ['type-changed', text(), boolean()],
    ['type-changed', text(), integer()],
    ['type-changed', date(), timestamp()],
    ['reference-changed', integer({ references: 'books' }), integer({ references: 'authors' })],
  ],
}
test('a batch adds no differences: what changes in a body is one change of its schema', () => {
  const all = { ...original, books: { ...(original['books'] as Descriptor), update: true, delete: true } }
  const differences = (change: (before: Descriptors) => Descriptors, batch: boolean) => {
    const [before, after] = [all, change(all)].map((one) => makeDocument(makeRegistry(one), { ...product, batch }))
    return compare(before as Json, after as Json).map(({ rule, subject }) => `${rule} ${subject}`)
  }
  for (const change of [
    fields({ pages: text() }),
    fields({ pages: undefined }),
    fields({ extra: decimal({ digits: 8, places: 2 }) }),
    fields({ status: text({ default: 'available', oneOf: ['available', 'lent'] }) }),
    require('pages'),
  ]) {
    const alone = differences(change, false)
    assert.ok(alone.length > 0)
    assert.equal(differences(change, true), alone)
  }
})

test('a field that more roles see, or everybody', () => {
  const found = (from: Spec, to: Spec) => structural(compare(withField(from), withField(to)))
  assert.equal(found(text({ readBy: ['a'] }), text({ readBy: ['a', 'b'] })), [
    'field-shown Book.extra',
    'field-shown BookCreate.extra',
  ])
  assert.ok(found(text({ readBy: ['a'] }), text()).includes('field-shown Book.extra'))
  assert.ok(
    found(text({ readBy: ['a', 'b'] }), text({ readBy: ['b', 'c'] })).includes('field-hidden Book.extra: readers'),
  )
})

test('a rule that follows references is gained, lost and changed like one of a field', () => {
  const withAccess = (...read: AccessRule[]) =>
    makeDocument(makeRegistry(books({ access: { read: ['staff', ...read] } })(original)))
  const differences = (from: Json, to: Json) =>
    compare(from, to)
      .filter((one) => !isWording(one))
      .map(({ message, breaks }) => [message, ...breaks.map(({ audience }) => audience)].join(': '))
  const reads = ['GET /v1/books', 'GET /v1/books/{item_id}']
  const gained = (rule: string) => reads.map((operation) => `${operation} is allowed for ${rule}`)
  const lost = (rule: string) => reads.map((operation) => `${operation} is no longer allowed for ${rule}: readers`)
  const own = { status: claim('status') }
  const ofAuthor = { 'author_id.id': claim('author') }
  for (const [rule, published] of [
    [own, '{"status":{"claim":"status"}}'],
    [ofAuthor, '{"author_id.id":{"claim":"author"}}'],
  ] as const) {
    assert.equal(differences(withAccess(), withAccess(rule)), gained(published))
    assert.equal(differences(withAccess(rule), withAccess()), lost(published))
  }
  const ofWriter = withAccess({ 'author_id.id': claim('writer') })
  assert.equal(
    differences(withAccess(ofAuthor), ofWriter).toSorted(),
    [...gained('{"author_id.id":{"claim":"writer"}}'), ...lost('{"author_id.id":{"claim":"author"}}')].toSorted(),
  )
})

for (const [how, pairs] of Object.entries(ruled)) {
  for (const [rule, from, to] of pairs) {
    test(`${how}: ${rule}, ${JSON.stringify(from)} to ${JSON.stringify(to)}`, () => {
      const differences = structural(compare(withField(from), withField(to))).filter((one) => !one.includes('expand'))
      const found = differences.map((summary) => summary.replace(/: the [\w -]+/, ''))
      const [readers, writers] = [how === 'stricter' ? '' : ': readers', how === 'looser' ? '' : ': writers']
      assert.equal(found, [`${rule} Book.extra${readers}`, `${rule} BookCreate.extra${writers}`])
    })
  }
}

test('a new reference can be expanded, and one that can no longer be expanded breaks readers', () => {
  const [without, withReference] = [withField(integer()), withField(integer({ references: 'books', filter: true }))]
  const expanded = (from: Json, to: Json) => [
    ...new Set(structural(compare(from, to)).filter((one) => one.includes('expand'))),
  ]
  const places = ['BookCollection.data[]', 'response 200'].map((place) => `${place}.expanded.extra`)
  const parameter = 'query parameter "expand"[]'
  const referrers = 'response 200.expanded.books.extra'
  assert.equal(
    expanded(without, withReference).toSorted(),
    [...[...places, referrers].map((place) => `field-added ${place}`), `value-added ${parameter}`].toSorted(),
  )
  assert.equal(
    expanded(withReference, without).toSorted(),
    [
      ...[...places, referrers].map((place) => `field-removed ${place}: readers`),
      `value-removed ${parameter}: readers`,
    ].toSorted(),
  )
})

test('a oneOf field that becomes required is one change', () => {
  const state = fields({ state: text({ oneOf: ['a', 'b'] }) })(original)
  const differences = compare(makeDocument(makeRegistry(state)), makeDocument(makeRegistry(require('state')(state))))
  assert.equal(structural(differences), ['became-required Book.state', 'became-required BookCreate.state: writers'])
})

test('updates and deletes that are removed, and fields that can no longer be changed, break writers', () => {
  const update = ['title', 'subtitle', 'status']
  const open = makeDocument(makeRegistry(books({ update, delete: true })(original)))
  const narrower = makeDocument(makeRegistry(books({ update: ['title', 'status'], delete: true })(original)))
  assert.equal(compare(before, open).map(summarize), [
    'operation-added PATCH /v1/books/{item_id}',
    'operation-added DELETE /v1/books/{item_id}',
  ])
  assert.equal(compare(open, before).map(summarize), [
    'operation-removed PATCH /v1/books/{item_id}: writers',
    'operation-removed DELETE /v1/books/{item_id}: writers',
  ])
  assert.equal(compare(open, narrower).map(summarize), ['field-removed BookUpdate.subtitle: writers'])
})

test('a new rule between fields, and steps that are no longer allowed, break writers', () => {
  const pages = { fields: ['pages'], holds: () => true, message: 'pages must be even' }
  const withRules = (rules: Descriptor['rules']) =>
    makeDocument(makeRegistry(books({ update: true, ...(rules && { rules }) })(original)))
  assert.equal(structural(compare(withRules(undefined), withRules([pages]))), [
    'rule-added BookCreate: writers',
    'rule-added BookUpdate: writers',
  ])
  assert.equal(structural(compare(withRules([pages]), withRules(undefined))), [
    'rule-removed BookCreate',
    'rule-removed BookUpdate',
  ])
  const withSteps = (next?: Readonly<Record<string, readonly string[]>>) => {
    const stage = text({ oneOf: ['a', 'b', 'c'], ...(next && { next }) })
    return makeDocument(makeRegistry(books({ update: true })(fields({ stage })(original))))
  }
  assert.equal(structural(compare(withSteps(), withSteps({ a: ['b'] }))), ['steps-limited BookUpdate.stage: writers'])
  assert.equal(structural(compare(withSteps({ a: ['b'] }), withSteps())), ['steps-free BookUpdate.stage'])
  assert.equal(structural(compare(withSteps({ a: ['b'] }), withSteps({ a: ['c'] }))), [
    'step-added BookUpdate.stage',
    'step-removed BookUpdate.stage: writers',
  ])
})

test('the values with which new rows begin are those of the create', () => {
  const withStart = (start?: readonly string[]) => {
    const stage = text({ oneOf: ['a', 'b', 'c'], next: { a: ['b'] }, ...(start && { start }) } as never)
    return makeDocument(makeRegistry(books({ update: true })(fields({ stage })(original))))
  }
  assert.equal(structural(compare(withStart(), withStart(['a', 'b']))), [
    'start-changed BookCreate.stage',
    'value-removed BookCreate.stage: writers',
  ])
  assert.equal(structural(compare(withStart(['a']), withStart())), [
    'start-changed BookCreate.stage',
    'value-added BookCreate.stage',
    'value-added BookCreate.stage',
  ])
})

test('taking the right to set a field from a role is a breaking change', () => {
  const found = (from: Spec, to: Spec) => structural(compare(withField(from), withField(to)))
  assert.equal(found(text(), text({ writeBy: 'a' })), ['field-locked BookCreate.extra: writers'])
  assert.equal(found(text({ writeBy: ['a', 'b'] }), text({ writeBy: ['b', 'c'] })), [
    'field-locked BookCreate.extra: writers',
  ])
  assert.equal(found(text({ writeBy: 'a' }), text({ writeBy: ['b', 'a'] })), ['field-unlocked BookCreate.extra'])
  assert.equal(found(text({ writeBy: 'a' }), text()), ['field-unlocked BookCreate.extra'])
})

test('an object that no longer allows other properties breaks writers', () => {
  const closed = edited(before, ['components', 'schemas', 'BookCreate', 'additionalProperties'], true)
  assert.equal(compare(closed, before).map(summarize), ['closed BookCreate: writers'])
})

/** The places of all values in a document. */
const placesIn = (value: unknown, at: readonly string[] = []): (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? [at, ...Object.entries(value).flatMap(([key, part]) => placesIn(part, [...at, key]))]
    : [at]

test('no change of the document goes unnoticed, wherever it is', () => {
  const document = makeDocument(makeRegistry({ authors: { ...(original['authors'] as Descriptor), create: true } }))
  const places = placesIn(document).filter((at) => at.length > 0)
  assert.ok(places.length > 500)
  for (const at of places) {
    const differences = compare(document, edited(document, at, { changed: 1 }))
    assert.ok(differences.length > 0, at.join(' '))
  }
})

test('another order of properties is a difference that breaks nobody', () => {
  const { openapi, ...rest } = before
  assert.equal(compare(before, { ...rest, openapi }).map(summarize), ['order-changed the document'])
})

test('every rule is in a table above', () => {
  const found = Object.keys(rules).filter((name) => !met.has(name))
  assert.equal(found, [])
})

test.run()
