/** The verification of descriptors and demo rows: every message, word for word. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { demoIds, verifyRows } from '../../engine/descriptor/demo.js'
import { defineResource, integer, now, number, text, today } from '../../engine/descriptor/index.js'
import { didYouMean, nearest } from '../../engine/descriptor/nearest.js'
import { type Registry, resourceFrom } from '../../engine/descriptor/registry.js'
import { type FileError, reportIn } from '../../engine/descriptor/registryError.js'
import { verify } from '../../engine/descriptor/verify.js'

const valid = {
  name: 'Thing',
  area: 'Things',
  table: 'things',
  fields: { title: text() },
  required: ['title'],
  create: true,
}
const owner = { ...valid, name: 'Owner', table: 'owner_rows' }

const lines = (problems: readonly FileError[]): string[] => problems.map(({ file, message }) => `${file}: ${message}`)

/** The problems of some descriptors, by path. */
const problemsIn = (exported: Record<string, unknown>): string[] => {
  const problems: FileError[] = []
  const modules = Object.entries(exported).map(([path, value]) => ({
    file: `resources/${path}.ts`,
    path,
    module: { default: value },
  }))
  verify(modules, problems)
  return lines(problems)
}

/** The problems of a descriptor in `resources/things.ts`, next to the valid `resources/owners.ts`. */
const problemsOf = (exported: unknown, path = 'things'): string[] => problemsIn({ owners: owner, [path]: exported })
const withFields = (fields: object, rest: object = {}) => ({ ...valid, fields: { title: text(), ...fields }, ...rest })
const untyped = (value: unknown) => value as never
const bounds = '-9007199254740991 and 9007199254740991'
const tableNames =
  'at most 60 lower-case letters, digits and underscores, such as "leave_requests", and must not begin with sqlite_, pg_ or registry_'

