/** The web explorer, derived from the registry. Its pages are functions from a URL to HTML. */
import { type HttpError, pathNotFound } from '../contract/errors.js'
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import { listQueryParser, listQuerySchema } from '../contract/parameters.js'
import type { Resource } from '../descriptor/registry.js'
import type { Matching } from '../storage/storage.js'
import { type Asset, assets, favicon } from './assets.js'
import { choiceOptions } from './choices.js'
import { createPage } from './createPage.js'
import { errorPage } from './errorPage.js'
import { homePage } from './home.js'
import { documentOf, type Page } from './layout.js'
import { explorePath, homePath } from './links.js'
import { operationFinder } from './requests.js'
import { rowPage } from './rowPage.js'
import type { ExplorerService, PageRequest } from './service.js'
import { tablePage } from './tablePage.js'

/** HTML with its status; another address; or a whole result. */
export type PageResponse =
  | { readonly html: string; readonly status: number }
  | { readonly redirect: string }
  | { readonly resource: Resource; readonly query: Matching; readonly format: FormatName }

export interface Route {
  /** For logs and metrics. */
  readonly name: string
  /** A path; its last segment may be `:item`. */
  readonly path: string
  respond(request: PageRequest): Promise<PageResponse>
}

interface Explorer {
  readonly routes: readonly Route[]
  /** Files that never change. */
  readonly assets: readonly Asset[]
  readonly favicon: Asset
  errorHtml(error: HttpError): string
}

/** Makes the explorer of a service. */
export const explorerOf = (service: ExplorerService): Explorer => {
  const { product, registry, storage } = service
  const find = operationFinder(service.operations)
  const sent = (page: Page | { readonly redirect: string }): PageResponse =>
    'redirect' in page ? page : { html: documentOf(product, page), status: page.status ?? 200 }

  const routesOf = (resource: Resource): Route[] => {
    const base = `${explorePath}/${resource.path}`
    const table = tablePage(service, resource, find)
    const row = rowPage(service, resource, find)
    const create = createPage(service, resource, find)
    const parseQuery = listQueryParser(resource, listQuerySchema(resource))
    const downloads = formatNames.map(
      (format): Route => ({
        name: 'exploreDownload',
        path: `${base}/download.${formats[format].extension}`,
        respond: async ({ querystring }) => ({ resource, query: parseQuery(querystring), format }),
      }),
    )
    return [
      {
        name: 'exploreTable',
        path: base,
        respond: async (request) => sent(await table(request)),
      },
      {
        name: 'exploreCreate',
        path: `${base}/new`,
        async respond({ origin }) {
          if (!resource.create) throw pathNotFound()
          return sent(create(origin))
        },
      },
      {
        name: 'exploreChoices',
        path: `${base}/choices`,
        respond: async ({ querystring, caller }) => ({
          html: (await choiceOptions(storage, resource, querystring, caller)).source,
          status: 200,
        }),
      },
      ...downloads,
      {
        name: 'exploreRow',
        path: `${base}/:item`,
        respond: async ({ segment, origin }) => sent(await row(segment, origin)),
      },
    ]
  }
  const home = homePage(service)
  return {
    routes: [
      { name: 'exploreHome', path: homePath, respond: async ({ origin }) => sent(await home(origin)) },
      { name: 'exploreHome', path: explorePath, respond: async () => ({ redirect: homePath }) },
      ...registry.flatMap(routesOf),
    ],
    assets: assets(),
    favicon: favicon(),
    errorHtml: (error) => documentOf(product, errorPage(error)),
  }
}
