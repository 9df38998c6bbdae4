/** List queries as every database takes them: their cache key, and those that no row can match. */
import type { Resource } from '../descriptor/registry.js'
import type { ListQuery } from './storage.js'

/** The largest integer a database can store. */
export const maxInteger = 2n ** 63n - 1n

const isUnstorable = (value: string | bigint): boolean =>
  typeof value === 'bigint' ? value > maxInteger || value < -maxInteger : value.includes('\0')

/** Whether no row can match: a NUL, or an integer beyond what a column can store. */
export const findsNothing = ({ q, filters }: ListQuery): boolean =>
  q.includes('\0') || Object.values(filters).some(isUnstorable)

/** The page of a query that no row matches. */
export const emptyPage = ({ limit, offset }: ListQuery): Buffer =>
  Buffer.from(`{"data":[],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`)

/** The cache key of a query. */
export const keyOf = ({ path }: Resource, { limit, offset, q, filters }: ListQuery): string => {
  let key = `${path}?${limit}&${offset}&`
  for (const name in filters) key += `${name}=${JSON.stringify(String(filters[name]))}&`
  return key + q
}