const cases: [name: string, exported: unknown, ...messages: string[]][] = [
  [
    'a reference to an unknown resource',
    withFields({ owner_id: integer({ references: 'owner' }) }),
    'field "owner_id": references the unknown resource "owner". Did you mean "owners"?',
  ],
  [
    'a reference to a resource unlike any other',
    withFields({ owner_id: integer({ references: 'zzzzzz' }) }),
    'field "owner_id": references the unknown resource "zzzzzz"; the resources are owners, things',
  ],
  [
    'an unknown field in required',
    { ...valid, required: ['titel'] },
    'required names the unknown field "titel". Did you mean "title"?',
  ],
  ['a field twice in required', { ...valid, required: ['title', 'title'] }, 'required names "title" twice'],
  ['id in required', { ...valid, required: ['id', 'title'] }, 'required names "id", which every row has; remove it'],
  [
    'an unknown field in unique',
    withFields({ slug: text({ unique: ['titl'] }) }),
    'field "slug": unique names the unknown field "titl". Did you mean "title"?',
  ],
  [
    'an empty list in unique',
    withFields({ slug: text({ unique: [] }) }),
    'field "slug": unique is an empty list; write true if it is unique in the whole table',
  ],
  [
    'the field itself in unique',
    withFields({ slug: text({ unique: ['slug'] }) }),
    'field "slug": unique names the field itself; name other fields, or write true',
  ],
  [
    'a default of the wrong type',
    withFields({ size: integer({ default: untyped('3') }) }),
    'field "size": default is "3", but it must be an integer between -9007199254740991 and 9007199254740991',
  ],
  [
    'a default function that returns the wrong type',
    withFields({ size: number({ default: untyped(() => 'x') }) }),
    'field "size": the function default returns "x", but it must return a finite number',
  ],
  [
    'a default function that throws',
    withFields({
      size: number({
        default: () => {
          throw new Error('boom')
        },
      }),
    }),
    'field "size": the function default throws an error: boom',
  ],
  [
    'an example of the wrong type',
    withFields({ size: integer({ example: 1.5 }) }),
    'field "size": example is 1.5, but it must be an integer between -9007199254740991 and 9007199254740991',
  ],
  [
    'a managed field with a default',
    withFields({ made: text({ managed: now, default: 'x' }) }),
    'field "made": a managed field cannot have a default; remove one of the two',
  ],
  [
    'a required managed field without a value',
    withFields({ made: text({ managed: true }) }, { required: ['made'] }),
    'field "made": a required managed field needs a function that returns its value, such as managed: now',
  ],
  [
    'fields named like query parameters',
    withFields({ limit: integer(), q: text(), offset: integer() }),
    ...['limit', 'q', 'offset'].map(
      (name) => `field "${name}": the name is a query parameter of every list; choose another`,
    ),
  ],
  [
    'fields named like the system columns of PostgreSQL',
    withFields({ xmin: integer(), ctid: text(), tableoid: integer(), cmin: text(), cmax: text(), xmax: text() }),
    ...['xmin', 'ctid', 'tableoid', 'cmin', 'cmax', 'xmax'].map(
      (name) => `field "${name}": every table has a column of that name on PostgreSQL; choose another`,
    ),
  ],
  [
    'a table named like a catalogue',
    { ...valid, table: 'pg_class' },
    `table is "pg_class", but it must be ${tableNames}`,
  ],
  [
    'a table named like the key of another one',
    { ...valid, table: 'owner_rows_pkey' },
    'table "owner_rows_pkey" has the name of an object that resources/owners.ts makes; choose another name',
  ],
  [
    'a former name that no table or field had',
    withFields({ size: integer({ renamedFrom: 'Size"' }) }, { renamedFromTable: 'Old things' }),
    'renamedFromTable is "Old things", but it must be the former name of the table, such as "leave"',
    'field "size": renamedFrom is "Size\\"", but it must be the former name of the field, such as "kind"',
  ],
  [
    'rules that contradict each other',
    withFields({ size: integer({ min: 5, max: 2 }), code: text({ minLength: 9, maxLength: 3 }) }),
    'field "size": min is 5, but max is 2; no value is allowed',
    'field "code": minLength is 9, but maxLength is 3; no value is allowed',
  ],
  [
    'values that break a rule',
    withFields({
      size: integer({ max: 2, default: 3 }),
      state: text({ oneOf: ['new', 'old'], example: untyped('od') }),
      level: integer({ oneOf: [1, 9, 1], max: 5 }),
    }),
    'field "size": default must be at most 2; 3 is more',
    'field "state": example must be one of "new", "old"; "od" is not. Did you mean "old"?',
    'field "level": oneOf: 9 must be at most 5; 9 is more',
    'field "level": oneOf names 1 twice',
  ],
  [
    'patterns that cannot be used',
    withFields({
      a: text({ pattern: '(', maxLength: 9 }),
      b: text({ pattern: '(?=a)a', maxLength: 9 }),
      c: text({ pattern: 'a+' }),
      d: text({ pattern: '(?:a{0,90}){0,90}', maxLength: 9 }),
    }),
    'field "a": pattern cannot be used: Invalid regular expression: /(/u: Unterminated group',
    'field "b": pattern cannot be used: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    'field "c": a pattern needs a maxLength of at most 1000',
    'field "d": pattern cannot be used: error parsing regexp: invalid repeat count: `{0,90}`',
  ],
  [
    'a rule of another kind',
    withFields({ size: number(untyped({ minLength: 2 })) }),
    'field "size": unknown option "minLength" of number(); it must be one of about, example, default, managed, onUpdate, redacted, sort, renamedFrom, filter, range, min, max',
  ],
  [
    'what happens at changes',
    withFields(
      {
        a: text({ onUpdate: now }),
        b: integer({ onDelete: 'cascade' }),
        c: integer({ references: 'owners', onDelete: 'set null' }),
        d: text({ managed: now }),
      },
      { required: ['title', 'c'], update: ['d', 'titel'] },
    ),
    'update names "d", which is managed; remove one of the two',
    'update names the unknown field "titel". Did you mean "title"?',
    'field "a": onUpdate needs managed, because clients must not set the field too',
    'field "b": onDelete needs references',
    'field "c": the field is required, so a delete cannot set it to null; use restrict or cascade',
  ],
  [
    'a declared id',
    withFields({ id: integer() }),
    'field "id": every resource has an id without declaring it; remove the field',
  ],
  [
    'a field name in camel case',
    withFields({ firstName: text() }),
    'field "firstName": the name must be at most 60 lower-case letters, digits and underscores, such as "from_date"',
  ],
  [
    'a field named constructor',
    withFields({ constructor: text() }),
    'field "constructor": the name is reserved by JavaScript; choose another',
  ],
  [
    'a redacted field with a filter',
    withFields({ secret: text({ redacted: true, filter: true }) }),
    'field "secret": a redacted field cannot have the option filter, which would reveal its values',
  ],
  [
    'a label with an unknown field',
    withFields({ title: text() }, { label: ['titel'] }),
    'label names the unknown field "titel". Did you mean "title"?',
  ],
  [
    'a label with a redacted field',
    withFields({ secret: text({ redacted: true }) }, { label: ['secret'] }),
    'label names "secret", which is redacted; name another field',
  ],
  ['an empty label', withFields({ title: text() }, { label: [] }), 'label is an empty list; name fields, or remove it'],
  [
    'a redacted field that is required',
    withFields({ secret: text({ redacted: true }) }, { required: ['secret'] }),
    'field "secret": a redacted field is always null for clients, so it cannot be required',
  ],
  [
    'no fields',
    { ...valid, fields: {}, required: [] },
    'fields is {}, but it must be an object with at least one field besides id, such as { name: text() }',
  ],
  [
    'a misspelt option',
    withFields({ owner_id: integer(untyped({ refrences: 'owners' })) }),
    'field "owner_id": unknown option "refrences" of integer(). Did you mean "references"?',
  ],
  [
    'a range of a text without a format',
    withFields({ size: text({ range: true }) }),
    'field "size": range of a text needs a format, such as format: \'date\'',
  ],
  [
    'a redacted field with an order',
    withFields({ size: text({ redacted: true, sort: true }) }),
    'field "size": a redacted field cannot have the option sort, which would reveal its values',
  ],
  [
    'an option of another kind',
    withFields({ size: number(untyped({ unique: true })) }),
    'field "size": unknown option "unique" of number(); it must be one of about, example, default, managed, onUpdate, redacted, sort, renamedFrom, filter, range, min, max',
  ],
  [
    'an option unlike any other',
    withFields({ size: integer(untyped({ constructor: 1 })) }),
    'field "size": unknown option "constructor" of integer(); it must be one of about, example, default, managed, onUpdate, redacted, sort, renamedFrom, filter, range, unique, references, onDelete, oneOf, min, max',
  ],
  [
    'a former table that another resource uses',
    { ...valid, renamedFromTable: 'owner_rows' },
    'renamedFromTable names "owner_rows", which resources/owners.ts uses; remove one of the two, or rename in two steps',
  ],
  [
    'a former name that is still a field',
    withFields({ kind: text(), type: text({ renamedFrom: 'kind' }) }),
    'field "type": renamedFrom names "kind", which is still a field; remove one of the two, or rename in two steps',
  ],
  [
    'a field that was renamed from id',
    withFields({ size: integer({ renamedFrom: 'id' }) }),
    'field "size": renamedFrom names "id", which every row keeps; remove it',
  ],
  [
    'options that are no object',
    withFields({ size: integer('large' as never) }),
    `field "size": the options of integer() are "large", but they must be an object such as { about: '…' }`,
  ],
  [
    'a name of the service',
    withFields({ registry_note: text() }),
    'field "registry_note": the service has columns that begin with registry_; choose another name',
  ],
  [
    'an unknown format',
    withFields({ day: text(untyped({ format: 'day' })) }),
    'field "day": format is "day", but it must be "date" or "timestamp"',
  ],
  [
    'an option of the wrong type',
    withFields({ size: integer(untyped({ filter: 'yes' })) }),
    'field "size": filter is "yes", but it must be true or omitted',
  ],
  [
    'a field without a kind',
    withFields({ size: 'integer' }),
    'field "size": is "integer", but it must be one of text(), integer(), number(), boolean(), date(), timestamp()',
  ],
  ['a misspelt property', { ...valid, tabel: 'x' }, 'unknown property "tabel". Did you mean "table"?'],
  [
    'missing properties',
    { fields: { title: text() } },
    'name is missing; it must be a string such as "Leave request"',
    'area is missing; it must be a string such as "People"',
    `table is missing; it must be ${tableNames}`,
    'required is missing; it must be a list of field names, such as ["name"], or [] if every field may be null',
    'create is missing; it must be true or false',
  ],
  [
    'properties of the wrong type',
    { ...valid, create: 'yes', table: 'My Table', required: 'title' },
    `table is "My Table", but it must be ${tableNames}`,
    'required is "title", but it must be a list of field names, such as ["name"], or [] if every field may be null',
    'create is "yes", but it must be true or false',
  ],
  [
    'a table name that SQLite reserves',
    { ...valid, table: 'sqlite_things' },
    `table is "sqlite_things", but it must be ${tableNames}`,
  ],
  [
    'a misspelt mandatory property, which is not missing too',
    { ...valid, required: undefined, requird: ['title'] },
    'unknown property "requird". Did you mean "required"?',
  ],
  [
    'required on a field',
    withFields({ size: integer(untyped({ required: true })) }),
    `field "size": unknown option "required" of integer(); add the field to the list of the resource instead: required: ['size', …]`,
  ],
  [
    'a field without parentheses',
    withFields({ size: integer }),
    'field "size": is a function, but it must be one of text(), integer(), number(), boolean(), date(), timestamp(), with parentheses',
  ],
  [
    'a reference to a table',
    withFields({ owner_id: integer({ references: 'owner_rows' }) }),
    'field "owner_id": references the unknown resource "owner_rows"; that is a table, and its path is "owners"',
  ],
  [
    'a unique field with a constant default',
    withFields({ slug: text({ unique: true, default: 'x' }) }),
    'field "slug": unique and a constant default contradict each other: a second row would be refused; remove one of the two',
  ],
  [
    'a unique field whose managed function returns the same value again',
    withFields({ slug: text({ unique: true, managed: () => 'x' }) }),
    'field "slug": unique, but the function managed returns the same value again: a second row would be refused; remove one of the two',
  ],
  [
    'an async managed function',
    withFields({ slug: text({ managed: untyped(async () => Promise.reject(new Error('boom'))) }) }),
    'field "slug": the function managed is async, but it must return its value at once: a string without NUL and lone surrogates',
  ],
  [
    'a managed function that throws no error object',
    withFields({
      slug: text({
        managed: () => {
          throw untyped('boom')
        },
      }),
    }),
    'field "slug": the function managed throws an error: "boom"',
  ],
  [
    'a default that is no id',
    withFields({ owner_id: integer({ references: 'owners', default: 0 }) }),
    'field "owner_id": default is 0, but ids begin at 1',
  ],
  [
    'a Date',
    withFields({ day: text({ default: untyped(new Date()) }) }),
    'field "day": default is a Date, but it must be a string without NUL and lone surrogates; for the time of each create, write now or today',
  ],
  [
    'an integer past 2^53',
    withFields({ size: integer({ default: 2 ** 53 }) }),
    `field "size": default is 9007199254740992, but it must be an integer between ${bounds}`,
  ],
  [
    'two rules of the name, and three of unique',
    withFields({ Limit: text({ unique: ['Limit', 'titl', 'secret'] }), secret: text({ redacted: true }) }),
    'field "Limit": the name is a query parameter of every list; choose another',
    'field "Limit": the name must be at most 60 lower-case letters, digits and underscores, such as "from_date"',
    'field "Limit": unique names the field itself; name other fields, or write true',
    'field "Limit": unique names the unknown field "titl". Did you mean "title"?',
    'field "Limit": unique names the redacted field "secret", and would reveal its values',
  ],
  [
    'no default export',
    undefined,
    'the default export is not a descriptor; write "export default defineResource({ … })", or move shared fields into resources/shared/',
  ],
]

