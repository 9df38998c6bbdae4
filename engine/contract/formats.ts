/** The formats of whole results, which a client of a list chooses by its Accept header. */

/** By media type; every other Accept header gets a page of JSON. */
export const formats = {
  'text/csv': {
    type: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    description:
      'all matching rows as CSV (RFC 4180, UTF-8), whatever `limit` and `offset` say. Null is empty, an empty string is `""`.',
  },
  'application/x-ndjson': {
    type: 'application/x-ndjson; charset=utf-8',
    extension: 'ndjson',
    description: 'all matching rows, one JSON object per line, whatever `limit` and `offset` say.',
  },
} as const

export type FormatName = keyof typeof formats

export const formatNames = Object.keys(formats) as FormatName[]
