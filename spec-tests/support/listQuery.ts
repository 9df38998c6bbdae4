/** Short forms of lists for tests. */

import type { ParameterValue } from '../../engine/descriptor/kinds/index.js'
import { defaultListQuery, type ListQuery } from '../../engine/descriptor/listQuery.js'
import type { Table } from '../../engine/storage/storage.js'

export interface ShortQuery {
  readonly limit?: number
  readonly offset?: bigint
  readonly q?: string
  /** Values that fields must equal. */
  readonly filters?: Readonly<Record<string, ParameterValue>>
}

/** The query of a list; the first page of all rows, unless told otherwise. */
export const listQuery = ({ limit, offset, q = '', filters = {} }: ShortQuery = {}): ListQuery => ({
  ...defaultListQuery,
  where: Object.entries(filters).map(([field, value]) => ({ field, operator: 'eq', value })),
  search: q,
  page: { limit: limit ?? defaultListQuery.page.limit, offset: offset ?? defaultListQuery.page.offset },
})

/** The tag of a table: that of its first row. */
export const tableTag = async (table: Table): Promise<string> => {
  const page = await table.list(listQuery({ limit: 1 }))
  if (!('tag' in page)) throw new TypeError('a page of one row is streamed')
  return page.tag
}
