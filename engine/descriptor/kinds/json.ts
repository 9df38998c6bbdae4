/** The kind `json`: any JSON value, kept as the text that was sent. */
import { z } from 'zod'
import { JsonText, parseAnyText } from '../jsonText.js'
import { Violation, withCheck } from '../violations.js'
import type { KindEntry } from './entry.js'

export const jsonTypes = ['string', 'number', 'boolean', 'array', 'object']

/** Any value but null, which the schema of the field allows or not. */
const jsonValue = () =>
  withCheck(z.unknown(), (value) => ((value ?? null) === null ? new Violation('missing', value) : undefined)).meta({
    type: jsonTypes as never,
    items: {},
  })

/** A value that was read from a table, or is given to a command, is a text already. */
const textOf = (value: unknown): string =>
  value instanceof JsonText ? value.text : typeof value === 'string' ? value : JSON.stringify(value)

const parse = (text: string): string | Violation => {
  const value = parseAnyText(text)
  if (value instanceof Violation) return value
  return value.text === 'null' ? new Violation('missing', null) : value.text
}

export const json = {
  expected: 'a JSON value of at most 64 KiB and 100 levels',
  wrongType: 'json_type',
  row: jsonValue,
  // What a body sends is checked as text: numbers may have more digits than a double.
  body: jsonValue,
  canonical: (value: unknown) => (value instanceof JsonText ? value : new JsonText(JSON.stringify(value))),
  parse,
  isJson: true,
  sqlite: {
    type: 'text',
    isValue: (column) => `typeof(${column}) = 'text' and json_valid(${column})`,
    json: (column) => `json(${column})`,
    bind: textOf,
    named: (type, column) =>
      /^jsonb?$/i.test(type)
        ? [{}, `${column} is null or typeof(${column}) = 'text' and json_valid(${column})`]
        : undefined,
    // A column of type JSON has numeric affinity, and stores the text of a number as the number.
    existing: (column) => ({
      read: `iif(typeof(${column}) in ('integer', 'real'), cast(${column} as text), ${column})`,
    }),
  },
  postgres: {
    type: 'json',
    alsoTypes: ['jsonb'],
    isComparedAsText: true,
    bind: textOf,
    // Without the white space between tokens.
    convert: (column) => `regexp_replace(${column}, '("([^"\\\\]|\\\\.)*")|[ \\n\\r\\t]+', '\\1', 'g')::json`,
    existing: (_, type) => ({ write: ['cast(', ` as ${type})`] }),
  },
  convertible: 'only texts that are JSON',
  convert(text, { isText }) {
    const value = parse(text)
    return isText && !(value instanceof Violation) ? new JsonText(value) : undefined
  },
  served: (stored) => new JsonText(textOf(stored)),
  sample: (n) => ({ n, labels: [`Ünïcode ${n}`], nested: { is_sample: true, none: null } }),
  demo: (n, { path }) => ({ [path]: n }),
  wrongLiterals: ['{"a":1,"a":2}', '"\\u0000"', '["\\ud800"]', `${'['.repeat(101)}${']'.repeat(101)}`],
  input: 'textarea',
  words: () => 'JSON',
  cell: 'JSON',
  aliases: ['jsonb'],
  // Only an empty object or array.
  fromDefault: (text = '') => (/^\s*(?:\{\s*\}|\[\s*\])\s*$/.test(text) ? JSON.parse(text) : undefined),
} as const satisfies KindEntry
