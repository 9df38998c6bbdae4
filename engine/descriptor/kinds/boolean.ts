/** The kind `boolean`: true or false. */
import { z } from 'zod'
import { Violation } from '../violations.js'
import type { KindEntry } from './entry.js'

const either = (text: string, yes: string, no: string): boolean | undefined =>
  text === yes ? true : text === no ? false : undefined

const fromText = (text: string): boolean | undefined => either(text, 'true', 'false')
const fromBit = (text: string): boolean | undefined => either(text, '1', '0')

export const boolean = {
  expected: 'true or false',
  wrongType: 'bool_type',
  row: () => z.boolean(),
  body: () => z.boolean(),
  parse: (text) => fromText(text) ?? new Violation('bool_parsing', text),
  sqlite: {
    type: 'integer',
    declared: /^bool/i,
    isValue: (column) => `${column} in (0, 1)`,
    json: (column) => `json(iif(${column}, 'true', 'false'))`,
    bind: Number,
    read: Boolean,
  },
  postgres: {
    type: 'boolean',
    read: (text: string) => text === 't',
    convert: (column, { type }) => (type === 'bigint' ? `${column} = 1` : `${column}::boolean`),
  },
  convertible: 'only true and false, or 1 and 0,',
  convert: (text, { isText, isWhole }) => (isText ? fromText(text) : isWhole ? fromBit(text) : undefined),
  // SQLite stores 1 and 0.
  toText: (stored) => String(fromBit(stored) ?? stored),
  served: (stored) => stored === true || stored === 'true' || stored === 't',
  sample: (n) => n % 2 === 0,
  demo: (n) => n % 2 === 1,
  wrongLiterals: ['"true"', '1', '0', '[]', '{}'],
  input: 'checkbox',
  cell: 'true or false',
  aliases: ['bool'],
  fromDefault: (text, sql) => fromText((text ?? sql).toLowerCase()) ?? fromBit(text ?? sql),
} as const satisfies KindEntry
