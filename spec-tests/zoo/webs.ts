/** References: trees, chains, circles, links, and products with many resources. */
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
import { type Animals, rule } from './animal.js'

export const trees: Animals = {
  nodes: {
    fields: {
      parent_id: integer({ references: 'nodes', onDelete: 'cascade', filter: true }),
      name: text({ unique: ['parent_id'] }),
    },
    required: ['name'],
    demo: [
      { id: 1, name: 'root' },
      { id: 2, parent_id: 1, name: 'leaf' },
    ],
  },
  roots: { fields: { root_id: integer({ references: 'roots' }) }, required: ['root_id'], create: false },
  rings: {
    fields: { next_id: integer({ references: 'rings', unique: true }) },
    required: ['next_id'],
    create: false,
    demo: [
      { id: 1, next_id: 2 },
      { id: 2, next_id: 1 },
    ],
  },
  branches: {
    id: 'text',
    fields: {
      up: text({ references: 'branches', onDelete: 'set null' }),
      left: text({ references: 'branches', unique: true, onDelete: 'set null' }),
    },
  },
}

export const circles: Animals = {
  hens: { fields: { egg_id: integer({ references: 'eggs', onDelete: 'cascade', unique: true }), name: text() } },
  eggs: { fields: { hen_id: integer({ references: 'hens' }), weight: number() }, required: ['hen_id'] },
  firms: {
    fields: { head_id: integer({ references: 'workers', onDelete: 'set null' }), name: text({ unique: true }) },
    required: ['name'],
  },
  workers: {
    fields: { firm_id: integer({ references: 'firms', onDelete: 'cascade' }), name: text() },
    required: ['firm_id'],
    demo: [],
  },
}

export const circlesWithRows: Animals = {
  hens: { fields: { egg_id: integer({ references: 'eggs', unique: true }) }, demo: [{ id: 1, egg_id: 7 }] },
  eggs: {
    fields: { hen_id: integer({ references: 'hens', unique: true }) },
    required: ['hen_id'],
    demo: [{ id: 7, hen_id: 1 }],
  },
}

export const couples: Animals = {
  locks: { fields: { key_id: integer({ references: 'keys', unique: true }) }, required: ['key_id'], create: false },
  keys: { fields: { lock_id: integer({ references: 'locks' }), name: text() }, required: ['lock_id'], create: false },
  rooms: {
    existing: true,
    table: 'Rooms',
    fields: { door_id: integer({ references: 'doors' }) },
    required: ['door_id'],
  },
  doors: {
    existing: true,
    table: 'Doors',
    fields: { room_id: integer({ references: 'rooms' }) },
    required: ['room_id'],
  },
}

export const chains: Animals = {
  a: { fields: { code: text({ unique: true, oneOf: ['x', 'y'] }) }, required: ['code'] },
  b: { fields: { a_id: integer({ references: 'a', unique: true }) }, required: ['a_id'] },
  c: { fields: { b_id: integer({ references: 'b', unique: true, onDelete: 'cascade' }) }, required: ['b_id'] },
  d: {
    fields: {
      c_id: integer({ references: 'c', onDelete: 'cascade' }),
      other_c_id: integer({ references: 'c', unique: ['c_id'] }),
    },
    required: ['c_id', 'other_c_id'],
  },
}

export const twins: Animals = {
  teams: { fields: { name: text() }, required: ['name'] },
  games: {
    fields: {
      home_id: integer({ references: 'teams' }),
      away_id: integer({ references: 'teams' }),
      winner_id: integer({ references: 'teams', onDelete: 'set null' }),
      day: date({ unique: ['home_id', 'away_id'] }),
    },
    required: ['home_id', 'away_id', 'day'],
    rules: [
      rule(['home_id', 'away_id'], (home, away) => home !== away, 'a team cannot play against itself'),
      rule(
        ['winner_id', 'home_id', 'away_id'],
        (winner, home, away) => winner === home || winner === away,
        'winner_id must be one of the two',
      ),
    ],
    demo: [],
  },
}

