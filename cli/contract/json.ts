/** Helpers for JSON documents of unknown shape. */

export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const asObject = (value: unknown): Json => (isObject(value) ? value : {})

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The value as text, with the keys of its objects in alphabetical order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  ) ?? 'undefined'

export const isSame = (a: unknown, b: unknown): boolean => a === b || canonical(a) === canonical(b)

/** The keys of both objects, those of the first in front. */
export const allKeys = (a: Json, b: Json): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])]
