/** Questions as every database takes them: under which name their answer is kept, and which of them no row can answer. */
import type { Resource } from '../descriptor/registry.js'
import type { ListQuery } from './storage.js'

/** The largest integer a database has: no row's value lies beyond it, and no page begins there. */
export const mostInteger = 2n ** 63n - 1n

const isBeyond = (value: string | bigint): boolean =>
  typeof value === 'bigint' ? value > mostInteger || value < -mostInteger : value.includes('\0')

/** Whether it asks for what no row can have: a NUL, or an integer beyond all of them. */
export const findsNothing = ({ q, filters }: ListQuery): boolean =>
  q.includes('\0') || Object.values(filters).some(isBeyond)

/** The page of a question that finds nothing. */
export const emptyPage = ({ limit, offset }: ListQuery): Buffer =>
  Buffer.from(`{"data":[],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`)

/** A question as the name of its answer. */
export const keyOf = ({ path }: Resource, { limit, offset, q, filters }: ListQuery): string => {
  let key = `${path}?${limit}&${offset}&`
  for (const name in filters) key += `${name}=${JSON.stringify(String(filters[name]))}&`
  return key + q
}
