/** The kind `decimal`: a string of digits, never a double. */
import { z } from 'zod'
import { type DecimalOptions, fromUnits, maxDecimalDigits, parseDecimal, toUnits } from '../decimals.js'
import { Violation } from '../violations.js'
import type { KindEntry } from './entry.js'
import { firstSample } from './integer.js'
import { notStrings, parsedText } from './strings.js'

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

/** A quotient of integers, rounded half away from zero. */
const rounded = (units: bigint, count: bigint): bigint => {
  const twice = (units < 0n ? -units : units) * 2n + count
  const quotient = twice / (2n * count)
  return units < 0n ? -quotient : quotient
}

/** The options that a pattern finds in a type, if so many digits can be stored. */
const optionsBy =
  (pattern: RegExp, maxDigits = maxDecimalDigits) =>
  (type: string): Required<DecimalOptions> | undefined => {
    const [whole, digits, places = '0'] = pattern.exec(type) ?? []
    const options = { digits: Number(digits), places: Number(places) }
    return whole && options.digits <= maxDigits && options.places <= options.digits ? options : undefined
  }

/** By other programs, with at most the digits of which a double stores all. */
const namedOptions = optionsBy(/^(?:decimal|numeric) ?\( *(\d+) *(?:, *(\d+) *)?\)$/i, 15)

export const decimal = {
  expected: 'a decimal as a string, such as "12.50"',
  wrongType: 'decimal_type',
  row: (options) => z.string().meta(decimalKeywords(options)),
  body: (options) => parsedText(decimalKeywords(options), (text) => parseDecimal(text, options)),
  canonical: (text: string, options) => String(parseDecimal(text, options)),
  // Another program may have stored more digits.
  comparable: (text: string, { places }) => toUnits(String(parseDecimal(text, { digits: 99, places }))),
  parse: parseDecimal,
  // In the smallest unit: a double would round what has more than 15 digits.
  sqlite: ({ digits, places = 0 }) => ({
    // To SQLite the same as integer; the migration reads the scale of the stored values from it.
    type: `integer(${digits},${places})`,
    optionsIn: optionsBy(/^integer\((\d+),(\d+)\)$/, Number.POSITIVE_INFINITY),
    named(type, column) {
      const options = namedOptions(type)
      const isExact = `typeof(${column}) in ('null', 'integer') or typeof(${column}) = 'real' and round(${column}, ${options?.places}) = ${column}`
      return options && [options, isExact]
    },
    isValue: (column) => `typeof(${column}) = 'integer'`,
    json: (column) => unitsAsText(column, places),
    bind: toUnits,
    read: (units: bigint | number) => fromUnits(units, { places }),
    display: (units) => fromUnits(units, { places }),
    // Other programs store a decimal as a double.
    existing: (column) => ({
      read: `case when typeof(${column}) in ('integer', 'real') then cast(round(${column} * ${10 ** places}) as integer) end`,
      write: ['', ` / ${10 ** places}.0`],
    }),
  }),
  postgres: ({ digits, places }) => ({
    type: `numeric(${digits},${places})`,
    optionsIn: optionsBy(/^numeric\((\d+),(\d+)\)$/),
    // Without digits it could be infinite too.
    isValue: (column) => `${column} <> 'NaN'`,
    json: (column) => `${column}::text`,
    // As a text, because the server rounds a double to 15 digits.
    convert: (column) => `${column}::text::numeric(${digits},${places})`,
  }),
  sums: {
    schema: () => z.string().meta({ format: 'decimal' }),
    fromUnits: (units, count, { places = 0 }) =>
      count === undefined
        ? fromUnits(units, { places })
        : fromUnits(rounded(units * 100n, count), { places: places + 2 }),
  },
  axis: { text: (at, { places }) => at.toFixed(places), unit: ({ places = 0 }) => 10 ** -places },
  scale: {
    toSteps: (value, options) => toUnits(String(parseDecimal(String(value), options))),
    fromSteps: fromUnits,
    strides: ({ places = 0 }) => [10n ** BigInt(places), 1n],
  },
  convertible: 'only decimals that have enough digits before and after the point',
  convert(text, { isText, sums }, options) {
    const isDouble = sums !== undefined && !sums.fromUnits
    const written = isDouble ? Number(text).toFixed(options.places) : text
    const value = parseDecimal(written, options)
    const isExact = !isDouble || Number(written) === Number(text)
    return (isText || sums) && isExact && !(value instanceof Violation) ? value : undefined
  },
  sample: (n, _, { digits = 18, places = 0 }) => fromUnits((firstSample + n) % 10 ** Math.min(digits, 15), { places }),
  // With few digits, the smallest units count the rows.
  demo: (n, { digits = 1, places }) => fromUnits(digits > 5 ? n * 100 + 50 : n % 10 ** digits, { places }),
  wrongLiterals: [...notStrings, '""', '"1e3"', '"+1"', '".5"', '"1."', '" 1"', '"1,5"', `"${'9'.repeat(41)}"`],
  input: 'text',
  words: ({ digits = 0, places = 0 }) =>
    places === 0 ? `Up to ${digits} digits` : `Up to ${digits - places} digits before the point and ${places} after it`,
  cell: 'a number such as 2.50',
  argument(type) {
    const [whole, digits = 12, places = 2] = /^decimal(?:(\d+)\.(\d+))?$/.exec(type) ?? []
    return whole ? { digits: Number(digits), places: Number(places) } : undefined
  },
  aliases: ['numeric', 'money'],
  fromDefault: (text, sql) => text ?? sql,
} as const satisfies KindEntry
