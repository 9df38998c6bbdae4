/** The verification of descriptors and demo rows: every message, word for word. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { describeClock } from '../../engine/descriptor/clock.js'
import { demoIds, verifyRows } from '../../engine/descriptor/demo.js'
import {
  boolean,
  claim,
  date,
  decimal,
  defineResource,
  integer,
  now,
  number,
  text,
  timestamp,
} from '../../engine/descriptor/index.js'
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

const lines = (errors: readonly FileError[]): string[] => errors.map(({ file, message }) => `${file}: ${message}`)

/** The errors of some descriptors, by path. */
const errorsIn = (exported: Record<string, unknown>): string[] => {
  const errors: FileError[] = []
  const modules = Object.entries(exported).map(([path, value]) => ({
    file: `resources/${path}.ts`,
    path,
    module: { default: value },
  }))
  verify(modules, errors)
  return lines(errors)
}

/** The errors of a descriptor in `resources/things.ts`, next to the valid `resources/owners.ts`. */
const errorsInThings = (exported: unknown, path = 'things'): string[] => errorsIn({ owners: owner, [path]: exported })
const withFields = (fields: object, rest: object = {}) => ({ ...valid, fields: { title: text(), ...fields }, ...rest })
const untyped = (value: unknown) => value as never
const systemColumns = ['xmin', 'ctid', 'tableoid', 'cmin', 'cmax', 'xmax']
const bounds = '-9007199254740991 and 9007199254740991'
const tableNames =
  'at most 60 lower-case letters, digits and underscores, such as "books", and must not begin with sqlite_, pg_ or registry_'

const kinds = 'text(), integer(), number(), boolean(), date(), timestamp(), uuid(), decimal(), json()'
const optionList =
  'about, label, example, default, managed, onUpdate, redacted, readBy, writeBy, column, renamedFrom, filter, range, sort'
const throwing = (thrown: unknown) => () => {
  throw thrown
}

