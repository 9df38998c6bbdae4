/** The kind `date`: a day, `"2026-03-01"`. */
import { z } from 'zod'
import { isDate, today } from '../clock.js'
import { Violation } from '../violations.js'
import type { KindEntry } from './entry.js'
import { dateGlob, dayMs, demoMoment, momentText, nthDay } from './moments.js'
import { notStrings, parsedText } from './strings.js'

const parseDate = (text: string): string | Violation => (isDate(text) ? text : new Violation('date_parsing', text))

export const date = {
  expected: 'a day between "0001-01-01" and "9999-12-31"',
  wrongType: 'date_type',
  row: () => z.string().meta({ format: 'date' }),
  body: () => parsedText({ format: 'date' }, parseDate),
  parse: parseDate,
  isMoment: true,
  length: 10,
  sqlite: { type: 'text', declared: /^date$/i, isValue: (column) => `${column} glob '${dateGlob}'` },
  postgres: {
    type: 'date',
    isValue: (column) => `${column} between '0001-01-01' and '9999-12-31'`,
    json: (column) => `to_char(${column}, 'YYYY-MM-DD')`,
  },
  axis: { text: (at) => new Date(at).toISOString().slice(0, 10), step: dayMs },
  scale: {
    toSteps: (value) => BigInt(Date.parse(String(value)) / dayMs),
    fromSteps: (steps) => momentText(Number(steps) * dayMs).slice(0, 10),
    strides: () => [1n],
  },
  clock: today,
  clockSql: /^(?:now\(\)|\(?'now'::text\)?|current_date)$/i,
  convertible: 'only days such as 2026-03-01',
  sample: (n) => nthDay(n).slice(0, 10),
  demo: (n, { index }) => demoMoment(n, index).slice(0, 10),
  wrongLiterals: [...notStrings, '"2026-02-30"', '"2026-2-3"', '"tomorrow"', '"0000-01-01"', '"2026-03-01T00:00:00Z"'],
  input: 'date',
  cell: 'such as 2026-03-01',
  aliases: [],
} as const satisfies KindEntry
