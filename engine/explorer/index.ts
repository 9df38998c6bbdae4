/** The web explorer, derived from the registry. Its pages are functions from a URL to HTML. */
import { type HttpError, pathNotFound } from '../contract/errors.js'
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import { listQueryParser, queryParameters } from '../contract/parameters.js'
import type { Selection } from '../descriptor/listQuery.js'
import { type Resource, updatableFields } from '../descriptor/registry.js'
import { assets, favicon } from './assets.js'
import { rowOptions, valueOptions } from './choices.js'
import { findPage } from './findPage.js'
import { createPage, deletePage, editPage } from './formPages.js'
import { homePage } from './home.js'
import type { Html } from './html.js'
import { importPage, importTemplate, type TextFile } from './importPage.js'
import * as layout from './layout.js'
import { columnsParameter, explorePath, findUrl, homePath, ownFormUrl, pageUrl, rowFolder } from './links.js'
import { deleteManyPage, editManyPage } from './manyPages.js'
import { labelFields } from './names.js'
import { operationPage } from './operationPage.js'
import { ownOperations } from './ownOperations.js'
import { rowPage } from './rowPage.js'
import { tablePage } from './tablePage.js'

interface Download {
  readonly resource: Resource
  readonly query: Selection
  readonly format: FormatName
  /** The names of the columns; by default all fields. */
  readonly columns?: readonly string[] | undefined
}

export type PageResponse = layout.Page | layout.Redirect | Html | Download | TextFile

export interface Route {
  readonly name: string
  /** A path; one of its segments may be `:item`. */
  readonly path: string
  readonly respond: (
    request: layout.PageRequest,
  ) => PageResponse | layout.LaterPage | Promise<PageResponse | layout.LaterPage>
}

export const createExplorer = (service: layout.ExplorerService) => {
  const { product, registry, storage } = service

  const resourceRoutes = (resource: Resource): Route[] => {
    const { table, filters, cells } = tablePage(service, resource)
    const create = createPage(service, resource)
    const parseQuery = listQueryParser(resource)
    const route = (name: string, respond: Route['respond'], ...segments: string[]): Route => ({
      name,
      path: pageUrl(resource, ...segments),
      respond,
    })
    const downloads = formatNames.map((format) => {
      const respond = ({ querystring }: layout.PageRequest) => {
        const chosen = queryParameters(querystring).get(columnsParameter(resource))?.split(',')
        const chosenFields = chosen?.filter((one) => resource.fields.some(({ name }) => name === one))
        // The table shows these too, whatever is chosen.
        const columns = chosenFields && [...new Set(['id', ...labelFields(resource), ...chosenFields])]
        return { resource, query: parseQuery(querystring), format, columns }
      }
      return route('exploreDownload', respond, `download.${formats[format].extension}`)
    })
    const createOrNot: Route['respond'] = (request) => {
      if (!resource.create) throw pathNotFound()
      return create(request)
    }
    const item = [...rowFolder(resource), ':item']
    const edit = route('exploreEdit', editPage(service, resource), ...item, 'edit')
    const remove = route('exploreDelete', deletePage(service, resource), ...item, 'delete')
    const editMany = route('exploreEditMany', editManyPage(service, resource), 'edit-many')
    const deleteMany = route('exploreDeleteMany', deleteManyPage(service, resource), 'delete-many')
    return [
      route('exploreTable', table),
      route('exploreFilters', filters, 'filters'),
      route('exploreCreate', createOrNot, 'new'),
      route('exploreChoices', rowOptions(storage, resource), 'choices'),
      route('exploreValues', valueOptions(storage, resource), 'values'),
      ...downloads,
      route('exploreImport', importPage(service, resource), 'import'),
      route('exploreTemplate', importTemplate(resource), 'template.csv'),
      ...(updatableFields(resource).length > 0 ? [editMany, edit] : []),
      ...(resource.delete ? [deleteMany, remove] : []),
      route('exploreCells', cells, ...item, 'cells'),
      route('exploreRow', rowPage(service, resource), ...item),
    ]
  }
  const routes: Route[] = [
    { name: 'exploreHome', path: homePath, respond: homePage(service) },
    { name: 'exploreHome', path: explorePath, respond: () => ({ redirect: homePath }) },
    { name: 'exploreFind', path: findUrl, respond: findPage(service) },
    ...ownOperations(service).map((operation) => ({
      name: 'exploreOperation',
      path: ownFormUrl(operation.own),
      respond: operationPage(service, operation),
    })),
    ...registry.flatMap(resourceRoutes),
  ]
  return {
    routes,
    assets: assets(),
    favicon: favicon(),
    start: (title: string): string => layout.renderStart(product, title),
    rest: (page: layout.Page): string => layout.renderRest(service, page),
    errorPage(error: HttpError, path: string): layout.Page {
      return layout.errorPage(
        error,
        path.replace(/\/$/, ''),
        registry.find((one) => path.startsWith(`${pageUrl(one)}/`)),
      )
    },
  }
}