/** Mistakes in fields and in properties of the descriptor, many at once, and the message of each. */
const cases: [about: string, exported: unknown, ...messages: string[]][] = [
  [
    'references and keys',
    withFields({
      owner_id: integer({ references: 'owner' }),
      other_id: integer({ references: 'zzzzzz' }),
      table_id: integer({ references: 'owner_rows' }),
      first_id: integer({ references: 'owners', default: 0 }),
      a: text({ unique: ['titl'] }),
      b: text({ unique: [] }),
      c: text({ unique: ['c'] }),
      d: text({ unique: true, default: 'x' }),
      e: text({ unique: true, managed: () => 'x' }),
    }),
    'field "owner_id": references the unknown resource "owner". Did you mean "owners"?',
    'field "other_id": references the unknown resource "zzzzzz"; the resources are owners, things',
    'field "table_id": references the unknown resource "owner_rows"; that is a table, and its path is "owners"',
    'field "first_id": default is 0, but ids begin at 1',
    'field "a": unique names the unknown field "titl". Did you mean "title"?',
    'field "b": unique is an empty list; write true if it is unique in the whole table',
    'field "c": unique names the field itself; name other fields, or write true',
    'field "d": unique and a constant default contradict each other: a second row would be refused; remove one of the two',
    'field "e": unique, but the function managed returns the same value again: a second row would be refused; remove one of the two',
  ],
  [
    'values',
    withFields(
      {
        a: integer({ default: untyped('3') }),
        b: number({ default: untyped(() => 'x') }),
        c: number({ default: untyped(throwing(new Error('boom'))) }),
        d: integer({ example: 1.5 }),
        e: text({ managed: now, default: 'x' }),
        f: text({ managed: true }),
        g: text({ managed: untyped(async () => Promise.reject(new Error('boom'))) }),
        h: text({ managed: untyped(throwing('boom')) }),
        i: text({ default: untyped(new Date()) }),
        j: integer({ default: 2 ** 53 }),
      },
      { required: ['f'] },
    ),
    `field "a": default is "3", but it must be an integer between ${bounds}`,
    'field "b": the function default returns "x", but it must return a finite number',
    'field "c": the function default throws an error: boom',
    `field "d": example is 1.5, but it must be an integer between ${bounds}`,
    'field "e": a managed field cannot have a default; remove one of the two',
    'field "f": a required managed field needs a function that returns its value, such as managed: now',
    'field "g": the function managed is async, but it must return its value at once: a string without NUL and lone surrogates',
    'field "h": the function managed throws an error: "boom"',
    'field "i": default is a Date, but it must be a string without NUL and lone surrogates; for the time of each create, write now or today',
    `field "j": default is 9007199254740992, but it must be an integer between ${bounds}`,
  ],
  [
    'rules',
    withFields({
      a: integer({ min: 5, max: 2 }),
      b: text({ minLength: 9, maxLength: 3 }),
      c: integer({ max: 2, default: 3 }),
      d: text({ oneOf: ['new', 'old'], example: untyped('od') }),
      e: integer({ oneOf: [1, 9, 1], max: 5 }),
      j: text({ range: true }),
      f: text({ pattern: '(', maxLength: 9 }),
      g: text({ pattern: '(?=a)a', maxLength: 9 }),
      h: text({ pattern: 'a+' }),
      i: text({ pattern: '(?:a{0,90}){0,90}', maxLength: 9 }),
    }),
    'field "a": min is 5, but max is 2; no value is allowed',
    'field "b": minLength is 9, but maxLength is 3; no value is allowed',
    'field "c": default must be at most 2; 3 is more',
    'field "d": example must be one of "new", "old"; "od" is not. Did you mean "old"?',
    'field "e": oneOf: 9 must be at most 5; 9 is more',
    'field "e": oneOf names 1 twice',
    'field "j": range of a text needs a format, such as format: \'date\'',
    'field "f": pattern cannot be used: Invalid regular expression: /(/u: Unterminated group',
    'field "g": pattern cannot be used: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    'field "h": a pattern needs a maxLength of at most 1000',
    'field "i": pattern cannot be used: error parsing regexp: invalid repeat count: `{0,90}`',
  ],
  [
    'names of fields',
    withFields({
      ...Object.fromEntries(['limit', 'q', 'offset'].map((name) => [name, text()])),
      ...Object.fromEntries(systemColumns.map((name) => [name, text()])),
      id: integer(),
      firstName: text(),
      constructor: text(),
      expand: text(),
      expanded: text(),
      registry_note: text(),
      Limit: text({ unique: ['Limit', 'titl', 'secret'] }),
      secret: text({ redacted: true }),
    }),
    ...['limit', 'q', 'offset', 'Limit'].map(
      (name) => `field "${name}": the name is a query parameter of every list; choose another`,
    ),
    ...['expand', 'expanded'].map((name) => `field "${name}": the name is that of expanded references; choose another`),
    ...systemColumns.map(
      (name) => `field "${name}": every table has a column of that name on PostgreSQL; choose another`,
    ),
    'field "id": every resource has an id without declaring it; remove the field',
    ...['firstName', 'Limit'].map(
      (name) =>
        `field "${name}": the name must be at most 60 lower-case letters, digits and underscores, such as "from_date"`,
    ),
    'field "constructor": the name is reserved by JavaScript; choose another',
    'field "registry_note": the service has columns that begin with registry_; choose another name',
    'field "Limit": unique names the field itself; name other fields, or write true',
    'field "Limit": unique names the unknown field "titl". Did you mean "title"?',
    'field "Limit": unique names "secret", which is redacted: errors would reveal its values',
  ],
  [
    'former names',
    withFields(
      {
        a: integer({ renamedFrom: 'Size"' }),
        b: text({ renamedFrom: 'title' }),
        c: integer({ renamedFrom: 'id' }),
      },
      { renamedFromTable: 'Old things' },
    ),
    'renamedFromTable is "Old things", but it must be the former name of the table, such as "titles"',
    'field "a": renamedFrom is "Size\\"", but it must be the former name of the field, such as "kind"',
    'field "b": renamedFrom names "title", which is still a field; remove one of the two, or rename in two steps',
    'field "c": renamedFrom names "id", which every row keeps; remove it',
  ],
  [
    'a former table that another resource uses',
    { ...valid, renamedFromTable: 'owner_rows' },
    'renamedFromTable names "owner_rows", which resources/owners.ts uses; remove one of the two, or rename in two steps',
  ],
  [
    'what happens at changes, redacted fields and labels',
    withFields(
      {
        a: text({ onUpdate: now }),
        b: integer({ onDelete: 'cascade' }),
        c: integer({ references: 'owners', onDelete: 'set null' }),
        d: text({ managed: now }),
        e: text({ redacted: true, filter: true, sort: true }),
        f: text({ redacted: true }),
      },
      { required: ['title', 'c', 'f', 'titel', 'title', 'id'], update: ['d', 'titel'], label: ['titel', 'f'] },
    ),
    'update names "d", which is managed; remove one of the two',
    'update names the unknown field "titel". Did you mean "title"?',
    'required names the unknown field "titel". Did you mean "title"?',
    'required names "title" twice',
    'required names "id", which every row has; remove it',
    'label names the unknown field "titel". Did you mean "title"?',
    'label names "f", which is redacted; name another field',
    'field "a": onUpdate needs managed, because clients must not set the field too',
    'field "b": onDelete needs references',
    'field "c": the field is required, so a delete cannot set it to null; use restrict or cascade',
    'field "e": a redacted field cannot have the option filter, which would reveal its values',
    'field "e": a redacted field cannot have the option sort, which would reveal its values',
    'field "f": a redacted field is always null for clients, so it cannot be required',
  ],
  [
    'labels and tones of fields',
    withFields({
      a: text({ label: ' ' }),
      b: text({ oneOf: ['Approved'], tones: { Aproved: 'good' } }),
      c: text({ tones: untyped({ x: 'god', y: 7 }) }),
      d: boolean({ tones: { true: 'good', yes: 'bad' } }),
      e: date(untyped({ tones: { x: 'good' } })),
      f: text({ tones: untyped(['good']) }),
      g: integer({ tones: { 1: 'good', 0: 'muted' } }),
    }),
    'field "a": label is " ", but it must be a name for people, such as "Department"',
    'field "b": tones: "Aproved" must be one of "Approved"; "Aproved" is not. Did you mean "Approved"?',
    'field "c": tones: "x" has the unknown tone "god". Did you mean "good"?',
    'field "c": tones: "y" has the unknown tone 7; it must be one of good, bad, warning, info, muted',
    'field "d": tones: "yes" must be true or false',
    `field "e": unknown option "tones" of date(); it must be one of ${optionList}, unique, min, max`,
    'field "f": tones is ["good"], but it must be an object with a tone for each value, such as { Approved: \'good\' }',
  ],
  [
    'rules between fields',
    withFields(
      { a: integer(), b: integer(), c: text({ redacted: true }) },
      {
        rules: untyped([
          { fields: [], holds: () => true, message: 'x' },
          { fields: ['a', 'bb'], holds: () => true, message: 'x' },
          { fields: ['c'], holds: () => true, message: 'x' },
          { fields: ['a'], holds: ({ a, b }: { a: number; b: number }) => a < b, message: 'x' },
          { fields: ['a'], holds: ({ a }: { a: number }) => a, message: 'x' },
          {
            fields: ['a'],
            holds: () => {
              throw new Error('no')
            },
            message: 'x',
          },
        ]),
      },
    ),
    'rule 1: fields is an empty list; name the fields that it compares',
    'rule 2: fields names the unknown field "bb". Did you mean "b"?',
    'rule 3: fields names "c", which is redacted: errors would reveal its values',
    'rule 4: holds reads "b", which is not in fields',
    'rule 5: holds returns 20001, but it must return true or false',
    'rule 6: holds throws an error: no',
  ],
  [
    'hidden fields in rules and in a unique of several fields',
    withFields(
      {
        a: integer(),
        pay: integer({ readBy: ['hr'] }),
        b: text({ unique: ['a', 'pay'] }),
        c: text({ unique: ['a'], readBy: ['hr'] }),
        d: text({ unique: true, readBy: ['hr'] }),
      },
      {
        rules: untyped([
          { fields: ['a', 'pay'], holds: ({ a, pay }: { a: number; pay: number }) => a <= pay, message: 'x' },
        ]),
      },
    ),
    'rule 1: fields names "pay", which has readBy: errors would reveal its values',
    'field "b": unique names "pay", which has readBy: errors would reveal its values',
    'field "c": a field with readBy cannot be unique together with others: errors would reveal its values',
  ],
  [
    'a required field of which no example can be made up',
    withFields(
      {
        a: text({ pattern: 'xy', minLength: 3, maxLength: 9 }),
        b: text({ pattern: '[A-Z]{3}-\\d+', maxLength: 9 }),
      },
      { required: ['title', 'a', 'b'], access: { read: 'hr' } },
    ),
    'field "a": needs an example, because no sample fits its rules',
  ],
  [
    'steps of a status',
    withFields(
      {
        a: text({ next: { x: ['y'] } }),
        b: text({ oneOf: ['open', 'done'], next: untyped({ opn: ['done'], open: ['don', 'open'] }) }),
        c: integer(untyped({ oneOf: [1], next: [1] })),
      },
      { update: ['a', 'b'] },
    ),
    'field "c": next is [1], but it must be an object with the values that may follow each, such as { Pending: [\'Approved\'] }',
    'field "a": next needs oneOf',
    'field "b": next names "opn", which is not in oneOf. Did you mean "open"?',
    'field "b": next: "don" is not in oneOf. Did you mean "done"?',
    'field "b": next: "open" follows itself, which is no change',
  ],
  [
    'steps without updates',
    withFields({ a: text({ oneOf: ['x', 'y'], next: { x: ['y'] } }) }),
    'field "a": next needs update, because only updates make steps',
  ],
  [
    'the values of new rows',
    withFields(
      {
        a: text({ oneOf: ['open', 'done'], start: ['open'] }),
        b: text({ oneOf: ['open', 'done'], next: { open: ['done'] }, start: untyped(['opn', 'open', 'open']) }),
        c: text({ oneOf: ['open', 'done'], next: { open: ['done'] }, start: ['open'], default: 'done' }),
        d: integer({ oneOf: [1, 2], next: { 1: [2] }, start: [1], default: () => 2 }),
        e: text(untyped({ oneOf: ['open', 'done'], next: { open: ['done'] }, start: [] })),
        f: text(untyped({ oneOf: ['open', 'done'], next: { open: ['done'] }, start: 'open' })),
        g: number(untyped({ start: [1] })),
        h: text({ oneOf: ['open', 'done'], next: { open: ['done'] }, start: ['open'], default: 'open' }),
      },
      { update: true },
    ),
    'field "e": start is [], but it must be a list of at least one value, each a string without NUL and lone surrogates',
    'field "f": start is "open", but it must be a list of at least one value, each a string without NUL and lone surrogates',
    'field "g": unknown option "start" of number(). Did you mean "sort"?',
    'field "a": start needs next; without steps, oneOf has the values that rows may have',
    'field "b": start: "opn" is not in oneOf. Did you mean "open"?',
    'field "b": start names "open" twice',
    'field "c": default is "done", which is not in start',
    'field "d": default is 2, which is not in start',
  ],
  [
    'roles that set a field',
    withFields(
      {
        a: text({ writeBy: ['hr', 'public'] }),
        b: text({ writeBy: 'public' }),
        c: text({ writeBy: 'hr', managed: true }),
        d: text({ writeBy: 'hr' }),
        e: text({ writeBy: 'hr', default: 'x' }),
        f: text({ writeBy: 'hr', filter: true }),
        g: text(untyped({ writeBy: claim('hr') })),
        h: text(untyped({ writeBy: [] })),
        i: integer({ writeBy: 'hr', references: 'owners', filter: true }),
        j: text({ writeBy: ['hr', 'head'], readBy: ['hr'] }),
      },
      { required: ['title', 'd', 'e'], access: { read: ['hr', { f: claim('a') }, { i: claim('b') }], create: 'hr' } },
    ),
    `field "g": writeBy is {"name":"hr"}, but it must be a role or a list of roles, such as 'registrar'`,
    `field "h": writeBy is [], but it must be a role or a list of roles, such as 'registrar'`,
    'field "a": writeBy names roles; for everybody, remove it',
    'field "b": writeBy names roles; for everybody, remove it',
    'field "c": a managed field is set by the service; remove one of the two',
    'field "d": a required field with writeBy needs a default, because others create rows without it',
    'field "f": a rule of access names the field, so whoever writes rows must be able to set it',
    'field "i": a rule of access names the field, so whoever writes rows must be able to set it',
  ],
  [
    'access',
    withFields(
      { secret: text({ readBy: ['hr'], filter: true }), owner: text({ filter: true }) },
      {
        access: {
          read: [{ titel: claim('a') }, { title: claim('a') }, { secret: claim('a') }],
          create: 'public',
          update: { owner: claim('') },
          delete: 'hr',
          deleet: 'hr',
        },
        update: true,
      },
    ),
    'access: read names the unknown field "titel". Did you mean "title"?',
    'access: read names "title", which needs filter: true',
    'access: read names "secret", which has readBy: its value would show in the rows',
    'access: create cannot be public; name a role, or write signed-in',
    `access: update is {"owner":{"name":""}}, but it must be a role, an object such as { owner_id: claim('id') }, or a list of these`,
    'access: delete is not possible; write delete: true in the descriptor too, or remove the rule',
    'access: deleet is no operation. Did you mean "delete"?',
  ],
  [
    'paths of access',
    withFields(
      {
        owner_id: integer({ references: 'owners', filter: true }),
        other_id: integer({ references: 'owners' }),
        secret_id: integer({ references: 'owners', filter: true, readBy: ['hr'] }),
        kind: text({ filter: true }),
      },
      {
        access: {
          read: [
            { 'owner_idd.title': claim('a') },
            { 'kind.title': claim('a') },
            { 'other_id.id': claim('a') },
            { 'secret_id.id': claim('a') },
            { 'owner_id.titel': claim('a') },
            { 'owner_id.title': claim('a') },
            { 'owner_id.title.a': claim('a') },
            { 'owner_id.a.b.c.d': claim('a') },
            { 'owner_id.id': claim('a') },
          ] as never,
        },
      },
    ),
    'access: read names "owner_idd.title", but things has no reference "owner_idd". Did you mean "owner_id"?',
    'access: read names "kind.title", but things has no reference "kind"; its references are owner_id, other_id, secret_id',
    'access: read names "other_id.id", but "other_id" of things needs filter: true',
    'access: read names "secret_id.id", but "secret_id" has readBy: its value would show in the rows',
    'access: read names "owner_id.titel", but owners has no field "titel". Did you mean "title"?',
    'access: read names "owner_id.title", but "title" of owners needs filter: true',
    'access: read names "owner_id.title.a", but owners has no reference "title"',
    'access: read names "owner_id.a.b.c.d", but it follows 4 references; a rule may follow at most 3',
  ],
  [
    'access without rules, and with a word that no caller has',
    { ...valid, access: { read: [], create: ' hr' } },
    `access: read is [], but it must be a role, an object such as { owner_id: claim('id') }, or a list of these`,
    `access: create is " hr", but it must be a role, an object such as { owner_id: claim('id') }, or a list of these`,
  ],
  [
    'access with an empty rule',
    { ...valid, access: { read: ['hr', null], create: [undefined] } },
    `access: read is ["hr",null], but it must be a role, an object such as { owner_id: claim('id') }, or a list of these`,
    `access: create is [null], but it must be a role, an object such as { owner_id: claim('id') }, or a list of these`,
  ],
  ['an empty label', withFields({ title: text() }, { label: [] }), 'label is an empty list; name fields, or remove it'],
  [
    'options',
    withFields({
      a: integer(untyped({ refrences: 'owners' })),
      b: number(untyped({ unique: true })),
      c: integer(untyped({ constructor: 1 })),
      d: integer('large' as never),
      e: text(untyped({ format: 'day' })),
      f: integer(untyped({ filter: 'yes' })),
      g: 'integer',
      h: integer,
      i: integer(untyped({ required: true })),
    }),
    'field "a": unknown option "refrences" of integer(). Did you mean "references"?',
    `field "b": unknown option "unique" of number(); it must be one of ${optionList}, min, max`,
    `field "c": unknown option "constructor" of integer(); it must be one of ${optionList}, unique, references, onDelete, tones, oneOf, next, start, min, max`,
    `field "d": the options of integer() are "large", but they must be an object such as { about: '…' }`,
    'field "e": format is "day", but it must be "date" or "timestamp"',
    'field "f": filter is "yes", but it must be true or omitted',
    `field "g": is "integer", but it must be one of ${kinds}`,
    `field "h": is a function, but it must be one of ${kinds}, with parentheses`,
    `field "i": unknown option "required" of integer(); add the field to the list of the resource instead: required: ['i', …]`,
  ],
  [
    'missing properties',
    { fields: { title: text() }, tabel: 'x' },
    'unknown property "tabel". Did you mean "table"?',
    'name is missing; it must be a string such as "Book"',
    'area is missing; it must be a string such as "People"',
    'required is missing; it must be a list of field names, such as ["name"], or [] if every field may be null',
    'create is missing; it must be true or false',
  ],
  [
    'properties of the wrong type',
    { ...valid, create: 'yes', table: 'My Table', required: 'title', fields: {} },
    `table is "My Table", but it must be ${tableNames}`,
    'fields is {}, but it must be an object with at least one field besides id, such as { name: text() }',
    'required is "title", but it must be a list of field names, such as ["name"], or [] if every field may be null',
    'create is "yes", but it must be true or false',
  ],
  ...['pg_class', 'sqlite_things', undefined].map((table): (typeof cases)[number] => [
    `the table ${table}`,
    { ...valid, table },
    `table is ${table === undefined ? 'missing;' : `"${table}", but`} it must be ${tableNames}`,
  ]),
  [
    'a table named like the key of another one',
    { ...valid, table: 'owner_rows_pkey' },
    'table "owner_rows_pkey" has the name of an object that resources/owners.ts makes; choose another name',
  ],
  [
    'columns without an existing table',
    withFields({ a: text({ column: 'A' }) }, { idColumn: 'Id' }),
    'field "a": column needs existing: true; otherwise the column has the name of the field',
    'idColumn needs existing: true; otherwise the column is "id"',
  ],
  [
    'an existing table',
    withFields(
      {
        a: text({ column: 'A b' }),
        b: text({ column: 'A b' }),
        c: text({ column: untyped('') }),
        d: text({ renamedFrom: 'e' }),
        f: text({ column: 'title' }),
        owner_id: integer({ column: 'Owner Id' }),
      },
      { existing: true, idColumn: 'Owner Id', table: 'Things & more', renamedFromTable: 'others' },
    ),
    'field "a": the column "A b" is also that of "b"',
    'field "b": the column "A b" is also that of "a"',
    'field "c": column is "", but it must be a name such as "EmployeeId"',
    'field "d": renamedFrom changes the table, and an existing one is never changed',
    'field "f": the column "title" is also that of "title"',
    'field "title": the column "title" is also that of "f"',
    'field "owner_id": the column "Owner Id" is also that of "id"',
    'renamedFromTable changes the table, and an existing one is never changed',
  ],
  [
    'the table of another resource',
    { ...valid, table: 'owner_rows' },
    'table "owner_rows" is also that of resources/owners.ts; each resource needs its own table',
  ],
  [
    'the name of another resource',
    { ...valid, name: 'Owner' },
    'name "Owner" makes the schema Owner, which resources/owners.ts makes too; choose another name',
  ],
  ['none, and a plural that is the singular', { ...valid, name: 'Attendance', plural: 'Attendance' }],
  [
    'no default export',
    undefined,
    'the default export is not a descriptor; write "export default defineResource({ … })", or move shared fields into resources/shared/',
  ],
]

