/** The kind `uuid`, in lower case. */
import { z } from 'zod'
import { parseUuid } from '../uuids.js'
import type { KindEntry } from './entry.js'
import { notStrings, parsedText } from './strings.js'

const hex = (length: number): string => '[0-9a-f]'.repeat(length)

export const uuid = {
  expected: 'a UUID such as "0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d"',
  wrongType: 'uuid_type',
  row: () => z.string().meta({ format: 'uuid' }),
  body: () => parsedText({ format: 'uuid' }, parseUuid),
  canonical: (text: string) => text.toLowerCase(),
  parse: parseUuid,
  length: 36,
  sqlite: {
    type: 'text',
    isValue: (column) => `typeof(${column}) = 'text' and length(${column}) = 36`,
    named(type, column, isKey) {
      // A key in capitals would not be found.
      const value = isKey ? column : `lower(${column})`
      const condition = `${column} is null or ${value} glob '${[8, 4, 4, 4, 12].map(hex).join('-')}'`
      return /^(?:uuid|guid|uniqueidentifier)$/i.test(type) ? [{}, condition] : undefined
    },
    // Other programs may write a UUID in capitals.
    existing: (column, _, isId) => (isId ? {} : { read: `lower(${column})` }),
  },
  postgres: { type: 'uuid', json: (column) => `${column}::text` },
  convertible: 'only UUIDs of 36 characters',
  sample: (n) => `0190d8a1-6f2e-7c3a-9b1d-${n.toString(16).padStart(12, '0')}`,
  demo: (n) => `0190d8a1-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
  wrongLiterals: [
    ...[...notStrings, '"0190d8a1"', '"0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1g"'],
    '"0190d8a16f2e7c3a9b1d2f4e6a8c0b1d"',
  ],
  input: 'text',
  words: ({ references }) => (references === undefined ? 'A UUID' : ''),
  cell: 'a UUID',
  aliases: ['guid'],
} as const satisfies KindEntry
