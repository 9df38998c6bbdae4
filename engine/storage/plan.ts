/** How the rows of a list are found, as data for every database. */
import type { ParameterValue } from '../descriptor/kinds.js'
import type { ListQuery, Selection } from '../descriptor/listQuery.js'
import { fold } from './caseFold.js'

/** Which rows match, and how they are found. */
export interface Plan extends Selection {
  /** No row can match; all rows match; the filters, the search index or a scan of the table finds those that do. */
  readonly strategy: 'nothing' | 'all' | 'filter' | 'search' | 'scan'
}

/** The largest integer that a database takes. */
export const maxInteger = 2n ** 63n - 1n

/** Whether no column can store the value: a NUL, or an integer that is too large. */
const isUnstorable = (value: ParameterValue): boolean =>
  typeof value === 'bigint'
    ? value > maxInteger || value < -maxInteger
    : typeof value === 'string' && value.includes('\0')

/** Plans a read; `isIndexed` says whether the search index can find a folded text. */
export const planOf = ({ where, search }: Selection, isIndexed: (text: string) => boolean): Plan => {
  const strategy = (): Plan['strategy'] => {
    if (isUnstorable(search) || where.some(({ value }) => isUnstorable(value))) return 'nothing'
    if (search === '') return where.length === 0 ? 'all' : 'filter'
    return isIndexed(fold(search)) ? 'search' : 'scan'
  }
  return { where, search, strategy: strategy() }
}

/** The page of a list that has no rows. */
export const emptyPage = ({ limit, offset }: ListQuery['page']): Buffer =>
  Buffer.from(`{"data":[],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`)

/** A key that tells selections apart. */
export const selectionKey = ({ where, search }: Selection): string => {
  let key = ''
  for (const { field, operator, value } of where) key += `${field} ${operator} ${JSON.stringify(String(value))}&`
  // The name keeps a search for the text of a condition apart from the condition.
  return `${key}q=${search}`
}

/** A key that tells lists apart. */
export const listKey = (query: ListQuery): string => `${query.page.limit}&${query.page.offset}&${selectionKey(query)}`
