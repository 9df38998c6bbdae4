/**
 * What each kind of field is: its values, schemas, options, columns, query parameter, samples and form control. Nothing else in
 * the engine asks which kind a field is.
 */
import { z } from 'zod'
import { isDate, parseTimestamp } from './clock.js'
import { exactInteger, parseInteger } from './integers.js'
import { Violation, withCheck } from './violations.js'

/** What a database does with a kind: its column type, SQL over a quoted column, and conversions. */
export interface Column {
  readonly type: string
  /** Other names of types whose values are of this kind, as the catalogue of the database prints them. */
  readonly alsoTypes?: readonly string[]
  /** Whether the column has a value of the kind; by default the type of the column makes sure. Any other value is served as null. */
  readonly isValue?: (column: string) => string
  /** Whether every version of the database prints the JSON of the value the same way; by default it does. */
  readonly isPortable?: (column: string) => string
  /** The value as JSON; by default the database's own. */
  readonly json?: (column: string) => string
  /** What is bound for a value; by default the value itself. */
  readonly bind?: (value: never) => unknown
  /** The value that the driver returned; by default as it is. */
  readonly read?: (stored: never) => string | number | bigint | boolean
}

export type ParameterValue = string | bigint | number | boolean

export interface KindEntry {
  /** Completes the sentence "it must be …" about a descriptor or a demo row. */
  readonly expected: string
  /** The `type` of the issue for a value of another JSON type. */
  readonly wrongType: string
  readonly row: () => z.ZodType
  readonly body: () => z.ZodType
  /** The one form in which a value is stored, where a body may have several. */
  readonly canonical?: (value: never) => string
  /** The options that a field may have, besides those of every kind. */
  readonly options: readonly string[]
  readonly parse: (text: string) => ParameterValue | Violation
  readonly sqlite: Column
  readonly postgres: Column
  /** Whether values are free text: searched by `q`, and possibly long. */
  readonly isText?: true
  /** The nth sample value; different for each n. */
  readonly sample: (n: number, name: string) => string | number | boolean
  /** Which values of other kinds convert to it, to complete the sentence "… convert". */
  readonly convertible: string
  /** The control of a form: the type of its input, or `select` for true and false. */
  readonly input: 'text' | 'number' | 'date' | 'datetime-local' | 'checkbox'
}

export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

export const storableText = () =>
  withCheck(z.string(), (text) => (isStorable(text) ? undefined : new Violation('string_unicode', text)))

const parseDate = (text: string): string | Violation => (isDate(text) ? text : new Violation('date_parsing', text))

const parseTime = (text: string): string | Violation => parseTimestamp(text) ?? new Violation('datetime_parsing', text)

const momentText = (format: string, parse: typeof parseDate) =>
  withCheck(z.string(), (text) => {
    const parsed = parse(text)
    return parsed instanceof Violation ? parsed : undefined
  }).meta({ format })

/** Far from the numbers that tests store. */
const firstSample = 20_000

const nthDay = (n: number): string => new Date(Date.UTC(2026, 0, 1 + n)).toISOString()

const dateGlob = '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'

const parseNumber = (text: string): number | Violation => {
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) return new Violation('float_parsing', text)
  return Number.isFinite(value) ? value : new Violation('finite_number', text)
}

