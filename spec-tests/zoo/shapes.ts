/** Unusual shapes: few fields, unusual names, every kind, ids that clients choose, tables of other programs. */
import {
  boolean,
  claim,
  date,
  decimal,
  integer,
  json,
  now,
  number,
  text,
  timestamp,
  today,
  uuid,
} from '../../engine/descriptor/index.js'
import type { Animals } from './animal.js'

let serial = 0

export const small: Animals = {
  flags: { fields: { on: boolean() } },
  switches: {
    fields: { on: boolean({ filter: true, sort: true }) },
    required: ['on'],
    demo: [
      { id: 1, on: true },
      { id: 2, on: false },
    ],
  },
  words: { fields: { q_: text() } },
  blobs: { fields: { data: json() }, required: ['data'] },
  numbers: { fields: { n: number() }, required: ['n'] },
}

export const managed: Animals = {
  logs: {
    fields: {
      at: timestamp({ managed: now }),
      day: text({ managed: today }),
      no: integer({ managed: () => ++serial, unique: true }),
    },
    required: ['at'],
  },
  events: {
    fields: { at: timestamp({ managed: now, onUpdate: now }), later: text({ managed: true }) },
    required: ['at'],
    create: false,
    update: false,
  },
  facts: {
    fields: { made: text({ managed: true }), ref: integer({ managed: true, references: 'logs' }) },
    required: ['made'],
    create: false,
    update: false,
  },
}

export const names: Animals = {
  selects: {
    name: 'Select',
    table: 'order',
    fields: {
      order: integer({ sort: true, range: true, filter: true }),
      group: text({ filter: true }),
      user: text({ unique: ['group'] }),
      table: boolean(),
      where: text(),
      to: date(),
      ...Object.fromEntries(['then', 'length', 'prototype', 'tojson', 'valueof'].map((name) => [name, text()])),
      rowid: integer(),
      oid: text(),
      [`x${'y'.repeat(59)}`]: text({ filter: true, unique: true }),
    },
    required: ['order', `x${'y'.repeat(59)}`],
    demo: [{ id: 5, order: 1, group: 'a', user: 'u', table: true, [`x${'y'.repeat(59)}`]: '' }],
  },
  [`a-${'b'.repeat(57)}`]: {
    name: 'Long',
    table: 'a'.repeat(60),
    fields: { [`${'n'.repeat(60)}`]: text(), x: text() },
    required: ['n'.repeat(60)],
  },
  zeros: { fields: { x: text(), xx: text(), xxx: integer() } },
}

export const texts: Animals = {
  people: {
    name: 'Person',
    plural: 'People',
    fields: {
      name: text({ sort: true, filter: true }),
      about: text({ maxLength: 500 }),
      mail: text({ format: 'date', range: true }),
    },
    required: ['name'],
    demo: [
      'Ελένη Σς',
      'ИВАН иван',
      'ﬁne Ω K',
      'İstanbul ı',
      '  padded  ',
      '',
      '%_\\"\'',
      'Straße STRASSE',
      '漢字🙂',
      'a\u00a0b\u2028c',
      '@',
    ].map((name, n) => ({ id: n + 1, name, about: n % 2 ? null : name, mail: `2026-01-0${(n % 9) + 1}` })),
  },
}

export const ids: Animals = {
  tags: {
    id: 'text',
    fields: {
      parent: text({ references: 'tags', onDelete: 'cascade', filter: true }),
      weight: integer({ sort: true }),
    },
    demo: [
      'a b',
      '0',
      'abc',
      '987654321',
      'é/ü',
      '100%',
      '..x',
      'Ω?',
      '999999999',
      '\u{1F600}',
      '-',
      "'",
      '{}',
      'no such row',
    ].map((id, n) => ({ id, weight: n, parent: n > 2 ? 'abc' : null })),
  },
  shelves: { id: 'text', fields: { title: text() }, required: ['title'] },
  books: {
    id: 'uuid',
    fields: {
      shelf: text({ references: 'shelves', maxLength: 30 }),
      twin: uuid({ references: 'books', unique: true, onDelete: 'set null' }),
    },
    required: ['shelf'],
  },
  readers: {
    id: 'text',
    fields: {
      book: uuid({ references: 'books', unique: true }),
      tag: text({ references: 'tags', oneOf: ['abc', '0'] }),
    },
    required: ['book'],
  },
}