const test = suite('descriptors')

for (const [about, exported, ...messages] of cases) {
  test(`${about}: every mistake is reported`, () => {
    assert.equal(errorsInThings(exported).sort(), messages.map((message) => `resources/things.ts: ${message}`).sort())
  })
}

test('of two files with the same table, the newer one is reported', () => {
  const errors: FileError[] = []
  const file = (path: string, descriptor: object, modifiedAt: number) => ({
    file: `resources/${path}.ts`,
    path,
    modifiedAt,
    module: { default: descriptor },
  })
  verify([file('copies', { ...owner, name: 'Copy' }, 2), file('owners', owner, 1)], errors)
  assert.equal(lines(errors), [
    'resources/copies.ts: table "owner_rows" is also that of resources/owners.ts; each resource needs its own table',
  ])
})

test('an invalid or reserved file name is reported', () => {
  assert.equal(errorsInThings(valid, 'My_Things'), [
    'resources/My_Things.ts: the file name becomes the path, so it must be lower-case words joined by "-", such as reading-rooms.ts',
  ])
  assert.equal(errorsInThings(valid, 'health'), ['resources/health.ts: the path "health" is reserved; rename the file'])
})

test('errors in several files are reported at once', () => {
  const errors = errorsIn({ a: { ...valid, required: ['x'] }, b: { ...owner, fields: {}, required: [] } })
  const found = errors.map((problem) => problem.slice(0, problem.indexOf(':')))
  assert.equal(found, ['resources/b.ts', 'resources/a.ts'])
})

