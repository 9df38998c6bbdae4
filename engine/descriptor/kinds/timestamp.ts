/** The kind `timestamp`: a time of RFC 3339, stored in UTC with milliseconds. */
import { z } from 'zod'
import { now, parseTimestamp } from '../clock.js'
import { Violation } from '../violations.js'
import type { KindEntry } from './entry.js'
import { dateGlob, dayMs, demoMoment, momentText, nthDay } from './moments.js'
import { notStrings, parsedText } from './strings.js'

const parseTime = (text: string): string | Violation => parseTimestamp(text) ?? new Violation('datetime_parsing', text)

/** Whether a type of PostgreSQL has no zone: where another program's table has it, a time is one of UTC. */
const isUtc = (type: string): boolean => /^timestamp(?:\(\d+\))? without time zone$/.test(type)

const isRounded = (type: string, time: string): boolean => {
  const [, places] = /^timestamp\(([0-2])\)/.exec(type) ?? []
  const [, milliseconds = ''] = /\.(\d+)Z$/.exec(time) ?? []
  return places !== undefined && /[1-9]/.test(milliseconds.slice(Number(places)))
}

export const timestamp = {
  expected: 'a time such as "2026-03-01T09:30:00Z"',
  wrongType: 'datetime_type',
  row: () => z.string().meta({ format: 'date-time' }),
  body: () => parsedText({ format: 'date-time' }, parseTime),
  canonical: (text: string) => parseTimestamp(text) ?? text,
  // A plus sign that was not encoded arrives as a space.
  parse: (text) => parseTime(text.replace(/ (?=\d\d:\d\d$)/, '+')),
  isMoment: true,
  sqlite: {
    type: 'text',
    isValue: (column) => `${column} glob '${dateGlob}T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z'`,
    // Other programs write times as SQLite prints them, unless the column is declared as text.
    existing: (column, type) => ({
      read: `case when ${column} glob '[0-9][0-9][0-9][0-9]-*' then strftime('%Y-%m-%dT%H:%M:%fZ', ${column}) end`,
      ...(!/text|char|clob/i.test(type) && { write: ['replace(replace(', `, 'T', ' '), 'Z', '')`] }),
    }),
  },
  postgres: {
    type: 'timestamptz(3)',
    alsoTypes: ['timestamp with time zone'],
    serves: isUtc,
    isValue: (column) => `${column} between '0001-01-01 00:00:00Z' and '9999-12-31 23:59:59.999Z'`,
    json: (column) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    existing(column, type) {
      const time = isUtc(type) ? `(${column} at time zone 'UTC')` : column
      // In the precision of responses, so that a position is that of its row.
      const read = /\([0-3]\)/.test(type) ? time : `date_trunc('milliseconds', ${time})`
      return { read, ...(isUtc(type) && { write: ['cast(', ` as timestamptz) at time zone 'UTC'`] }) }
    },
    isRounded: (type, value) => typeof value === 'string' && isRounded(type, value),
  },
  axis: { text: (at) => new Date(at).toISOString() },
  scale: {
    toSteps: (value) => BigInt(Date.parse(String(value))),
    fromSteps: (steps) => momentText(Number(steps)),
    strides: () => [BigInt(dayMs), 3_600_000n, 60_000n, 1_000n, 1n],
  },
  clock: now,
  clockSql: /^(?:now\(\)|current_timestamp(?:\(\d\))?)$/i,
  convertible: 'only times such as 2026-03-01T09:30:00Z',
  sample: nthDay,
  demo: (n, { index }) => demoMoment(n, index),
  wrongLiterals: [
    ...[...notStrings, '"2026-03-01"', '"2026-03-01T09:30:00"', '"2026-03-01T09:30:00.1234Z"'],
    '"2026-02-30T00:00:00Z"',
  ],
  input: 'datetime-local',
  cell: 'such as 2026-03-01T10:30:00Z',
  aliases: ['datetime'],
  foreignTypes: /^(?:datetime|timestamp)/i,
} as const satisfies KindEntry
