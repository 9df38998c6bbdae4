/**
 * What each kind of field is: its values, schemas, columns, query parameter, samples and form control. Nothing else in
 * the engine asks which kind a field is.
 */
import { z } from 'zod'
import { isDate, parseTimestamp } from './clock.js'
import { type DecimalOptions, fromUnits, parseDecimal, toUnits } from './decimals.js'
import { exactInteger, parseInteger } from './integers.js'
import { JsonText, parseAnyText } from './jsonText.js'
import { parseUuid } from './uuids.js'
import { isStorable, Violation, withCheck } from './violations.js'

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
  /** The stored value as a text with all its digits; by default a cast. */
  readonly storedText?: (column: string) => string
  /** Whether two values cannot be compared, but their texts can. */
  readonly isComparedAsText?: true
  /** What is bound for a value; by default the value itself. */
  readonly bind?: (value: never) => unknown
  /** The value that the driver returned; by default as it is. */
  readonly read?: (stored: never) => string | number | bigint | boolean
}

/** A value of a field that is not null. */
export type GivenValue = string | number | boolean | JsonText | readonly unknown[] | Readonly<Record<string, unknown>>

export type ParameterValue = string | bigint | number | boolean

/** The options of a field that its values depend on, whatever its rules. */
export type KindOptions = DecimalOptions

/** What a kind is for a field: its schemas and columns may depend on the options. */
export type KindSpec = { readonly kind: Kind } & KindOptions

export interface KindEntry {
  /** Completes the sentence "it must be …" about a descriptor or a demo row. */
  readonly expected: string
  /** The `type` of the issue for a value of another JSON type. */
  readonly wrongType: string
  readonly row: (options: KindOptions) => z.ZodType
  readonly body: (options: KindOptions) => z.ZodType
  /** The one form in which a value is stored, where a body may have several. */
  readonly canonical?: (value: never, options: KindOptions) => string | JsonText
  /** What values are compared by, if not by that form. */
  readonly comparable?: (value: never, options: KindOptions) => string | bigint
  readonly parse: (text: string, options: KindOptions) => ParameterValue | Violation
  readonly sqlite: Column | ((options: KindOptions) => Column)
  readonly postgres: Column | ((options: KindOptions) => Column)
  /** Whether values are free text: searched by `q`, and possibly long. */
  readonly isText?: true
  /** The nth sample value; different for each n. */
  readonly sample: (
    n: number,
    name: string,
    options: KindOptions,
  ) => string | number | boolean | Readonly<Record<string, unknown>>
  /** Which values of other kinds convert to it, to complete the sentence "… convert". */
  readonly convertible: string
  /** The control of a form: the type of its input, or `textarea` for several lines. */
  readonly input: 'text' | 'number' | 'date' | 'datetime-local' | 'checkbox' | 'textarea'
}

export const storableText = () =>
  withCheck(z.string(), (text) => (isStorable(text) ? undefined : new Violation('string_unicode', text)))

const parseDate = (text: string): string | Violation => (isDate(text) ? text : new Violation('date_parsing', text))

const parseTime = (text: string): string | Violation => parseTimestamp(text) ?? new Violation('datetime_parsing', text)

const violationIn =
  (parse: (text: string) => string | Violation) =>
  (text: string): Violation | undefined => {
    const parsed = parse(text)
    return parsed instanceof Violation ? parsed : undefined
  }

const momentText = (format: string, parse: typeof parseDate) =>
  withCheck(z.string(), violationIn(parse)).meta({ format })

/** Far from the numbers that tests store. */
const firstSample = 20_000

const nthDay = (n: number): string => new Date(Date.UTC(2026, 0, 1 + n)).toISOString()

export const dateGlob = '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'

const parseNumber = (text: string): number | Violation => {
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) return new Violation('float_parsing', text)
  return Number.isFinite(value) ? value : new Violation('finite_number', text)
}

/** JSON Schema knows no decimals. */
const decimalKeywords = ({ digits, places }: DecimalOptions) => ({
  format: 'decimal',
  'x-digits': digits,
  'x-places': places,
})

/** A number of smallest units as a decimal. */
const unitsAsText = (column: string, places: number): string => {
  if (places === 0) return `cast(${column} as text)`
  const size = 10 ** places
  return `printf('%s%d.%0${places}d', iif(${column} < 0, '-', ''), abs(${column}) / ${size}, abs(${column}) % ${size})`
}

export const jsonTypes = ['string', 'number', 'boolean', 'array', 'object']

/** Any value but null, which the schema of the field allows or not. */
const jsonValue = () =>
  withCheck(z.unknown(), (value) => ((value ?? null) === null ? new Violation('missing', value) : undefined)).meta({
    type: jsonTypes as never,
    items: {},
  })

/** A value that was read from a table, or is given to a command, is a text already. */
const textOf = (value: object | string): string =>
  value instanceof JsonText ? value.text : typeof value === 'string' ? value : JSON.stringify(value)

