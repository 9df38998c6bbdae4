/** The addresses of the explorer's pages, and of the requests that they show. */
import { encodeCursor } from '../contract/cursor.js'
import { type FormatName, formats } from '../contract/formats.js'
import { basePath, docsPath } from '../contract/service.js'
import { isById, type ListQuery, orderName, type Position, wholeTable } from '../descriptor/listQuery.js'
import { operatorOf } from '../descriptor/operators.js'
import { filterFields, type Resource } from '../descriptor/registry.js'

export const homePath = '/'
export const explorePath = '/explore'

/** The parameters of a query, without those that have their default. */
const parametersOf = ({
  search,
  where,
  order,
  page: { limit, offset },
}: ListQuery): [name: string, value: string][] => [
  ...(search === '' ? [] : [['q', search] as [string, string]]),
  ...where.flatMap(({ field, operator, value }) =>
    [value].flat().map((one): [string, string] => [`${field}${operatorOf(operator).suffix}`, String(one)]),
  ),
  ...(isById(order) ? [] : [['sort', orderName(order)] as [string, string]]),
  ...(limit === wholeTable.page.limit ? [] : [['limit', String(limit)] as [string, string]]),
  ...(offset === 0n ? [] : [['offset', String(offset)] as [string, string]]),
]

/** A query from its first row on. */
export const fromStart = (query: ListQuery): ListQuery => ({ ...query, page: { limit: query.page.limit, offset: 0n } })

const withQuery = (path: string, query: ListQuery): string => {
  const querystring = new URLSearchParams(parametersOf(query)).toString()
  return querystring === '' ? path : `${path}?${querystring}`
}

export const tableUrl = ({ path }: Resource, query = wholeTable): string => withQuery(`${explorePath}/${path}`, query)

/** The page of a table after a position. */
export const nextUrl = (resource: Resource, query: ListQuery, next: Position): string => {
  const url = tableUrl(resource, fromStart(query))
  return `${url}${url.includes('?') ? '&' : '?'}after=${encodeCursor(resource, query, next)}`
}

export const rowUrl = ({ path }: Resource, id: number | string): string => `${explorePath}/${path}/${id}`

export const createUrl = ({ path }: Resource): string => `${explorePath}/${path}/new`

export const editUrl = (resource: Resource, id: number): string => `${rowUrl(resource, id)}/edit`

export const deleteUrl = (resource: Resource, id: number): string => `${rowUrl(resource, id)}/delete`

/** The suggestions for a reference. */
export const choicesUrl = (path: string): string => `${explorePath}/${path}/choices`

export const downloadUrl = ({ path }: Resource, query: ListQuery, format: FormatName): string =>
  withQuery(`${explorePath}/${path}/download.${formats[format].extension}`, { ...query, page: wholeTable.page })

export const apiListUrl = ({ path }: Resource, query: ListQuery): string => withQuery(`${basePath}/v1/${path}`, query)

export const apiRowUrl = ({ path }: Resource, id: number | string): string => `${basePath}/v1/${path}/${id}`

/** Swagger UI opens the operation that its fragment names. */
export const operationUrl = ({ tags, operationId }: { tags: readonly string[]; operationId: string }): string =>
  `${docsPath}#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`

/** The parameter of a form that requests a page by its number; a field named `page` can be a filter. */
export const pageParameter = (resource: Resource): string =>
  filterFields(resource).some(({ name }) => name === 'page') ? 'page-number' : 'page'

/** The hidden inputs that carry a query through a form. */
export const queryInputs = (query: ListQuery): [name: string, value: string][] => parametersOf(fromStart(query))