export const kinds = {
  text: {
    expected: 'a string without NUL and lone surrogates',
    wrongType: 'string_type',
    row: () => z.string(),
    body: storableText,
    options: ['filter', 'range', 'unique', 'format', 'tones', 'oneOf', 'minLength', 'maxLength', 'pattern'],
    parse: (text) => text,
    isText: true,
    sqlite: { type: 'text', isValue: (column) => `typeof(${column}) = 'text'` },
    // Another program may have made the column jsonb, or padded it with spaces.
    postgres: {
      type: 'text',
      // The texts of jsonb and uuid are what the server prints.
      alsoTypes: ['character varying', 'character', 'jsonb', 'json', 'uuid'],
      json: (column) => `${column}::text`,
    },
    convertible: 'every value',
    sample: (n, name) => `${name}-${n} Ünïcode`,
    input: 'text',
  },
  integer: {
    expected: 'an integer between -9007199254740991 and 9007199254740991',
    wrongType: 'int_type',
    row: () => z.int(),
    // z.int() has these bounds anyway; named here, they appear in the documents.
    body: () => z.int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
    options: ['filter', 'range', 'unique', 'references', 'onDelete', 'tones', 'oneOf', 'min', 'max'],
    parse: (text) => {
      const value = parseInteger(text)
      return typeof value === 'string' ? new Violation(value, text) : value
    },
    sqlite: { type: 'integer', isValue: (column) => `typeof(${column}) = 'integer'` },
    postgres: { type: 'bigint', alsoTypes: ['smallint', 'integer'], read: exactInteger },
    convertible: 'only integers between -9007199254740991 and 9007199254740991, written without leading zeros,',
    sample: (n) => firstSample + n,
    input: 'number',
  },
  number: {
    expected: 'a finite number',
    wrongType: 'float_type',
    row: () => z.number(),
    body: () => z.number(),
    options: ['filter', 'range', 'min', 'max'],
    parse: parseNumber,
    // Affinity numeric stores 3 as 3, and prints it so; real would print 3.0.
    sqlite: {
      type: 'numeric',
      isValue: (column) => `${column} between -${Number.MAX_VALUE} and ${Number.MAX_VALUE}`,
      // Of at most twelve digits; of more than 15, versions of SQLite print different ones.
      isPortable: (
        column,
      ) => `case typeof(${column}) when 'integer' then ${column} between -999999999999999 and 999999999999999
        else abs(${column}) < 1e9 and round(${column} * 1000) / 1000 = ${column} end`,
      // A function of our connections: SQLite by itself prints 1.0e+21 and 0.33333333333333332.
      json: (column) => `json(registry_number(${column}))`,
      read: Number,
    },
    postgres: {
      type: 'double precision',
      alsoTypes: ['real', 'numeric'],
      isValue: (column) => `${column}::double precision not in ('NaN', 'Infinity', '-Infinity')`,
      // A zero needs no sign.
      json: (column) => `${column}::double precision + 0`,
      read: Number,
    },
    convertible: 'only numbers in their shortest spelling, which a double stores exactly,',
    sample: (n) => n + 0.5,
    input: 'number',
  },
  boolean: {
    expected: 'true or false',
    wrongType: 'bool_type',
    row: () => z.boolean(),
    body: () => z.boolean(),
    options: ['filter', 'tones'],
    parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : new Violation('bool_parsing', text)),
    sqlite: {
      type: 'integer',
      isValue: (column) => `${column} in (0, 1)`,
      json: (column) => `json(iif(${column}, 'true', 'false'))`,
      bind: Number,
      read: Boolean,
    },
    postgres: { type: 'boolean', read: (text: string) => text === 't' },
    convertible: 'only true and false, or 1 and 0,',
    sample: (n) => n % 2 === 0,
    input: 'checkbox',
  },
  date: {
    expected: 'a day between "0001-01-01" and "9999-12-31"',
    wrongType: 'date_type',
    row: () => z.string().meta({ format: 'date' }),
    body: () => momentText('date', parseDate),
    options: ['filter', 'range', 'unique', 'min', 'max'],
    parse: parseDate,
    sqlite: { type: 'text', isValue: (column) => `${column} glob '${dateGlob}'` },
    postgres: {
      type: 'date',
      isValue: (column) => `${column} between '0001-01-01' and '9999-12-31'`,
      json: (column) => `to_char(${column}, 'YYYY-MM-DD')`,
    },
    convertible: 'only days such as 2026-03-01',
    sample: (n) => nthDay(n).slice(0, 10),
    input: 'date',
  },
  timestamp: {
    expected: 'a time such as "2026-03-01T09:30:00Z"',
    wrongType: 'datetime_type',
    row: () => z.string().meta({ format: 'date-time' }),
    body: () => momentText('date-time', parseTime),
    canonical: (text: string) => parseTimestamp(text) ?? text,
    options: ['filter', 'range', 'unique', 'min', 'max'],
    // A plus sign that was not encoded arrives as a space.
    parse: (text) => parseTime(text.replace(/ (?=\d\d:\d\d$)/, '+')),
    sqlite: {
      type: 'text',
      isValue: (column) => `${column} glob '${dateGlob}T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z'`,
    },
    postgres: {
      type: 'timestamptz(3)',
      alsoTypes: ['timestamp with time zone'],
      isValue: (column) => `${column} between '0001-01-01 00:00:00Z' and '9999-12-31 23:59:59.999Z'`,
      json: (column) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    },
    convertible: 'only times such as 2026-03-01T09:30:00Z',
    sample: (n) => nthDay(n),
    input: 'datetime-local',
  },
} as const satisfies Record<string, KindEntry>

export type Kind = keyof typeof kinds

/** A kind by its name, without what is special to its type. */
export const kindOf = (kind: Kind): KindEntry => kinds[kind]

/** The SQL of a column's value as a response shows it: null where the column has none of its kind. */
export const servedValue = ({ isValue, json }: Column, column: string): string => {
  const value = json?.(column) ?? column
  return isValue ? `case when ${isValue(column)} then ${value} end` : value
}

export const isValueOf = (kind: Kind, value: unknown): boolean => kindOf(kind).body().safeParse(value).success

export const kindNames = Object.keys(kinds) as Kind[]
