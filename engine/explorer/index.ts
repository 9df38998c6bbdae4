/** The web explorer, derived from the registry. Its pages are functions from a URL to HTML. */
import { type HttpError, pathNotFound } from '../contract/errors.js'
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import { listQueryParser, listQuerySchema } from '../contract/parameters.js'
import type { Selection } from '../descriptor/listQuery.js'
import { type Resource, updatableFields } from '../descriptor/registry.js'
import { assets, favicon } from './assets.js'
import { choiceOptions, valueOptions } from './choices.js'
import { createPage, deletePage, editPage } from './formPages.js'
import { homePage } from './home.js'
import { documentOf, documentStart, type ExplorerService, errorPage, type Page, type PageRequest } from './layout.js'
import { explorePath, homePath } from './links.js'
import { operationFinder } from './requests.js'
import { rowPage } from './rowPage.js'
import { rowFinder } from './rows.js'
import { tablePage } from './tablePage.js'

/** HTML with its status; another address; or a whole result. */
export type PageResponse =
  | { readonly html: string; readonly status: number }
  | { readonly redirect: string }
  | { readonly resource: Resource; readonly query: Selection; readonly format: FormatName }

/** A page that may have to wait for its rows, and what it begins with. */
export interface LaterResponse {
  readonly start: string
  readonly later: Promise<{ readonly html: string; readonly status: number }>
}

export interface Route {
  readonly name: string
  /** A path; the segment after that of the resource may be `:item`. */
  readonly path: string
  respond(request: PageRequest): Promise<PageResponse | LaterResponse>
}

const route = (name: string, path: string, respond: Route['respond']): Route => ({ name, path, respond })

export const explorerOf = (service: ExplorerService) => {
  const { product, registry, storage } = service
  const find = operationFinder(service.operations)
  const shown = (page: Page) => ({ html: documentOf(product, page), status: page.status ?? 200 })
  const sent = (page: Page | { readonly redirect: string }): PageResponse => ('redirect' in page ? page : shown(page))

  const routesOf = (resource: Resource): Route[] => {
    const base = `${explorePath}/${resource.path}`
    const { table, filters } = tablePage(service, resource, find)
    const values = valueOptions(storage, resource)
    const findRow = rowFinder(storage, resource)
    const row = rowPage(service, resource, find, findRow)
    const edit = editPage(service, resource, find, findRow)
    const remove = deletePage(service, resource, find, findRow)
    const create = createPage(service, resource, find)
    const parseQuery = listQueryParser(resource, listQuerySchema(resource))
    const downloads = formatNames.map((format) =>
      route('exploreDownload', `${base}/download.${formats[format].extension}`, async ({ querystring }) => ({
        resource,
        query: parseQuery(querystring),
        format,
      })),
    )
    return [
      route('exploreTable', base, async (request) => {
        const page = await table(request)
        if (!('later' in page)) return sent(page)
        return { start: documentStart(product, page.title), later: page.later.then(shown) }
      }),
      route('exploreFilters', `${base}/filters`, async (request) => sent(await filters(request))),
      route('exploreCreate', `${base}/new`, async ({ origin }) => {
        if (!resource.create) throw pathNotFound()
        return sent(create(origin))
      }),
      route('exploreChoices', `${base}/choices`, async ({ querystring, caller }) => {
        const { source } = await choiceOptions(storage, resource, querystring, caller)
        return { html: source, status: 200 }
      }),
      route('exploreValues', `${base}/values`, async ({ querystring, caller }) => {
        const { source } = await values(querystring, caller)
        return { html: source, status: 200 }
      }),
      ...downloads,
      route('exploreRow', `${base}/:item`, async ({ segment, origin }) => sent(await row(segment, origin))),
      ...(updatableFields(resource).length > 0
        ? [route('exploreEdit', `${base}/:item/edit`, async ({ segment, origin }) => sent(await edit(segment, origin)))]
        : []),
      ...(resource.delete
        ? [
            route('exploreDelete', `${base}/:item/delete`, async ({ segment, origin }) =>
              sent(await remove(segment, origin)),
            ),
          ]
        : []),
    ]
  }
  const home = homePage(service)
  return {
    routes: [
      route('exploreHome', homePath, async ({ origin }) => sent(await home(origin))),
      route('exploreHome', explorePath, async () => ({ redirect: homePath })),
      ...registry.flatMap(routesOf),
    ],
    assets: assets(),
    favicon: favicon(),
    errorHtml(error: HttpError, path: string): string {
      const resource = registry.find((one) => path.startsWith(`${explorePath}/${one.path}/`))
      return documentOf(product, errorPage(error, resource))
    },
  }
}
