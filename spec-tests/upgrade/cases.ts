/**
 * What an upgrade must keep, for `spec-tests/library`: the version before makes the writes and answers the reads; this version must give
 * the same answers. To cover more, add a call here, or a field or resource there.
 */

export interface Call {
  /** Whose key is sent: the write token, a role, a claim, or nobody. */
  readonly caller?: 'service' | 'clerk' | 'head' | 'east'
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Under `/api/v1/`. */
  readonly path: string
  /** An idempotency key: the call is repeated after the upgrade, and must be a replay. */
  readonly key?: string
  /** JSON, unless it is a text. */
  readonly body?: unknown
  readonly type?: string
  readonly accept?: string
  /** The expected status: by default 200 of a read, 201 of a POST, 200 of a PATCH, 204 of a DELETE. */
  readonly status?: number
}

/** Roles and claims of the API keys, as arguments of `resource-registry key`. */
export const callers = {
  clerk: ['--role', 'clerk'],
  head: ['--role', 'head'],
  east: ['--claim', 'branch=east'],
}

/** A table of another program, for `resources/visits.ts`. */
export const gateLog = {
  sqlite: 'create table "Gate Log" ("No" integer primary key, "Gate" text not null, "People" integer)',
  postgres:
    'create table "Gate Log" ("No" integer primary key generated always as identity, "Gate" text not null, "People" integer)',
}

const reader = '0190163d-8694-739b-aea5-966c26f8ad90'
const csv = (rows: number): string =>
  [
    'title,isbn,price,pages,published,acquired',
    ...Array.from(
      { length: rows },
      (_, n) => `Volume ${n},200-${1000 + n},${n}.50,${n * 10},19${10 + (n % 80)}-01-02,2020-02-03`,
    ),
  ].join('\n')

const service = 'service' as const

/** `operations/shelve-book.ts` as the version before runs it. */
export const previousOperation = `import { defineOperation, z } from 'resource-registry-engine'

export default defineOperation({
  method: 'POST',
  path: '/v1/books/{book_id}/shelve',
  about: 'Puts a new book on a shelf.',
  access: 'clerk',
  body: z.object({ shelf: z.string() }),
  response: z.object({ id: z.string() }),
  async handle({ params, body, batch }) {
    const { book_id: id = '' } = params
    await batch([{ method: 'PATCH', path: '/v1/books/' + id, body: { shelf_id: body.shelf, state: 'shelved' } }])
    return { id }
  },
})
`
export const writes: readonly Call[] = [
  { caller: service, method: 'POST', path: 'shelves', key: 'shelf', body: { id: 'B/7 ü', room: 'Ost', meters: 12 } },
  {
    caller: service,
    method: 'POST',
    path: 'books',
    key: 'book',
    body: {
      title: 'Straße der ŒUVRES 🐳 100%_"\\',
      isbn: '100-0003',
      copy: 7,
      shelf_id: 'B/7 ü',
      sequel_to: 1,
      state: 'new',
      pages: 9_999,
      weight: 0.1,
      price: '9999999999.99',
      is_rare: true,
      published: '0001-01-01',
      acquired: '9999-12-31',
      scanned: '2026-03-01T09:30:00.5+02:00',
      edition: '0190163D-8694-739B-AEA5-966C26F8AD91',
      facts: { list: [1, 2.5, null, 'x'], nested: { deep: { '': 0 } }, big: 12345678901234567890n.toString() },
    },
  },
  { caller: service, method: 'POST', path: 'books', body: { title: '', facts: 'a text', scanned: null } },
  {
    caller: service,
    method: 'PATCH',
    path: 'books/4',
    key: 'change',
    body: { pages: 12, state: 'shelved', price: '-0.01' },
  },
  { caller: service, method: 'POST', path: 'books', body: { title: 'To be deleted' } },
  { caller: service, method: 'DELETE', path: 'books/5', key: 'delete' },
  { caller: service, method: 'POST', path: 'books', key: 'refused', body: { title: 1 }, status: 422 },
  {
    caller: service,
    method: 'POST',
    path: 'books/import',
    key: 'import',
    type: 'text/csv',
    body: csv(60),
  },
  {
    caller: service,
    method: 'POST',
    path: 'books/import?match=isbn',
    type: 'application/x-ndjson',
    body: '{"isbn":"200-1001","title":"Volume one","weight":2}\n{"isbn":"200-1002","title":"Volume two","facts":[]}\n',
  },
  {
    caller: service,
    method: 'POST',
    path: 'batch',
    key: 'batch',
    status: 200,
    body: {
      operations: [
        { method: 'POST', path: '/v1/readers', body: { name: 'Bo', branch: 'west', pin: '1' }, as: 'bo' },
        { method: 'POST', path: '/v1/loans', body: { book_id: 1, reader_id: { $ref: 'bo.id' } } },
        { method: 'PATCH', path: '/v1/books/2', body: { is_rare: false } },
        { method: 'DELETE', path: '/v1/shelves/%C3%84%202%2F3' },
      ],
    },
  },
  { caller: 'east', method: 'POST', path: 'readers', key: 'reader', body: { name: 'Cy', branch: 'east' } },
  {
    caller: 'clerk',
    method: 'POST',
    path: 'loans',
    key: 'loan',
    body: { book_id: 2, reader_id: reader, until: '2027-01-01' },
  },
  { caller: 'clerk', method: 'PATCH', path: 'loans/2', key: 'loan-change', body: { until: null } },
  { caller: service, method: 'POST', path: 'books/3/shelve', body: { shelf: 'A-1' }, status: 200 },
  { caller: 'head', method: 'PATCH', path: `readers/${reader}`, body: { note: 'Paid', pin: '4321' } },
  { caller: service, method: 'POST', path: 'visits', body: { gate: 'North', people: 3 } },
]

