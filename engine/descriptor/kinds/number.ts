/** The kind `number`: a finite double. */
import { z } from 'zod'
import { Violation } from '../violations.js'
import type { KindEntry } from './entry.js'

const parseNumber = (text: string): number | Violation => {
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) return new Violation('float_parsing', text)
  return Number.isFinite(value) ? value : new Violation('finite_number', text)
}

/** The number that a value of another kind is, with all its digits. */
export const toNumber = (text: string, { isText, isWhole, sums }: KindEntry): number | undefined => {
  const number = Number(text)
  // `007`, `1e3` and `1.50` are not the shortest form of their numbers.
  if (isText) return String(number) === text ? number : undefined
  // An integer beyond 2^53 is not exact as a double.
  if (isWhole) return Number.isSafeInteger(number) ? number : undefined
  const isSame = !sums?.fromUnits || number.toFixed(/\.(\d+)/.exec(text)?.[1]?.length ?? 0) === text
  return sums && isSame ? number : undefined
}

export const defaultNumber = (text: string | undefined, sql: string): number => Number(text ?? (sql || Number.NaN))

/** A double as JavaScript prints it. PostgreSQL uses exponents earlier (1e+15), and writes those below ten with two digits (1e-07). */
const printed = (column: string): string =>
  `case when abs(${column}) >= 1e21 or abs(${column}) < 1e-6 and ${column} <> 0
    then regexp_replace(${column}::text, 'e-0', 'e-') else ${column}::text::numeric::text end`

const isRounded = (type: string, value: number): boolean => {
  const [, places] = /^numeric\(\d+,(\d+)\)/.exec(type) ?? []
  if (places !== undefined) return Number(value.toFixed(Math.min(Number(places), 100))) !== value
  const single = Math.fround(value)
  // A real has about seven digits: 0.1 is one, although its double differs.
  return type === 'real' && single !== value && Number(single.toPrecision(7)) !== value
}

export const number = {
  expected: 'a finite number',
  wrongType: 'float_type',
  row: () => z.number(),
  body: () => z.number(),
  parse: parseNumber,
  // Affinity numeric stores 3 as 3, and prints it so; real would print 3.0.
  sqlite: {
    type: 'numeric',
    declared: /real|floa|doub|numeric|decimal/i,
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
    // SQLite prints a real 3 as 3.0.
    existing(column) {
      const isWhole = `typeof(${column}) = 'real' and ${column} = cast(${column} as integer)`
      return { read: `case when ${isWhole} then cast(${column} as integer) else ${column} end` }
    },
  },
  postgres: {
    type: 'double precision',
    alsoTypes: ['real', 'numeric'],
    serves: (type) => /^(?:smallint|integer|bigint|numeric(?:\(.*\))?)$/.test(type),
    isValue: (column) => `${column}::double precision not in ('NaN', 'Infinity', '-Infinity')`,
    // A zero needs no sign.
    json: (column) => `${column}::double precision + 0`,
    asText: printed,
    read: Number,
    existing: (column, type) => (type === 'real' ? { read: `${column}::double precision` } : {}),
    isRounded: (type, value) => typeof value === 'number' && isRounded(type, value),
  },
  sums: { schema: () => z.number() },
  axis: { text: String },
  // In 64ths, which a double stores exactly.
  scale: {
    toSteps: (value) => BigInt(Math.round(Number(value) * 64)),
    fromSteps: (steps) => Number(steps) / 64,
    strides: () => [64n, 1n],
  },
  convertible: 'only numbers in their shortest spelling, which a double stores exactly,',
  convert(text, from) {
    const value = toNumber(text, from)
    return Number.isFinite(value) ? value : undefined
  },
  served: Number,
  sample: (n) => n + 0.5,
  wrongLiterals: ['"1.5"', 'true', '[]', '{}', '1e999', '1.0000000000000000001'],
  input: 'number',
  step: 'any',
  cell: 'a number such as 2.5',
  aliases: ['float', 'double', 'real'],
  // Money of PostgreSQL has the sign of a currency.
  foreignTypes: /^(?!money$).*(?:money|currency)/i,
  fromDefault: defaultNumber,
} as const satisfies KindEntry
