/** The addresses of the explorer's pages, and of the requests that they show. */
import type { FormatName } from '../contract/formats.js'
import { formats } from '../contract/formats.js'
import { basePath } from '../contract/service.js'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { ListQuery } from '../storage/storage.js'

export const homePath = '/'
export const explorePath = '/explore'
export const assetsPath = `${explorePath}/assets`
export const docsPath = `${basePath}/docs`

/** The page of a table: what a list query has, and how many rows a page has. */
export type TableState = ListQuery

export const defaultLimit = 50

/** The query of a state, without what is the default. */
const queryOf = ({ q, filters, limit, offset }: TableState): [name: string, value: string][] => [
  ...(q === '' ? [] : [['q', q] as [string, string]]),
  ...Object.entries(filters).map(([name, value]): [string, string] => [name, String(value)]),
  ...(limit === defaultLimit ? [] : [['limit', String(limit)] as [string, string]]),
  ...(offset === 0n ? [] : [['offset', String(offset)] as [string, string]]),
]

const withQuery = (path: string, state: TableState): string => {
  const query = new URLSearchParams(queryOf(state)).toString()
  return query === '' ? path : `${path}?${query}`
}

/** The first page of all rows. */
export const wholeTable: TableState = { q: '', filters: {}, limit: defaultLimit, offset: 0n }

export const tableUrl = ({ path }: Resource, state: Partial<TableState> = {}): string =>
  withQuery(`${explorePath}/${path}`, { ...wholeTable, ...state })

export const rowUrl = ({ path }: Resource, id: number | string): string => `${explorePath}/${path}/${id}`

export const createUrl = ({ path }: Resource): string => `${explorePath}/${path}/new`

/** The suggestions for a reference. */
export const choicesUrl = (path: string): string => `${explorePath}/${path}/choices`

export const downloadUrl = ({ path }: Resource, { q, filters }: TableState, format: FormatName): string =>
  withQuery(`${explorePath}/${path}/download.${formats[format].extension}`, { ...wholeTable, q, filters })

export const apiListUrl = ({ path }: Resource, state: TableState): string => withQuery(`${basePath}/v1/${path}`, state)

export const apiRowUrl = ({ path }: Resource, id: number | string): string => `${basePath}/v1/${path}/${id}`

/** Swagger UI opens the operation that its fragment names. */
export const operationUrl = ({ tags, operationId }: { tags: readonly string[]; operationId: string }): string =>
  `${docsPath}#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`

/** The parameter of a form that asks for a page by its number; a field named `page` can be a filter. */
export const pageParameter = (resource: Resource): string =>
  filterFields(resource).some(({ name }) => name === 'page') ? 'page-number' : 'page'

/** The hidden inputs that carry a state through a form. */
export const stateInputs = (state: TableState): [name: string, value: string][] => queryOf({ ...state, offset: 0n })