const lists: readonly Call[] = [
  ...['shelves', 'books', 'visits'].map((path) => ({ path })),
  ...['readers', 'loans'].flatMap((path) =>
    (['service', 'clerk', 'head', 'east'] as const).map((caller) => ({ caller, path })),
  ),
]

const bookQueries = [
  'limit=7',
  'limit=7&offset=30',
  'limit=200&sort=-title',
  'limit=5&sort=price',
  'limit=5&sort=-published',
  'limit=5&sort=scanned',
  'limit=5&sort=-weight&pages.gte=100',
  'q=%C5%93uvres%20%F0%9F%90%B3%20100%25_%22',
  'q=volume%201',
  'q=STRASSE',
  'state.in=new&state.in=lost&price.lt=20',
  'shelf_id.null=true&limit=3',
  'is_rare=true',
  'edition=0190163d-8694-739b-aea5-966c26f8ad91',
  'published=0001-01-01',
  'scanned.gt=2026-01-01T00:00:00Z',
  'weight=0.30000000000000004',
  'expand=shelf_id&expand=sequel_to&limit=4',
]

export const reads: readonly Call[] = [
  ...lists,
  ...bookQueries.map((query): Call => ({ path: `books?${query}` })),
  ...[1, 2, 3, 4, 9, 65].map((id): Call => ({ path: `books/${id}` })),
  { path: 'books/5', status: 404 },
  { path: 'books/1?expand=shelf_id&expand=books.sequel_to' },
  { path: 'shelves/B%2F7%20%C3%BC' },
  { caller: 'head', path: `readers/${reader}` },
  { caller: 'east', path: `readers/${reader}?expand=loans.reader_id` },
  { path: 'readers', status: 401 },
  { caller: 'east', path: 'books' },
  { path: 'books/summary?by=state&sum=pages&avg=weight&max=published' },
  { path: 'books/summary?by=published.year&sum=price&limit=200' },
  { path: 'books', accept: 'text/csv' },
  { path: 'books?sort=-price', accept: 'application/x-ndjson' },
  { path: 'visits/1' },
]

/** A create that both versions make while they run side by side, and the search that finds it. */
export const beside = (version: string, n: number): Call => ({
  caller: 'service',
  method: 'POST',
  path: 'books',
  key: `${version}-${n}`,
  body: { title: `Beside ${version} ${n}`, isbn: `${version === 'old' ? 300 : 400}-${1000 + n}`, pages: n },
})