export const values: Animals = {
  kinds: {
    fields: {
      a: text({ minLength: 5, maxLength: 5, pattern: '[a-z]*', unique: true }),
      b: text({ pattern: '[а-я]{2,}', maxLength: 9 }),
      c: integer({ min: 5, max: 5 }),
      d: integer({ min: -3, max: -1 }),
      e: number({ min: 0.1, max: 0.2 }),
      f: number({ max: -1e9 }),
      g: date({ min: '9999-12-30' }),
      h: date({ max: '0001-01-02' }),
      i: timestamp({ min: '2026-01-01T00:00:00+02:00', max: '2026-01-01T01:00:00+02:00' }),
      j: decimal({ digits: 18, places: 18 }),
      k: decimal({ digits: 2, places: 0, min: '98' }),
      l: json({ default: { list: [1, 2.5, 'x'], none: null } }),
      m: json({ default: [] }),
      n: timestamp({ default: now }),
      o: date({ default: today, unique: true }),
      p: text({ default: () => 'made', oneOf: ['made', 'nothing'], filter: true }),
      q_: uuid({ example: '0190D8A1-6F2E-7C3A-9B1D-2F4E6A8C0B1D' }),
      r: decimal({ default: '0', digits: 12, places: 2 }),
      s: text({ default: '' }),
      t: boolean({ default: true }),
      u: integer({ default: 0, oneOf: [0, 1] }),
      v: text({ maxLength: 0 }),
      w: timestamp({ default: '2026-03-01T09:30:00+01:00' }),
      x: text({ pattern: '(?:#[0-9a-f]{6}|)', maxLength: 7 }),
      y: text({ minLength: 400 }),
      z: text({ pattern: '(a|b(c|d)*){2,3}[^\\s@]', maxLength: 12, minLength: 4 }),
    },
    required: [
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
      'g',
      'h',
      'i',
      'j',
      'k',
      'l',
      'n',
      'p',
      'q_',
      'r',
      's',
      't',
      'u',
      'x',
      'y',
      'z',
    ],
  },
  documents: {
    fields: { title: text(), body: json(), meta: json({ redacted: true }) },
    required: ['body'],
    demo: [
      { id: 1, title: 'x', body: { b: 1, a: [true, null, 'ü', 1e21, -0.5], __x: {} } as never, meta: [1] },
      { id: 2, body: 'text' },
      { id: 3, body: [] },
      { id: 4, body: 0 },
      { id: 5, body: false },
    ],
  },
}

