/** How the rows of a list query are found, as data for every database. */
import type { ParameterValue } from '../descriptor/kinds.js'
import type { Resource } from '../descriptor/registry.js'
import { fold } from './caseFold.js'
import type { ListQuery } from './storage.js'

/** A list query, and how its rows are found. */
export interface Plan extends ListQuery {
  /** No row can match; all rows match; the filters, the search index or a scan of the table finds those that do. */
  readonly by: 'nothing' | 'all' | 'filter' | 'search' | 'scan'
  /** How many rows to skip: the offset, up to the largest integer that a database takes. */
  readonly skip: bigint
}

const maxInteger = 2n ** 63n - 1n

/** Whether no column can store the value: a NUL, or an integer that is too large. */
const isUnstorable = (value: ParameterValue): boolean =>
  typeof value === 'bigint'
    ? value > maxInteger || value < -maxInteger
    : typeof value === 'string' && value.includes('\0')

/** Plans a query; `isIndexed` says whether the search index can find a folded text. */
export const planOf = (query: ListQuery, isIndexed: (text: string) => boolean): Plan => {
  const { limit, offset, q, filters } = query
  const values = Object.values(filters)
  const by = (): Plan['by'] => {
    if (isUnstorable(q) || values.some(isUnstorable)) return 'nothing'
    if (q === '') return values.length === 0 ? 'all' : 'filter'
    return isIndexed(fold(q)) ? 'search' : 'scan'
  }
  return { limit, offset, q, filters, by: by(), skip: offset > maxInteger ? maxInteger : offset }
}

/** The page of a query that no row matches. */
export const emptyPage = ({ limit, offset }: ListQuery): Buffer =>
  Buffer.from(`{"data":[],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`)

/** The cache key of a query. */
export const cacheKey = ({ path }: Pick<Resource, 'path'>, { limit, offset, q, filters }: ListQuery): string => {
  let key = `${path}?${limit}&${offset}&`
  for (const name in filters) key += `${name}=${JSON.stringify(String(filters[name]))}&`
  // The name keeps a search for the text of a filter apart from the filter.
  return `${key}q=${q}`
}
