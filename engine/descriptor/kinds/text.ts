/** The kind `text`: a string, stored exactly as sent. */
import { z } from 'zod'
import type { KindEntry } from './entry.js'
import { notStrings, storableText } from './strings.js'

export const text = {
  expected: 'a string without NUL and lone surrogates',
  wrongType: 'string_type',
  row: () => z.string(),
  body: storableText,
  parse: (text) => text,
  isText: true,
  sqlite: {
    type: 'text',
    declared: /^(?!.*int).*(?:char|clob|text)/i,
    isValue: (column) => `typeof(${column}) = 'text'`,
    // A reference to integers that are served as texts; the key itself keeps their order, and only its JSON is a text.
    existing: (column, type, isId) => (!isId && /int/i.test(type) ? { read: `cast(${column} as text)` } : {}),
  },
  // Another program may have made the column jsonb, or padded it with spaces.
  postgres: {
    type: 'text',
    // Texts are ordered by code point.
    idType: 'text collate "C"',
    alsoTypes: ['character varying', 'character'],
    // What the server prints, whatever the type.
    serves: () => true,
    json: (column) => `${column}::text`,
    convert: (column, from) => from.asText?.(column) ?? from.json?.(column) ?? `${column}::text`,
    existing(column, type, isId) {
      // A key as it is, so that its index finds and orders rows; its JSON is a text. Other types refuse ids that they cannot have.
      const isKey = isId && /^(?:text|character|smallint|integer|bigint)/.test(type)
      return isKey ? {} : { read: `${column}::text` }
    },
  },
  convertible: 'every value',
  convert: (text, from) => from.toText?.(text) ?? text,
  sample: (n, name) => `${name}-${n} Ünïcode`,
  wrongLiterals: [...notStrings, '"\\u0000"', '"\\ud800"'],
  input: 'text',
  // Of a text with a format, which begins with a day.
  axis: { text: (at) => new Date(at).toISOString().slice(0, 10) },
  aliases: ['string', 'varchar'],
} as const satisfies KindEntry