const test = suite('descriptors')

test('a valid descriptor has no problems', () => {
  assert.equal(problemsOf(valid), [])
})

for (const [name, exported, ...messages] of cases) {
  test(`${name}: reported`, () => {
    assert.equal(
      problemsOf(exported),
      messages.map((message) => `resources/things.ts: ${message}`),
    )
  })
}

test('two resources with the same table or name are reported with both files', () => {
  assert.equal(problemsOf({ ...valid, table: 'owner_rows' }), [
    'resources/things.ts: table "owner_rows" is also that of resources/owners.ts; each resource needs its own table',
  ])
  assert.equal(problemsOf({ ...valid, name: 'Owner' }), [
    'resources/things.ts: name "Owner" makes the schema Owner, which resources/owners.ts makes too; choose another name',
  ])
})

test('an invalid or reserved file name is reported', () => {
  assert.equal(problemsOf(valid, 'My_Things'), [
    'resources/My_Things.ts: the file name becomes the path, so it must be lower-case words joined by "-", such as career-sites.ts',
  ])
  assert.equal(problemsOf(valid, 'health'), ['resources/health.ts: the path "health" is reserved; rename the file'])
})

test('syntax errors and broken rules are reported at once', () => {
  const problems = problemsOf({
    ...valid,
    tabel: 'x',
    create: 'yes',
    required: ['titel', 'size'],
    fields: {
      title: text(untyped({ uniqe: true, filter: 1 })),
      size: 'integer',
      owner_id: integer({ references: 'owner' }),
    },
  })
  const patterns = [
    /create is "yes"/,
    /"tabel"/,
    /"title": unknown option "uniqe"/,
    /"title": filter/,
    /"size": is "integer"/,
    /required names the unknown field "titel"/,
    /"owner_id": references/,
  ]
  assert.is(problems.length, patterns.length, problems.join('\n'))
  for (const [index, pattern] of patterns.entries()) assert.match(problems[index] as string, pattern)
})

