/** Rules between fields, which samples must keep. */
import {
  boolean,
  date,
  decimal,
  integer,
  json,
  now,
  number,
  text,
  timestamp,
  today,
} from '../../engine/descriptor/index.js'
import { type Animals, rule } from './animal.js'

const money = { digits: 10, places: 2 } as const

export const bookings: Animals = {
  rooms: { fields: { name: text({ unique: true }) }, required: ['name'], demo: [{ id: 1, name: 'Blue' }] },
  bookings: {
    fields: { room_id: integer({ references: 'rooms' }), from: date({ unique: ['room_id'] }), to: date() },
    required: ['room_id', 'from', 'to'],
    rules: [rule(['from', 'to'], (from, to) => from < to, 'to must be after from')],
  },
}

export const shifts: Animals = {
  shifts: {
    fields: {
      opens: text({ pattern: '\\d\\d:\\d\\d', maxLength: 5 }),
      closes: text({ pattern: '([01]\\d|2[0-3]):[0-5]\\d', maxLength: 5 }),
      day: text({ oneOf: ['Mo', 'Tu'], unique: ['opens'] }),
    },
    required: ['opens', 'closes', 'day'],
    rules: [rule(['opens', 'closes'], (opens, closes) => opens < closes, 'closes must be after opens')],
    demo: [{ id: 1, opens: '08:00', closes: '17:30', day: 'Mo' }],
  },
}

export const invoices: Animals = {
  invoices: {
    fields: {
      number: text({ pattern: 'R-\\d{4}', maxLength: 6, unique: true }),
      net: decimal({ ...money, min: '0' }),
      tax: decimal({ ...money, min: '0' }),
      total: decimal(money),
      paid: decimal({ ...money, default: '0' }),
    },
    required: ['number', 'net', 'tax', 'total', 'paid'],
    rules: [
      rule(
        ['net', 'tax', 'total'],
        (net: bigint, tax: bigint, total: bigint) => net + tax === total,
        'total must be net and tax',
      ),
      rule(['paid', 'total'], (paid, total) => paid <= total, 'paid must not be more than total'),
    ],
    demo: [{ id: 1, number: 'R-0001', net: '100.00', tax: '19.00', total: '119.00', paid: '0' }],
  },
}

/** The same without demo rows. */
export const sums: Animals = {
  sums: {
    fields: { net: decimal(money), tax: decimal(money), total: decimal(money) },
    required: ['net', 'tax', 'total'],
    rules: [
      rule(
        ['net', 'tax', 'total'],
        (net: bigint, tax: bigint, total: bigint) => net + tax === total,
        'total is net and tax',
      ),
    ],
  },
  products: {
    fields: { count: integer({ min: 1 }), price: integer(), total: integer() },
    required: ['count', 'price', 'total'],
    rules: [
      rule(
        ['count', 'price', 'total'],
        (count: number, price: number, total: number) => count * price === total,
        'total must be count times price',
      ),
    ],
  },
}

export const years: Animals = {
  works: {
    fields: {
      title: text(),
      year_from: integer({ min: -3000, max: 2100 }),
      year_to: integer({ max: 2100, range: true }),
    },
    required: ['title'],
    rules: [rule(['year_from', 'year_to'], (from, to) => from <= to, 'year_to must not be before year_from')],
    demo: [
      { id: 1, title: 'Vase', year_from: -500, year_to: -450 },
      { id: 2, title: 'Sketch', year_from: null, year_to: 1901 },
    ],
  },
}

/** What only a demo row shows: no search finds it. */
export const checksums: Animals = {
  codes: {
    fields: { code: text({ unique: true, maxLength: 20 }), digest: text() },
    required: ['code', 'digest'],
    rules: [
      rule(
        ['code', 'digest'],
        (code: string, digest: string) => digest === `${[...code].reverse().join('')}!`,
        'digest must fit code',
      ),
    ],
    demo: [
      { id: 1, code: 'abc', digest: 'cba!' },
      { id: 2, code: 'xyz', digest: 'zyx!' },
    ],
  },
}

