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

/** The query of a table page: a list, and the columns that are shown, by default all. */
export interface TableQuery extends ListQuery {
  readonly columns?: readonly string[] | undefined
}

/** A parameter of pages that the API does not have; a field of the same name can be a filter. */
const ownParameter = (resource: Resource, name: string): string =>
  filterFields(resource).some((field) => field.name === name) ? `explorer-${name}` : name

export const pageParameter = (resource: Resource): string => ownParameter(resource, 'page')

export const columnsParameter = (resource: Resource): string => ownParameter(resource, 'columns')

const columnsOf = (resource: Resource, { columns }: TableQuery): [name: string, value: string][] =>
  columns ? [[columnsParameter(resource), columns.join(',')]] : []

export const fromStart = (query: TableQuery): TableQuery => ({
  ...query,
  page: { limit: query.page.limit, offset: 0n },
})

const withQuery = (path: string, parameters: [name: string, value: string][]): string => {
  const querystring = new URLSearchParams(parameters).toString().replaceAll('%2C', ',')
  return querystring === '' ? path : `${path}?${querystring}`
}

export const tableUrl = (resource: Resource, query: TableQuery = wholeTable): string =>
  withQuery(`${explorePath}/${resource.path}`, [...parametersOf(query), ...columnsOf(resource, query)])

export const filtersUrl = (resource: Resource, query: TableQuery): string =>
  withQuery(`${explorePath}/${resource.path}/filters`, [...parametersOf(query), ...columnsOf(resource, query)])

export const nextUrl = (resource: Resource, query: TableQuery, next: Position): string => {
  const url = tableUrl(resource, fromStart(query))
  return `${url}${url.includes('?') ? '&' : '?'}after=${encodeCursor(resource, query, next)}`
}

export const rowUrl = ({ path }: Resource, id: number | string): string => `${explorePath}/${path}/${id}`

export const createUrl = ({ path }: Resource): string => `${explorePath}/${path}/new`

export const editUrl = (resource: Resource, id: number): string => `${rowUrl(resource, id)}/edit`

export const deleteUrl = (resource: Resource, id: number): string => `${rowUrl(resource, id)}/delete`

export const choicesUrl = (path: string): string => `${explorePath}/${path}/choices`

export const valuesUrl = ({ path }: Resource, { name }: { readonly name: string }): string =>
  `${explorePath}/${path}/values?field=${name}`

export const downloadUrl = ({ path }: Resource, query: ListQuery, format: FormatName): string =>
  withQuery(
    `${explorePath}/${path}/download.${formats[format].extension}`,
    parametersOf({ ...query, page: wholeTable.page }),
  )

export const apiListUrl = ({ path }: Resource, query: ListQuery): string =>
  withQuery(`${basePath}/v1/${path}`, parametersOf(query))

export const apiRowUrl = ({ path }: Resource, id: number | string): string => `${basePath}/v1/${path}/${id}`

/** Swagger UI opens the operation that its fragment names. */
export const operationUrl = ({ tags, operationId }: { tags: readonly string[]; operationId: string }): string =>
  `${docsPath}#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`

export const queryInputs = (resource: Resource, query: TableQuery): [name: string, value: string][] => [
  ...parametersOf(fromStart(query)),
  ...columnsOf(resource, query),
]