export const oneTeam: Animals = {
  clubs: { fields: { name: text() }, demo: [{ id: 1, name: 'only' }] },
  friendships: {
    fields: { one_id: integer({ references: 'clubs' }), other_id: integer({ references: 'clubs' }) },
    required: ['one_id', 'other_id'],
    demo: [{ id: 1, one_id: 1, other_id: 1 }],
  },
}

export const steps: Animals = {
  orders: {
    fields: {
      status: text({
        oneOf: ['new', 'paid', 'sent', 'done'],
        next: { new: ['paid'], paid: ['sent'], sent: ['done'] },
        default: 'new',
        filter: true,
      }),
      stage: integer({ oneOf: [1, 2], next: { 1: [2] } }),
      final: text({ oneOf: ['yes'], next: {} }),
      paid_on: date(),
    },
    required: ['status'],
    rules: [
      rule(
        ['status', 'paid_on'],
        (status, on) => status !== 'new' || on === '2026-01-01',
        'a new order is paid on the first day only',
      ),
    ],
    demo: [
      { id: 1, status: 'done', stage: 2, final: 'yes', paid_on: '2026-05-05' },
      { id: 2, status: 'new' },
    ],
  },
}

export const museum: Animals = {
  institutions: {
    id: 'text',
    fields: { name: text({ sort: true }), country: text({ oneOf: ['DE', 'FR', 'US'], filter: true }), contact: json() },
    required: ['name'],
    demo: [
      { id: 'louvre', name: 'Louvre', country: 'FR', contact: { mail: 'x@louvre.example', phones: ['+33 1', 2] } },
      { id: 'moma', name: 'MoMA', country: 'US' },
    ],
  },
  artists: {
    fields: { name: text(), born: integer({ range: true }), died: integer() },
    required: ['name'],
    rules: [rule(['born', 'died'], (born, died) => born < died, 'died must be after born')],
    demo: [{ id: 1, name: 'Monet', born: 1840, died: 1926 }],
  },
  works: {
    fields: {
      inventory: text({ unique: ['institution'], pattern: '[A-Z]{2}\\.\\d{1,4}', maxLength: 7 }),
      institution: text({ references: 'institutions', filter: true }),
      artist_id: integer({ references: 'artists', onDelete: 'set null', filter: true }),
      title: text(),
      year_from: integer(),
      year_to: integer(),
      value: decimal({ digits: 12, places: 2, default: '0' }),
      tags: json({ default: [] }),
    },
    required: ['inventory', 'institution', 'title', 'value'],
    rules: [rule(['year_from', 'year_to'], (from, to) => from <= to, 'year_to must not be before year_from')],
    demo: [
      {
        id: 1,
        inventory: 'RF.1',
        institution: 'louvre',
        artist_id: 1,
        title: 'Water',
        year_from: 1906,
        year_to: 1906,
        value: '1000',
        tags: ['oil', { a: 1 }],
      },
    ],
    summary: true,
    import: true,
  },
  loans: {
    id: 'uuid',
    fields: {
      work_id: integer({ references: 'works', filter: true }),
      borrower: text({ references: 'institutions', unique: ['work_id', 'starts'], filter: true }),
      starts: date({ range: true }),
      ends: date(),
      status: text({
        oneOf: ['asked', 'agreed', 'out', 'back'],
        next: { asked: ['agreed'], agreed: ['out'], out: ['back'] },
        default: 'asked',
        filter: true,
      }),
      fee: decimal({ digits: 8, places: 2 }),
    },
    required: ['work_id', 'borrower', 'starts', 'status'],
    rules: [rule(['starts', 'ends'], (starts, ends) => starts < ends, 'ends must be after starts')],
    access: {
      read: ['registrar', { borrower: claim('institution') }],
      create: 'registrar',
      update: ['registrar', { borrower: claim('institution') }],
      delete: 'registrar',
    },
    demo: [
      {
        id: '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d',
        work_id: 1,
        borrower: 'moma',
        starts: '2026-01-01',
        ends: '2026-06-01',
        status: 'out',
      },
    ],
  },
  hours: {
    fields: {
      institution: text({ references: 'institutions', onDelete: 'cascade' }),
      weekday: integer({ oneOf: [1, 2, 3, 4, 5, 6, 7], unique: ['institution'] }),
      opens: text({ pattern: '\\d\\d:\\d\\d', maxLength: 5 }),
      closes: text({ pattern: '\\d\\d:\\d\\d', maxLength: 5 }),
    },
    required: ['institution', 'weekday', 'opens', 'closes'],
    rules: [rule(['opens', 'closes'], (opens, closes) => opens < closes, 'closes must be after opens')],
    demo: [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({
      id: weekday,
      institution: 'louvre',
      weekday,
      opens: '09:00',
      closes: '18:00',
    })),
  },
}