export const brittle: Animals = {
  slots: {
    fields: { label: text({ maxLength: 30 }), minutes: integer(), config: json() },
    required: ['label'],
    rules: [
      rule(['label'], (label: string) => (label.split('-')[1] as string).length >= 0, 'label must have a dash'),
      rule(['minutes', 'config'], (minutes: number, config: { n: number }) => minutes !== config.n, 'minutes differ'),
    ],
    demo: [{ id: 1, label: 'a-b', minutes: 5, config: { n: 3, list: [1, { deep: [] }], 'a.b': 1.5 } }],
  },
}

export const stamped: Animals = {
  notes: {
    fields: {
      created: timestamp({ managed: now }),
      changed: timestamp({ managed: now, onUpdate: now }),
      due: date({ default: today }),
      done: boolean({ default: false }),
      score: number({ min: 0, max: 1 }),
    },
    required: ['created', 'changed', 'done'],
    rules: [
      rule(['created', 'changed'], (created, changed) => created <= changed, 'changed must not be before created'),
      rule(['done', 'score'], (done: boolean, score: number) => !done || score > 0.5, 'what is done has a good score'),
    ],
  },
}

export const windows: Animals = {
  windows: {
    fields: { starts: timestamp(), ends: timestamp(), day: date({ min: '2024-02-28', max: '2024-03-01' }) },
    required: ['starts', 'ends', 'day'],
    rules: [
      rule(
        ['starts', 'ends'],
        (starts: string, ends: string) => Date.parse(ends) - Date.parse(starts) === 3_600_000,
        'a window has an hour',
      ),
    ],
  },
  terms: {
    fields: { first: date(), last: date() },
    required: ['first', 'last'],
    rules: [
      rule(
        ['first', 'last'],
        (first: string, last: string) => Date.parse(last) - Date.parse(first) === 7 * 86_400_000,
        'a term has a week',
      ),
    ],
  },
}

export const pairs: Animals = {
  stations: { fields: { name: text() }, required: ['name'], demo: [1, 2, 3].map((id) => ({ id, name: `S${id}` })) },
  lines: {
    fields: {
      from_id: integer({ references: 'stations', filter: true, unique: ['to_id'] }),
      to_id: integer({ references: 'stations', filter: true }),
    },
    required: ['from_id', 'to_id'],
    rules: [rule(['from_id', 'to_id'], (from, to) => from < to, 'to_id must follow from_id')],
    demo: [
      { id: 1, from_id: 1, to_id: 2 },
      { id: 2, from_id: 1, to_id: 3 },
    ],
  },
}

export const brokenDemo: Animals = {
  spans: {
    fields: { low: integer(), high: integer() },
    required: ['low', 'high'],
    rules: [rule(['low', 'high'], (low, high) => low < high, 'high must be more than low')],
    demo: [
      { id: 1, low: 5, high: 1 },
      { id: 2, low: 1, high: 5 },
    ],
  },
}

export const stock: Animals = {
  items: { fields: { sku: text({ pattern: '[A-Z]{3}', maxLength: 3, unique: true }) }, required: ['sku'] },
  moves: {
    fields: {
      item_id: integer({ references: 'items', filter: true }),
      kind: text({ oneOf: ['in', 'out'], filter: true }),
      count: integer({ min: -9, max: 9, range: true }),
    },
    required: ['item_id', 'kind', 'count'],
    rules: [
      rule(
        ['kind', 'count'],
        (kind, count: number) => (kind === 'in' ? count > 0 : count < 0),
        'count has the sign of kind',
      ),
    ],
    summary: true,
  },
}

/** Fields that each rule connects with the next one. */
export const ladder: Animals = {
  grades: {
    fields: {
      e: integer({ min: 0, max: 4 }),
      d: integer(),
      c: integer(),
      b: integer(),
      a: integer({ max: 4, unique: true }),
    },
    required: ['a', 'b', 'c', 'd', 'e'],
    rules: ['ed', 'dc', 'cb', 'ba'].map(([low = '', high = '']) =>
      rule([low, high], (one, other) => one < other, `${high} must be more than ${low}`),
    ),
    demo: [{ id: 1, e: 0, d: 1, c: 2, b: 3, a: 4 }],
  },
}