test('problems in several files are reported at once', () => {
  const problems = problemsIn({ a: { ...valid, required: ['x'] }, b: { ...owner, fields: {}, required: [] } })
  assert.equal(
    problems.map((problem) => problem.slice(0, problem.indexOf(':'))),
    ['resources/b.ts', 'resources/a.ts'],
  )
})

const demoErrors = (...registry: Registry): string[] => {
  const problems: FileError[] = []
  for (const resource of registry) {
    verifyRows(resource, demoIds(registry), reportIn(problems, `seeds/${resource.path}.json`))
  }
  return lines(problems)
}

test('demo rows are checked against the descriptor', () => {
  const descriptor = defineResource({ ...valid, fields: { title: text(), size: number() }, required: ['title'] })
  const rows = untyped([
    { id: 1, title: 'a' },
    { id: 1, title: 'b', size: 'x' },
    { id: 2, titel: 'c' },
    { id: 0 },
    { id: -3, title: 'd' },
  ])
  assert.equal(demoErrors(resourceFrom('things', descriptor, rows)), [
    'seeds/things.json: row 3: field "titel": is not a field of this resource. Did you mean "title"?',
    'seeds/things.json: row 2: field "id": must be unique, but an earlier row has [1] too',
    'seeds/things.json: row 4, and 1 more row: field "id": is 0, but ids begin at 1',
    'seeds/things.json: row 4: field "title": is required',
    'seeds/things.json: row 2: field "size": is "x", but it must be a finite number',
  ])
})