export const clinic: Animals = {
  patients: {
    id: 'uuid',
    fields: { name: text(), born: date({ max: '2026-01-01' }), insured: boolean({ default: false }) },
    required: ['name', 'insured'],
  },
  visits: {
    fields: {
      patient_id: uuid({ references: 'patients', onDelete: 'cascade', filter: true }),
      at: timestamp({ default: now, unique: ['patient_id'] }),
      note: text({ redacted: true }),
      created: text({ managed: now }),
      day: text({ default: today, format: 'date', range: true, filter: true }),
    },
    required: ['patient_id', 'at', 'created'],
    summary: true,
  },
  bills: {
    id: 'text',
    fields: {
      visit_id: integer({ references: 'visits', unique: true }),
      sum: decimal({ digits: 8, places: 2, min: '0.01', range: true, sort: true, filter: true }),
      paid: boolean(),
    },
    required: ['visit_id', 'sum'],
  },
}

/** Rules that follow one to three references, to rows with every kind of id. */
export const lending: Animals = {
  lenders: {
    id: 'text',
    fields: { city: text({ filter: true }), size: integer({ filter: true }), open: boolean({ filter: true }) },
    required: ['city'],
    demo: [{ id: 'a b', city: 'Bonn', size: 1, open: true }],
  },
  loans: {
    id: 'uuid',
    fields: {
      lender: text({ references: 'lenders', filter: true, onDelete: 'cascade' }),
      title: text(),
      previous: uuid({ references: 'loans', filter: true, onDelete: 'set null' }),
    },
    required: ['lender', 'title'],
    access: {
      read: [{ 'lender.id': claim('lender') }, { 'lender.city': claim('city'), 'lender.size': claim('size') }],
      create: { 'lender.id': claim('lender') },
      update: { 'lender.city': claim('city') },
      delete: { 'previous.lender.id': claim('lender') },
    },
    // All rows are on one side.
    demo: [{ id: '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d', lender: 'a b', title: 'First' }],
  },
  items: {
    fields: {
      loan_id: uuid({ references: 'loans', filter: true, onDelete: 'cascade' }),
      no: integer({ unique: true, filter: true }),
    },
    required: ['loan_id', 'no'],
    access: {
      read: ['registrar', { 'loan_id.lender.city': claim('city') }],
      create: 'registrar',
      update: { 'loan_id.lender': claim('lender') },
    },
    demo: [],
  },
  reports: {
    fields: {
      item_id: integer({ references: 'items', unique: true, filter: true }),
      next_id: integer({ references: 'reports', filter: true }),
      state: text({ oneOf: ['new', 'seen'], default: 'new', filter: true, next: { new: ['seen'] } }),
      note: text({ readBy: ['registrar'] }),
    },
    required: ['item_id'],
    access: {
      read: [
        'registrar',
        { 'item_id.loan_id.lender.open': claim('open') },
        { 'next_id.item_id.no': claim('no'), state: claim('states') },
      ],
      create: { 'item_id.loan_id.lender.id': claim('lender') },
      update: ['registrar', { 'item_id.loan_id.lender.city': claim('city') }],
      delete: { 'next_id.next_id.item_id.no': claim('no') },
    },
    summary: true,
    import: true,
    demo: [],
  },
}