export const hidden: Animals = {
  staff: {
    name: 'Staff member',
    fields: {
      name: text(),
      salary: decimal({ digits: 9, places: 2, readBy: ['hr'], filter: true, sort: true, range: true }),
      pin: integer({ redacted: true }),
      boss_id: integer({ references: 'staff', filter: true, readBy: ['hr'] }),
      hash: text({ redacted: true, default: 'none' }),
    },
    required: ['name'],
    access: { read: 'signed-in', create: ['hr', 'Geschäftsführer'], update: 'hr', delete: 'a.b.c' },
    demo: [
      { id: 1, name: 'Ana', salary: '10.5', pin: 1, boss_id: null },
      { id: 2, name: 'Bo', boss_id: 1 },
    ],
  },
  cards: {
    fields: {
      owner: text({ filter: true }),
      team: integer({ filter: true }),
      open: boolean({ filter: true }),
      day: date({ filter: true }),
      at: timestamp({ filter: true }),
      no: uuid({ filter: true }),
      sum: decimal({ digits: 4, places: 1, filter: true }),
    },
    required: ['owner'],
    access: {
      read: [
        'stranger',
        { owner: claim('sub') },
        { team: claim('teams'), open: claim('open') },
        { day: claim('day') },
        { at: claim('at') },
        { no: claim('no') },
        { sum: claim('sum') },
      ],
      create: { owner: claim('sub') },
      update: { id: claim('card') },
      delete: 'admin',
    },
    demo: [
      {
        id: 1,
        owner: 'ana',
        team: 1,
        open: true,
        day: '2026-01-01',
        at: '2026-01-01T00:00:00Z',
        no: '0190D8A1-6F2E-7C3A-9B1D-2F4E6A8C0B1D',
        sum: '1',
      },
      { id: 2, owner: 'bo' },
    ],
  },
  badges: {
    fields: { staff_id: integer({ references: 'staff' }), code: text({ unique: true }) },
    required: ['staff_id', 'code'],
    access: { read: 'signed-in', create: 'hr' },
  },
  news: {
    name: 'News item',
    fields: {
      title: text(),
      draft: text({ readBy: ['editor'] }),
      state: text({ oneOf: ['draft', 'shown'], next: { draft: ['shown'] }, start: ['draft'], writeBy: 'editor' }),
      rank: integer({ writeBy: ['editor', 'desk'], default: 0 }),
      origin: text({ writeBy: 'editor', readBy: ['desk'] }),
    },
    required: ['rank'],
    access: { read: 'public', create: 'signed-in', update: 'signed-in' },
  },
}

export const foreign: Animals = {
  customers: {
    existing: true,
    table: 'Customers',
    idColumn: 'CustomerId',
    fields: {
      name: text({ column: 'Name of customer', maxLength: 10 }),
      made: timestamp({ managed: true }),
      kind: integer({ oneOf: [1, 2] }),
    },
    required: ['name', 'made'],
  },
  orders: {
    existing: true,
    table: 'order items',
    id: 'text',
    fields: {
      customer: integer({ column: 'CustomerId', references: 'customers' }),
      total: decimal({ digits: 8, places: 2 }),
    },
    required: ['customer', 'total'],
  },
  'customer-notes': {
    table: 'customers',
    name: 'Note',
    fields: { customer_id: integer({ references: 'customers' }), note: text() },
    required: ['customer_id'],
  },
  totals: {
    existing: true,
    table: 'Totals',
    name: 'Sum',
    fields: { sum: number() },
    create: false,
    update: false,
    delete: false,
  },
} as never

export const readOnly: Animals = {
  currencies: {
    id: 'text',
    fields: { name: text() },
    required: ['name'],
    create: false,
    update: false,
    delete: false,
    demo: [{ id: 'EUR', name: 'Euro' }],
  },
  prices: {
    fields: { currency: text({ references: 'currencies' }), amount: decimal({ digits: 6, places: 2 }) },
    required: ['currency', 'amount'],
    update: ['amount'],
    summary: true,
    import: true,
  },
  colours: {
    fields: { hex: text({ pattern: '#[0-9a-f]{6}', maxLength: 7 }) },
    required: ['hex'],
    create: false,
    update: true,
    delete: true,
  },
}

export const exchanged: Animals = {
  readings: {
    fields: {
      code: text({ unique: true, maxLength: 8, filter: true }),
      value: number({ range: true, filter: true }),
      at: timestamp({ range: true, sort: true }),
      raw: json(),
      amount: decimal({ digits: 6, places: 3, range: true }),
    },
    required: ['code', 'value'],
    summary: true,
    import: true,
    demo: [
      { id: 1, code: '=1+1', value: 1e21, at: '2026-01-01T00:00:00+05:30', raw: '"', amount: '-0.1' },
      { id: 2, code: ',;"', value: -0.1, raw: { a: '\n' } },
    ],
  },
}