const demoFileErrors = (...registry: Registry): string[] => {
  const errors: FileError[] = []
  for (const resource of registry) {
    verifyRows(resource, demoIds(registry), reportIn(errors, `seeds/${resource.path}.json`))
  }
  return lines(errors)
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
  assert.equal(demoFileErrors(resourceFrom('things', descriptor, rows)), [
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
  assert.equal(demoFileErrors(owners, things), [
    'seeds/things.json: row 3: field "owner_id": references row 7, which is not in seeds/owners.json',
    'seeds/things.json: row 2: field "slug": must be unique, but an earlier row has [1,"x"] too',
  ])
})

test('a problem of many rows is reported once', () => {
  const rows = Array.from({ length: 240 }, (_, n) => ({ id: n + 1 }))
  assert.equal(demoFileErrors(resourceFrom('things', valid, rows)), [
    'seeds/things.json: row 1, and 239 more rows: field "title": is required',
  ])
})

test('a value that breaks two rules has both reported', () => {
  const fields = { owner_id: integer({ references: 'owners', unique: true }) }
  const things = resourceFrom('things', { ...valid, fields, required: [] }, [
    { id: 1, owner_id: 'x' },
    { id: 2, owner_id: 'x' },
  ])
  assert.equal(demoFileErrors(resourceFrom('owners', owner, []), things), [
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

test('bounds are compared as values, not as texts', () => {
  const fields = {
    sum: decimal({ digits: 4, places: 2, min: '9', max: '10' }),
    loss: decimal({ digits: 4, places: 2, min: '-1', max: '-0.99' }),
    at: timestamp({ min: '2026-01-01T00:00:00Z', max: '2026-01-01T00:00:00.005Z' }),
    late: timestamp({ min: '2026-01-01T00:00:00Z', max: '2026-01-01T01:00:00+02:00' }),
  }
  assert.equal(errorsIn({ a: { ...valid, fields, required: [] } }), [
    'resources/a.ts: field "late": min is "2026-01-01T00:00:00Z", but max is "2026-01-01T01:00:00+02:00"; no value is allowed',
  ])
})

test('a cycle of required references is reported once, in its first resource', () => {
  assert.equal(errorsIn({ a: link('A', 'a') }), [
    'resources/a.ts: field "other_id": is required and references its own resource, so no first row can ever be created; remove it from required',
  ])
  assert.equal(errorsIn({ a: link('A', 'b'), b: link('B', 'c'), c: link('C', 'b'), d: link('D', 'c') }), [
    'resources/b.ts: field "other_id": is required and references a resource that requires one of this (b.other_id → c.other_id), so no first row can ever be created; remove it from required',
  ])
})

test('a cycle that an optional reference or rows from elsewhere can begin is valid', () => {
  assert.equal(errorsIn({ a: link('A', 'b'), b: link('B', 'a', { required: [] }) }), [])
  assert.equal(errorsIn({ a: link('A', 'b'), b: link('B', 'a', { create: false }) }), [])
})

const made = 'which resources/a.ts makes too; choose another'
const allowed = 'but schemas and operations are named after it, and OpenAPI allows only A–Z, a–z and 0–9 there; replace'
for (const [other, message] of [
  [{ name: 'leave Request' }, `name "leave Request" makes the schema LeaveRequest, ${made} name`],
  [{ name: 'Leave request create' }, `name "Leave request create" makes the schema LeaveRequestCreate, ${made} name`],
  [{ name: 'Leave requests' }, 'name "Leave requests" is the plural of resources/a.ts; choose another name'],
  [{ plural: 'Leave-requests' }, `plural "Leave-requests" makes the operation listLeaveRequests, ${made} plural`],
  [{ plural: 'Leave request' }, 'plural "Leave request" is the name of resources/a.ts; choose another plural'],
  [
    { name: 'Pagination meta' },
    'name "Pagination meta" makes the schema PaginationMeta, which every service has; choose another name',
  ],
  [{ name: 'Größe' }, `name is "Größe", ${allowed} "öß"`],
  [{ plural: '尺寸' }, `plural is "尺寸", ${allowed} "尺寸"`],
  [
    { name: '?!' },
    'name is "?!", but schemas and operations are named after it; it must have a letter or digit (A–Z, a–z, 0–9)',
  ],
] as const) {
  test(`${JSON.stringify(other)} beside "Leave request" is reported`, () => {
    const first = { ...valid, name: 'Leave request', table: 'leave_requests' }
    assert.equal(errorsIn({ a: first, b: { ...valid, ...other } }), [`resources/b.ts: ${message}`])
  })
}

test('a similar name is suggested, and none if none is similar', () => {
  assert.is(nearest('leave_typ', ['leave_type', 'status']), 'leave_type')
  assert.is(nearest('sttaus', ['leave_type', 'status']), 'status')
  assert.is(nearest('zzz', ['leave_type', 'status']), undefined)
  assert.is(didYouMean('colour', ['color']), '. Did you mean "color"?')
})

test('the clocks of another copy of the engine are known', async () => {
  const file = new URL('../../engine/descriptor/clock.js?copy', import.meta.url).href
  const copy = (await import(file)) as typeof import('../../engine/descriptor/clock.js')
  assert.is.not(copy.now, now)
  assert.is(describeClock(copy.now)?.name, 'now')
  const fields = { at: timestamp({ managed: copy.now }) }
  const [, at] = resourceFrom('things', { ...valid, fields, required: [] }, []).fields
  const managed = at?.managed as () => string
  assert.match(managed(), /\.\d{3}Z$/)
})

test.run()
