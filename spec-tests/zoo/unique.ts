/** Unique values: few of them, of several fields, and all taken. */
import { boolean, date, decimal, integer, text, timestamp, uuid } from '../../engine/descriptor/index.js'
import type { Animals } from './animal.js'

export const tariffs: Animals = {
  countries: {
    id: 'text',
    fields: { name: text() },
    required: ['name'],
    demo: [
      { id: 'DE', name: 'Germany' },
      { id: 'Å/ä?', name: 'Odd' },
    ],
  },
  tariffs: {
    fields: {
      country: text({ references: 'countries', filter: true }),
      year: integer({ min: 2024, max: 2026, unique: ['country'] }),
      rate: decimal({ digits: 4, places: 2, default: '0' }),
      class: text({ oneOf: ['low', 'high'] }),
    },
    required: ['country', 'year', 'rate'],
    demo: [
      { id: 1, country: 'DE', year: 2024, rate: '19', class: 'low' },
      { id: 2, country: 'DE', year: 2025, rate: '19.5' },
    ],
  },
}

export const singleton: Animals = {
  settings: {
    fields: { key: text({ oneOf: ['main'], unique: true }), theme: text() },
    required: ['key'],
    demo: [{ id: 1, key: 'main', theme: 'dark' }],
  },
  limits: { fields: { only: integer({ min: 1, max: 1, unique: true }) }, required: ['only'] },
}

export const exhausted: Animals = {
  weekdays: {
    fields: { day: text({ oneOf: ['Mo', 'Tu', 'We'], unique: true, filter: true }), open: boolean() },
    required: ['day'],
    demo: ['Mo', 'Tu', 'We'].map((day, n) => ({ id: n + 1, day, open: n === 0 })),
  },
  visits: {
    fields: { weekday_id: integer({ references: 'weekdays' }), note: text() },
    required: ['weekday_id'],
    demo: [1, 2, 3].map((id) => ({ id, weekday_id: id })),
  },
}

export const links: Animals = {
  students: {
    fields: { name: text() },
    demo: [
      { id: 1, name: 'Ana' },
      { id: 2, name: 'Bo' },
    ],
  },
  courses: {
    id: 'uuid',
    fields: { title: text() },
    demo: [{ id: '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d', title: 'Go' }],
  },
  enrolments: {
    fields: {
      student_id: integer({ references: 'students', filter: true, onDelete: 'cascade' }),
      course_id: uuid({ references: 'courses', filter: true, unique: ['student_id'] }),
    },
    required: ['student_id', 'course_id'],
    update: false,
    demo: [
      { id: 1, student_id: 1, course_id: '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d' },
      { id: 2, student_id: 2, course_id: '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d' },
    ],
  },
}

export const profiles: Animals = {
  users: {
    fields: { email: text({ unique: true, pattern: '[a-z]+@[a-z]+\\.org', maxLength: 40 }) },
    required: ['email'],
    demo: [{ id: 1, email: 'a@b.org' }],
  },
  profiles: {
    fields: { user_id: integer({ references: 'users', unique: true }), bio: text() },
    required: ['user_id'],
    demo: [{ id: 1, user_id: 1 }],
  },
  badges: {
    fields: { profile_id: integer({ references: 'profiles', unique: true }) },
    required: ['profile_id'],
    demo: [{ id: 1, profile_id: 1 }],
  },
}

export const narrow: Animals = {
  letters: {
    fields: { letter: text({ maxLength: 1, unique: true }), size: text({ minLength: 3, maxLength: 3 }) },
    required: ['letter', 'size'],
  },
  bits: {
    fields: { bit: text({ pattern: '[01]', maxLength: 1, unique: true }) },
    required: ['bit'],
    demo: [
      { id: 1, bit: '0' },
      { id: 2, bit: '1' },
    ],
  },
  days: { fields: { day: date({ min: '2026-01-01', max: '2026-01-03', unique: true }) }, required: ['day'] },
  moments: {
    fields: { at: timestamp({ min: '2026-01-01T00:00:00Z', max: '2026-01-01T00:00:00.005Z', unique: true }) },
    required: ['at'],
  },
  tenths: {
    fields: {
      share: decimal({ digits: 1, places: 1, unique: true }),
      whole: decimal({ digits: 18, places: 0, unique: true }),
    },
    required: ['share'],
  },
  cents: {
    fields: { sum: decimal({ digits: 4, places: 2, min: '-1', max: '-0.99', unique: true }) },
    required: ['sum'],
  },
  tags: { fields: { tag: uuid({ unique: true }) }, required: ['tag'] },
}

export const several: Animals = {
  seats: {
    fields: {
      hall: text({ oneOf: ['A', 'B'], filter: true }),
      row: integer({ min: 1, max: 2 }),
      seat: integer({ min: 1, max: 2, unique: ['hall', 'row'] }),
      code: text({ unique: ['hall'], maxLength: 2 }),
    },
    required: ['hall', 'row', 'seat', 'code'],
    demo: [
      { id: 1, hall: 'A', row: 1, seat: 1, code: 'x' },
      { id: 2, hall: 'B', row: 2, seat: 2, code: 'x' },
    ],
  },
  ranks: {
    fields: {
      state: text({ oneOf: ['on', 'off'], next: { on: ['off'], off: ['on'] }, unique: ['rank'], default: 'on' }),
      rank: integer({ oneOf: [1, 2, 3] }),
    },
    required: ['state', 'rank'],
    demo: [1, 2, 3].flatMap((rank) => ['on', 'off'].map((state, n) => ({ id: rank * 2 + n, rank, state }))),
  },
}

export const translations: Animals = {
  articles: { id: 'text', fields: { title: text() }, required: ['title'], demo: [{ id: 'über-uns', title: 'About' }] },
  translations: {
    fields: {
      article: text({ references: 'articles', onDelete: 'cascade', filter: true }),
      locale: text({ oneOf: ['de', 'fr'], unique: ['article'], filter: true }),
      slug: text({ pattern: '[a-z]+(?:-[a-z]+)*', maxLength: 12, unique: ['locale'] }),
    },
    required: ['article', 'locale', 'slug'],
    demo: ['de', 'fr'].map((locale, n) => ({ id: n + 1, article: 'über-uns', locale, slug: 'us' })),
  },
}

export const votes: Animals = {
  polls: { id: 'uuid', fields: { question: text(), closes: timestamp() }, required: ['question'] },
  votes: {
    fields: {
      poll: uuid({ references: 'polls', onDelete: 'cascade', filter: true }),
      voter: text({ maxLength: 2, unique: ['poll'] }),
      yes: boolean(),
    },
    required: ['poll', 'voter', 'yes'],
    update: ['yes'],
    summary: true,
    import: true,
  },
}