test('demo rows are checked against each other', () => {
  const owners = resourceFrom('owners', owner, [{ id: 1, title: 'a' }])
  const fields = { owner_id: integer({ references: 'owners' }), slug: text({ unique: ['owner_id'] }) }
  const things = resourceFrom('things', { ...valid, fields, required: [] }, [
    { id: 1, owner_id: 1, slug: 'x' },
    { id: 2, owner_id: 1, slug: 'x' },
    { id: 3, owner_id: 7, slug: 'x' },
  ])
  assert.equal(demoErrors(owners, things), [
    'seeds/things.json: row 3: field "owner_id": references row 7, which is not in seeds/owners.json',
    'seeds/things.json: row 2: field "slug": must be unique, but an earlier row has [1,"x"] too',
  ])
})

test('a problem of many rows is reported once', () => {
  const rows = Array.from({ length: 240 }, (_, n) => ({ id: n + 1 }))
  assert.equal(demoErrors(resourceFrom('things', valid, rows)), [
    'seeds/things.json: row 1, and 239 more rows: field "title": is required',
  ])
})

test('a value that breaks two rules has both reported', () => {
  const fields = { owner_id: integer({ references: 'owners', unique: true }) }
  const things = resourceFrom('things', { ...valid, fields, required: [] }, [
    { id: 1, owner_id: 'x' },
    { id: 2, owner_id: 'x' },
  ])
  assert.equal(demoErrors(resourceFrom('owners', owner, []), things), [
    `seeds/things.json: row 1, and 1 more row: field "owner_id": is "x", but it must be an integer between ${bounds}`,
    'seeds/things.json: row 1, and 1 more row: field "owner_id": references row "x", which is not in seeds/owners.json',
    'seeds/things.json: row 2: field "owner_id": must be unique, but an earlier row has ["x"] too',
  ])
})

