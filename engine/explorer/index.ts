/** The web explorer, derived from the registry: the list of its pages. */
import { callerMissing, forbidden } from '../contract/errors.js'
import type { CustomOperation } from '../contract/operations.js'
import { historyDays } from '../descriptor/logging.js'
import { type Registry, type Resource, updatableFields } from '../descriptor/registry.js'
import { rowOptions, valueOptions } from './choices.js'
import { downloadPages } from './download.js'
import { findPage } from './findPage.js'
import { createPage, deletePage, editPage } from './formPages.js'
import { homePage } from './home.js'
import { importPage, importTemplate } from './importPage.js'
import { explorePath, findUrl, homePath, operationFormUrl, pageUrl, rowFolder } from './links.js'
import { deleteManyPage, editManyPage } from './manyPages.js'
import { operationPage } from './operationPage.js'
import type { PageFunction, PageRequest, ResourceRequest, Visitor } from './page.js'
import { rowPage } from './rowPage.js'
import { cells, filtersPage, tablePage } from './tablePage.js'

export interface PageRoute {
  readonly name: string
  /** A path; one of its segments may be `:item`. */
  readonly path: string
  /** What the page is about. */
  readonly resource?: Resource
  readonly operation?: CustomOperation
  readonly page: PageFunction
}

const canEdit = (resource: Resource): boolean => updatableFields(resource).length > 0
const canDelete = (resource: Resource): boolean => resource.delete === true

/** A page of every resource, or only of those of which something can be done. */
type ResourcePage = readonly [
  name: string,
  segment: string,
  page: PageFunction<ResourceRequest>,
  isOffered?: (resource: Resource) => boolean,
]

const tablePages: readonly ResourcePage[] = [
  ['exploreTable', '', tablePage],
  ['exploreFilters', 'filters', filtersPage],
  ['exploreCreate', 'new', createPage],
  ['exploreChoices', 'choices', rowOptions],
  ['exploreValues', 'values', valueOptions],
  ...downloadPages.map(({ segment, page }): ResourcePage => ['exploreDownload', segment, page]),
  ['exploreImport', 'import', importPage],
  ['exploreTemplate', 'template.csv', importTemplate],
  ['exploreEditMany', 'edit-many', editManyPage, canEdit],
  ['exploreDeleteMany', 'delete-many', deleteManyPage, canDelete],
]

/** They come after those of tables, whose segments are no ids. */
const rowPages: readonly ResourcePage[] = [
  ['exploreEdit', 'edit', editPage, canEdit],
  ['exploreDelete', 'delete', deletePage, canDelete],
  ['exploreRestore', 'restore', rowPage, (resource) => historyDays(resource) !== undefined],
  ['exploreCells', 'cells', cells],
  ['exploreRow', '', rowPage],
]

const hidden = ({ name }: Visitor) => (name === undefined ? callerMissing() : forbidden())

const resourceRoutes = (resource: Resource): PageRoute[] => {
  const routes = (pages: readonly ResourcePage[], ...folder: string[]) =>
    pages.flatMap(([name, segment, page, isOffered = () => true]): PageRoute[] => {
      if (!isOffered(resource)) return []
      const visiblePage = (visitor: Visitor, request: PageRequest) => {
        const visible = visitor.registry.find(({ path }) => path === resource.path)
        if (!visible || !isOffered(visible)) throw hidden(visitor)
        return page(visitor, { ...request, resource: visible })
      }
      return [{ name, path: pageUrl(resource, ...folder, ...(segment ? [segment] : [])), resource, page: visiblePage }]
    })
  return [...routes(tablePages), ...routes(rowPages, ...rowFolder(resource), ':item')]
}

const operationRoute = (operation: CustomOperation): PageRoute => ({
  name: 'exploreOperation',
  path: operationFormUrl(operation.definition),
  operation,
  page(visitor, request) {
    if (!visitor.operations.includes(operation)) throw hidden(visitor)
    return operationPage(visitor, { ...request, operation })
  },
})

/** The routes of all pages; a page may be hidden from a visitor. */
export const pageRoutes = (registry: Registry, operations: readonly CustomOperation[]): PageRoute[] => [
  { name: 'exploreHome', path: homePath, page: homePage },
  { name: 'exploreHome', path: explorePath, page: () => ({ redirect: homePath }) },
  { name: 'exploreFind', path: findUrl, page: findPage },
  ...operations.map(operationRoute),
  ...registry.flatMap(resourceRoutes),
]