export const kinds = {
  text: {
    expected: 'a string without NUL and lone surrogates',
    wrongType: 'string_type',
    row: () => z.string(),
    body: storableText,
    parse: (text) => text,
    isText: true,
    sqlite: { type: 'text', isValue: (column) => `typeof(${column}) = 'text'` },
    // Another program may have made the column jsonb, or padded it with spaces.
    postgres: {
      type: 'text',
      alsoTypes: ['character varying', 'character'],
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
      storedText: (column) =>
        `case typeof(${column}) when 'real' then registry_number(${column}) else cast(${column} as text) end`,
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
  uuid: {
    expected: 'a UUID such as "0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d"',
    wrongType: 'uuid_type',
    row: () => z.string().meta({ format: 'uuid' }),
    body: () => withCheck(z.string(), violationIn(parseUuid)).meta({ format: 'uuid' }),
    canonical: (text: string) => text.toLowerCase(),
    parse: parseUuid,
    sqlite: { type: 'text', isValue: (column) => `typeof(${column}) = 'text' and length(${column}) = 36` },
    postgres: { type: 'uuid', json: (column) => `${column}::text` },
    convertible: 'only UUIDs of 36 characters',
    sample: (n) => `0190d8a1-6f2e-7c3a-9b1d-${n.toString(16).padStart(12, '0')}`,
    input: 'text',
  },
  decimal: {
    expected: 'a decimal as a string, such as "12.50"',
    wrongType: 'decimal_type',
    row: (options) => z.string().meta(decimalKeywords(options)),
    body: (options) =>
      withCheck(
        z.string(),
        violationIn((text) => parseDecimal(text, options)),
      ).meta(decimalKeywords(options)),
    canonical: (text: string, options) => String(parseDecimal(text, options)),
    // Another program may have stored more digits.
    comparable: (text: string, { places }) => toUnits(String(parseDecimal(text, { digits: 99, places }))),
    parse: parseDecimal,
    // In the smallest unit: a double would round what has more than 15 digits.
    sqlite: ({ digits, places = 0 }) => ({
      // To SQLite the same as integer; the migration reads the scale of the stored values from it.
      type: `integer(${digits},${places})`,
      isValue: (column) => `typeof(${column}) = 'integer'`,
      json: (column) => unitsAsText(column, places),
      bind: toUnits,
      read: (units: bigint | number) => fromUnits(units, { places }),
    }),
    postgres: ({ digits, places }) => ({
      type: `numeric(${digits},${places})`,
      // Without digits it could be infinite too.
      isValue: (column) => `${column} <> 'NaN'`,
      json: (column) => `${column}::text`,
    }),
    convertible: 'only decimals that have enough digits before and after the point',
    sample: (n, _, { digits = 18, places = 0 }) =>
      fromUnits((firstSample + n) % 10 ** Math.min(digits, 15), { places }),
    input: 'text',
  },
  json: {
    expected: 'a JSON value of at most 64 KiB and 100 levels',
    wrongType: 'json_type',
    row: jsonValue,
    // What a body sends is checked as text: numbers may have more digits than a double.
    body: jsonValue,
    canonical: (value: unknown) => (value instanceof JsonText ? value : new JsonText(JSON.stringify(value))),
    parse: (text) => {
      const value = parseAnyText(text)
      if (value instanceof Violation) return value
      return value.text === 'null' ? new Violation('missing', null) : value.text
    },
    sqlite: {
      type: 'text',
      isValue: (column) => `typeof(${column}) = 'text' and json_valid(${column})`,
      json: (column) => `json(${column})`,
      bind: textOf,
    },
    postgres: { type: 'json', alsoTypes: ['jsonb'], isComparedAsText: true, bind: textOf },
    convertible: 'only texts that are JSON',
    sample: (n) => ({ n, labels: [`Ünïcode ${n}`], nested: { is_sample: true, none: null } }),
    input: 'textarea',
  },
} as const satisfies Record<string, KindEntry>

export type Kind = keyof typeof kinds

/** The kinds that the `id` of a resource may have. */
export const idKinds = ['integer', 'uuid', 'text'] as const
export type IdKind = (typeof idKinds)[number]

/** A kind by its name, without what is special to its type. */
export const kindOf = (kind: Kind): KindEntry => kinds[kind]

/** The SQL of a column's value as a response shows it: null where the column has none of its kind. */
export const servedValue = ({ isValue, json }: Column, column: string): string => {
  const value = json?.(column) ?? column
  return isValue ? `case when ${isValue(column)} then ${value} end` : value
}

/** What a database does with the values of a field. */
export const columnIn = (database: 'sqlite' | 'postgres', spec: KindSpec): Column => {
  const column = kindOf(spec.kind)[database]
  return typeof column === 'function' ? column(spec) : column
}

export const isValueOf = (spec: KindSpec, value: unknown): boolean =>
  kindOf(spec.kind).body(spec).safeParse(value).success

/** The value of a field in the one form in which it is stored. */
export const canonicalOf = <V>(spec: KindSpec, value: V): V | string | JsonText =>
  kindOf(spec.kind).canonical?.(value as never, spec) ?? value

export const kindNames = Object.keys(kinds) as Kind[]