const link = (name: string, references: string, more: object = {}) => ({
  ...valid,
  name,
  table: name.toLowerCase(),
  fields: { other_id: integer({ references }) },
  required: ['other_id'],
  ...more,
})

test('a cycle of required references is reported once, in its first resource', () => {
  assert.equal(problemsIn({ a: link('A', 'a') }), [
    'resources/a.ts: field "other_id": is required and references its own resource, so no first row can ever be created; remove it from required',
  ])
  assert.equal(problemsIn({ a: link('A', 'b'), b: link('B', 'c'), c: link('C', 'b'), d: link('D', 'c') }), [
    'resources/b.ts: field "other_id": is required and references a resource that requires one of this (b.other_id → c.other_id), so no first row can ever be created; remove it from required',
  ])
})

test('a cycle that an optional reference or rows from elsewhere can begin is valid', () => {
  assert.equal(problemsIn({ a: link('A', 'b'), b: link('B', 'a', { required: [] }) }), [])
  assert.equal(problemsIn({ a: link('A', 'b'), b: link('B', 'a', { create: false }) }), [])
})

for (const [name, other, message] of [
  [
    'leave Request',
    {},
    'name "leave Request" makes the schema LeaveRequest, which resources/a.ts makes too; choose another name',
  ],
  [
    'Leave request create',
    {},
    'name "Leave request create" makes the schema LeaveRequestCreate, which resources/a.ts makes too; choose another name',
  ],
  ['Leave requests', {}, 'name "Leave requests" is the plural of resources/a.ts; choose another name'],
  [
    'Absence',
    { plural: 'Leave-requests' },
    'plural "Leave-requests" makes the operation listLeaveRequests, which resources/a.ts makes too; choose another plural',
  ],
  [
    'Absence',
    { plural: 'Leave request' },
    'plural "Leave request" is the name of resources/a.ts; choose another plural',
  ],
  [
    'Pagination meta',
    {},
    'name "Pagination meta" makes the schema PaginationMeta, which every service has; choose another name',
  ],
  [
    'Größe',
    {},
    'name is "Größe", but schemas and operations are named after it, and OpenAPI allows only A–Z, a–z and 0–9 there; replace "öß"',
  ],
  [
    'Size',
    { plural: '尺寸' },
    'plural is "尺寸", but schemas and operations are named after it, and OpenAPI allows only A–Z, a–z and 0–9 there; replace "尺寸"',
  ],
  [
    '?!',
    {},
    'name is "?!", but schemas and operations are named after it; it must have a letter or digit (A–Z, a–z, 0–9)',
  ],
] as const) {
  test(`the name ${name} ${JSON.stringify(other)} is reported beside Leave request`, () => {
    const first = { ...valid, name: 'Leave request', table: 'leave_requests' }
    assert.equal(problemsIn({ a: first, b: { ...valid, name, ...other } }), [`resources/b.ts: ${message}`])
  })
}

test('the singular can be the plural', () => {
  assert.equal(problemsOf({ ...valid, name: 'Attendance', plural: 'Attendance' }), [])
})

test('a similar name is suggested, and none if none is similar', () => {
  assert.is(nearest('leave_typ', ['leave_type', 'status']), 'leave_type')
  assert.is(nearest('sttaus', ['leave_type', 'status']), 'status')
  assert.is(nearest('zzz', ['leave_type', 'status']), undefined)
  assert.is(didYouMean('colour', ['color']), '. Did you mean "color"?')
})

test('now and today are the current UTC second and date', () => {
  const second = () => new Date().toISOString().slice(0, 19)
  const before = second()
  const [timestamp, date] = [now(), today()]
  const after = second()
  assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.ok(timestamp >= `${before}Z` && timestamp <= `${after}Z`)
  assert.ok(date >= before.slice(0, 10) && date <= after.slice(0, 10))
})

test.run()
