/** The addresses of the explorer's pages, and of the requests that they show. */
import { type FormatName, formats } from '../contract/formats.js'
import { basePath, docsPath } from '../contract/service.js'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { ListQuery } from '../storage/storage.js'

export const homePath = '/'
export const explorePath = '/explore'

const defaultLimit = 50

/** The parameters of a query, without those that have their default. */
const parametersOf = ({ q, filters, limit, offset }: ListQuery): [name: string, value: string][] => [
  ...(q === '' ? [] : [['q', q] as [string, string]]),
  ...Object.entries(filters).map(([name, value]): [string, string] => [name, String(value)]),
  ...(limit === defaultLimit ? [] : [['limit', String(limit)] as [string, string]]),
  ...(offset === 0n ? [] : [['offset', String(offset)] as [string, string]]),
]

const withQuery = (path: string, query: ListQuery): string => {
  const querystring = new URLSearchParams(parametersOf(query)).toString()
  return querystring === '' ? path : `${path}?${querystring}`
}

/** The first page of all rows. */
const wholeTable: ListQuery = { q: '', filters: {}, limit: defaultLimit, offset: 0n }

export const tableUrl = ({ path }: Resource, query: Partial<ListQuery> = {}): string =>
  withQuery(`${explorePath}/${path}`, { ...wholeTable, ...query })

export const rowUrl = ({ path }: Resource, id: number | string): string => `${explorePath}/${path}/${id}`

export const createUrl = ({ path }: Resource): string => `${explorePath}/${path}/new`

/** The suggestions for a reference. */
export const choicesUrl = (path: string): string => `${explorePath}/${path}/choices`

export const downloadUrl = ({ path }: Resource, { q, filters }: ListQuery, format: FormatName): string =>
  withQuery(`${explorePath}/${path}/download.${formats[format].extension}`, { ...wholeTable, q, filters })

export const apiListUrl = ({ path }: Resource, query: ListQuery): string => withQuery(`${basePath}/v1/${path}`, query)

export const apiRowUrl = ({ path }: Resource, id: number | string): string => `${basePath}/v1/${path}/${id}`

/** Swagger UI opens the operation that its fragment names. */
export const operationUrl = ({ tags, operationId }: { tags: readonly string[]; operationId: string }): string =>
  `${docsPath}#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`

/** The parameter of a form that requests a page by its number; a field named `page` can be a filter. */
export const pageParameter = (resource: Resource): string =>
  filterFields(resource).some(({ name }) => name === 'page') ? 'page-number' : 'page'

/** The hidden inputs that carry a query through a form. */
export const queryInputs = (query: ListQuery): [name: string, value: string][] => parametersOf({ ...query, offset: 0n })
