/** The addresses of the explorer's pages, and of the requests that they show. */

import { type FormatName, formats } from '../contract/formats.js'
import { encodeCursor } from '../contract/parameters.js'
import { basePath, docsPath } from '../contract/service.js'
import { isText } from '../descriptor/kinds/index.js'
import { defaultListQuery, isById, type ListQuery, orderName, type Position } from '../descriptor/listQuery.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import { operatorOf } from '../descriptor/operators.js'
import { filterFields, idField, type Registry, type Resource } from '../descriptor/registry.js'
import { type Grouping, groupingPairs } from './grouping.js'
import type { Labels } from './names.js'

export const homePath = '/'
export const explorePath = '/explore'
export const signInPath = '/explore/sign-in'
export const signOutPath = '/explore/sign-out'
/** Where pages are that belong to no resource: no resource has this name. */
const explorerFolder = '/explore/-'
/** No resource has the path `batch`. */
export const batchPath = '/explore/batch'

/** The query of a table page: a list, the columns that are shown, by default all, and what is computed of the rows. */
export interface TableQuery extends ListQuery {
  readonly columns?: readonly string[] | undefined
  readonly grouping?: Grouping | undefined
}

/** Parameters whose values mean nothing, with what was sent and why. */
export type WrongParameters = ReadonlyMap<string, { readonly input: string; readonly message: string }>

export interface TableView {
  readonly registry: Registry
  readonly resource: Resource
  readonly query: TableQuery
  /** The labels of the rows that values of the page refer to. */
  readonly labels: Labels
  readonly wrong: WrongParameters
  /** The fields that can be changed in the table. */
  readonly editable: readonly string[]
  /** Whether rows can be selected, to change or delete many. */
  readonly isSelectable: boolean
}

type Parameter = [name: string, value: string]

/** The parameters of a query, without those that have their default. */
const queryPairs = ({ search, where, order, page }: ListQuery): Parameter[] => {
  const conditions = where.flatMap(({ field, operator, value }) =>
    [value].flat().map((item): Parameter => [`${field}${operatorOf(operator).suffix}`, String(item)]),
  )
  const parameters: Parameter[] = [
    ['q', search],
    ...conditions,
    ['sort', isById(order) ? '' : orderName(order)],
    ['limit', page.limit === defaultListQuery.page.limit ? '' : String(page.limit)],
    ['offset', page.offset === 0n ? '' : String(page.offset)],
  ]
  return parameters.filter(([, value]) => value !== '')
}

/** A parameter of pages that the API does not have; a field of the same name can be a filter. */
export const uiParameter = (resource: Resource, name: string): string =>
  filterFields(resource).some((field) => field.name === name) ? `explorer-${name}` : name

export const pageParameter = (resource: Resource): string => uiParameter(resource, 'page')

export const columnsParameter = (resource: Resource): string => uiParameter(resource, 'columns')

export const groupingParameter = uiParameter

export const tableParameters = (resource: Resource, query: TableQuery): Parameter[] => [
  ...queryPairs(query),
  ...groupingPairs(query.grouping ?? { by: [] }).map(
    ([name, value]): Parameter => [groupingParameter(resource, name), value],
  ),
  ...(query.columns ? [[columnsParameter(resource), query.columns.join(',')] as Parameter] : []),
]

export const fromStart = (query: TableQuery): TableQuery => ({
  ...query,
  page: { limit: query.page.limit, offset: 0n },
})

const withQuery = (path: string, parameters: Parameter[]): string => {
  const querystring = new URLSearchParams(parameters).toString().replaceAll('%2C', ',')
  return querystring === '' ? path : `${path}?${querystring}`
}

/** The address of a resource's table, or of what the segments name: a row, a form, a part of a page. */
export const pageUrl = ({ path }: Resource, ...segments: string[]): string => [explorePath, path, ...segments].join('/')

/** The address of a row's page. Rows with text ids are under `rows/`: an id such as `new` would be the address of another page. */
export const rowUrl = (resource: Resource, id: string, ...segments: string[]): string =>
  pageUrl(resource, ...rowFolder(resource), encodeURIComponent(id), ...segments)

export const rowFolder = (resource: Resource): string[] => (isText(idField(resource)) ? ['rows'] : [])

/** The changes of a table, for its page. */
export const changesUrl = (resource: Resource): string => pageUrl(resource, 'changes')

export const findUrl = `${explorerFolder}/find`

/** The form of a custom operation. */
export const operationFormUrl = ({ name }: NamedOperation): string => `${explorerFolder}/operations/${name}`

export const tableUrl = (resource: Resource, query: TableQuery, ...segments: string[]): string =>
  withQuery(pageUrl(resource, ...segments), tableParameters(resource, query))

export const nextUrl = (resource: Resource, query: TableQuery, next: Position): string =>
  withQuery(pageUrl(resource), [
    ...tableParameters(resource, fromStart(query)),
    ['after', encodeCursor(resource, query, next)],
  ])

export const downloadUrl = (resource: Resource, query: TableQuery, format: FormatName): string =>
  withQuery(
    pageUrl(resource, `download.${formats[format].extension}`),
    tableParameters(resource, { ...query, page: defaultListQuery.page }),
  )

export const apiUrl = ({ path }: Resource, ...ids: string[]): string =>
  [basePath, 'v1', path, ...ids.map(encodeURIComponent)].join('/')

export const apiListUrl = (resource: Resource, query: ListQuery): string =>
  withQuery(apiUrl(resource), queryPairs(query))

export const apiSummaryUrl = (resource: Resource, { where, search, grouping = { by: [] } }: TableQuery): string =>
  withQuery(apiUrl(resource, 'summary'), [
    ...queryPairs({ ...defaultListQuery, where, search }),
    ...groupingPairs(grouping),
  ])

/** Swagger UI opens the operation that its fragment names. */
export const operationUrl = ({ tags, operationId }: { tags: readonly string[]; operationId: string }): string =>
  `${docsPath}#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`
