/** The web explorer, derived from the registry. Its pages are functions from a URL to HTML. */
import { type HttpError, pathNotFound } from '../contract/errors.js'
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import { listQueryParser } from '../contract/parameters.js'
import type { Selection } from '../descriptor/listQuery.js'
import { type Resource, updatableFields } from '../descriptor/registry.js'
import { assets, favicon } from './assets.js'
import { rowOptions, valueOptions } from './choices.js'
import { createPage, deletePage, editPage } from './formPages.js'
import { homePage } from './home.js'
import type { Html } from './html.js'
import * as layout from './layout.js'
import { explorePath, homePath, pageUrl } from './links.js'
import { rowPage } from './rowPage.js'
import { tablePage } from './tablePage.js'

interface HtmlResponse {
  readonly html: string
  readonly status: number
}

/** A whole result. */
interface Download {
  readonly resource: Resource
  readonly query: Selection
  readonly format: FormatName
}

export type PageResponse = HtmlResponse | layout.Redirect | Download

/** A page that may have to wait for its rows, and what it begins with. */
export interface LaterResponse {
  readonly start: string
  readonly later: Promise<HtmlResponse>
}

export interface Route {
  readonly name: string
  /** A path; the segment after that of the resource may be `:item`. */
  readonly path: string
  respond(request: layout.PageRequest): Promise<PageResponse | LaterResponse>
}

type Answer = layout.Page | layout.LaterPage | layout.Redirect | Html | Download
type Responder = (request: layout.PageRequest) => Answer | Promise<Answer>

export const explorerOf = (service: layout.ExplorerService) => {
  const { product, registry, storage } = service
  const shown = (page: layout.Page): HtmlResponse => ({
    html: layout.documentOf(product, page),
    status: page.status ?? 200,
  })
  const route = (name: string, path: string, answer: Responder): Route => ({
    name,
    path,
    async respond(request) {
      const found = await answer(request)
      if ('redirect' in found || 'format' in found) return found
      if ('source' in found) return { html: found.source, status: 200 }
      if ('later' in found) return { start: layout.pageStart(product, found.title), later: found.later.then(shown) }
      return shown(found)
    },
  })

  const routesOf = (resource: Resource): Route[] => {
    const { table, filters } = tablePage(service, resource)
    const create = createPage(service, resource)
    const parseQuery = listQueryParser(resource)
    const downloads = formatNames.map((format) =>
      route('exploreDownload', pageUrl(resource, `download.${formats[format].extension}`), ({ querystring }) => ({
        resource,
        query: parseQuery(querystring),
        format,
      })),
    )
    const edit = route('exploreEdit', pageUrl(resource, ':item', 'edit'), editPage(service, resource))
    const remove = route('exploreDelete', pageUrl(resource, ':item', 'delete'), deletePage(service, resource))
    return [
      route('exploreTable', pageUrl(resource), table),
      route('exploreFilters', pageUrl(resource, 'filters'), filters),
      route('exploreCreate', pageUrl(resource, 'new'), (request) => {
        if (!resource.create) throw pathNotFound()
        return create(request)
      }),
      route('exploreChoices', pageUrl(resource, 'choices'), rowOptions(storage, resource)),
      route('exploreValues', pageUrl(resource, 'values'), valueOptions(storage, resource)),
      ...downloads,
      route('exploreRow', pageUrl(resource, ':item'), rowPage(service, resource)),
      ...(updatableFields(resource).length > 0 ? [edit] : []),
      ...(resource.delete ? [remove] : []),
    ]
  }
  return {
    routes: [
      route('exploreHome', homePath, homePage(service)),
      route('exploreHome', explorePath, () => ({ redirect: homePath })),
      ...registry.flatMap(routesOf),
    ],
    assets: assets(),
    favicon: favicon(),
    errorHtml(error: HttpError, path: string): string {
      const resource = registry.find((one) => path.startsWith(`${pageUrl(one)}/`))
      return layout.documentOf(product, layout.errorPage(error, resource))
    },
  }
}
