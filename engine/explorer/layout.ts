/** The dependencies of the explorer, the requests for its pages, the frame of every page, and the API request that it shows. */
import type { HttpError, Issue } from '../contract/errors.js'
import type { Operation } from '../contract/operations.js'
import { basePath, docsPath, type Product } from '../contract/service.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { Caller, Storage } from '../storage/storage.js'
import { assetsPath } from './assets.js'
import type { Typed } from './controls.js'
import { type Html, html, type Part } from './html.js'
import { findUrl, homePath, operationUrl, pageUrl, signInPath, signOutPath } from './links.js'

const titles: Readonly<Record<number, string>> = {
  401: 'Sign in to see this',
  403: 'This is not for you',
  404: 'Not found',
  412: 'Not saved',
  422: 'This address is not valid',
  503: 'Not available right now',
}

const errorMessages = ({ status, body, message }: HttpError): readonly string[] => {
  if (status === 401) return ['Only people with a key or token may see this page.']
  if (status === 412)
    return ['Somebody else has changed this row since you opened it. Go back, and load the page again.']
  const { detail } = body as { detail?: readonly Issue[] }
  return detail ? detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}.`) : [message]
}

/** An error as a page that leads on: to the table that was asked for, if there is one. */
export const errorPage = (error: HttpError, path: string, resource?: Resource): Page => {
  const title = titles[error.status] ?? 'Something went wrong'
  const table = resource && { title: resource.plural, url: pageUrl(resource) }
  const main = html`<div class="hero" data-error><h1>${title}</h1>${errorMessages(error).map((message) => html`<p class="lead"><bdi>${message}</bdi></p>`)}
    <p>${error.status === 401 && html`<a class="button primary" href="${signInPath}?next=${encodeURIComponent(path)}">Sign in</a> `}${table && html`<a class="button primary" href="${table.url}">All ${table.title.toLowerCase()}</a>`} <a class="button" href="${homePath}">Home</a></p></div>`
  return { title, crumbs: [...(table ? [table] : []), { title }], main }
}

export interface ExplorerService {
  readonly product: Product
  readonly registry: Registry
  readonly storage: Storage
  readonly operations: readonly Operation[]
  readonly writes: boolean
  /** Whether people can sign in, and who has; undefined if nobody has. */
  readonly canSignIn: boolean
  readonly visitor?: string | undefined
}

export interface PageRequest {
  /** The segment after that of the resource, as it was sent. */
  readonly segment: string
  readonly querystring: string
  /** The address of the service as the client sees it, for the requests that pages show. */
  readonly origin: string
  /** Whether the client has gone, as it does with every key that is typed. */
  readonly caller: Caller
  /** What a form has sent that could not be stored. */
  readonly typed?: Typed | undefined
}

interface Crumb {
  readonly title: string
  /** The last crumb has none: it is the page itself. */
  readonly url?: string
}

export interface Page {
  readonly title: string
  /** The way to it from the home page, which itself has none. */
  readonly crumbs: readonly Crumb[]
  readonly main: Html
  /** The element that the keyboard may skip to; by default the whole content. */
  readonly skip?: 'results'
  /** By default 200. */
  readonly status?: number
}

export interface Redirect {
  readonly redirect: string
}

export interface LaterPage {
  readonly title: string
  readonly status?: number
  readonly later: Promise<Page>
}

const renderCrumb = ({ title, url }: Crumb): Html =>
  url === undefined
    ? html`<li aria-current="page"><bdi>${title}</bdi></li>`
    : html`<li><a href="${url}"><bdi>${title}</bdi></a></li>`

const home: Crumb = { title: 'Home', url: homePath }

export const renderBar = (name: string, links: Html): Html => html`<header class="bar">
  <a class="brand" href="${homePath}"><svg viewBox="0 0 16 16" aria-hidden="true"><rect x="1" y="1" width="6" height="6" rx="1.5"/><rect x="9" y="1" width="6" height="6" rx="1.5"/><rect x="1" y="9" width="6" height="6" rx="1.5"/><path d="M12 9v6M9 12h6"/></svg><span>${name}</span></a>
  <nav class="links" aria-label="Service">${links}</nav>
  </header>`

/** The start of a document; its icon and style sheets are in a folder. */
export const documentStart = (title: string, folder: string, styles: readonly string[], scripts?: Html): string =>
  html`<!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" type="image/svg+xml" href="${folder}/icon.svg">
    ${styles.map((name) => html`<link rel="stylesheet" href="${folder}/${name}">`)}${scripts}
    </head>
    <body>`.source

export const renderStart = ({ name }: Product, title: string): string => {
  const script = html`<script type="module" src="${assetsPath}/explorer.js"></script>`
  return documentStart([...new Set([title, name])].join(' · '), assetsPath, ['theme.css', 'explorer.css'], script)
}

/** The link with which people sign in, or who has signed in and the button that ends it. */
const session = ({ canSignIn, visitor }: Pick<ExplorerService, 'canSignIn' | 'visitor'>): Html | false =>
  visitor === undefined
    ? canSignIn && html`<a href="${signInPath}">Sign in</a>`
    : html`<form class="sign-out" method="post" action="${signOutPath}"><bdi class="visitor">${visitor}</bdi> <button>Sign out</button></form>`

export const renderRest = (service: ExplorerService, { crumbs, main, skip }: Page): string => {
  const { product } = service
  return html`
    <a class="skip" href="#${skip ?? 'main'}">Skip to ${skip ?? 'content'}</a>
    ${renderBar(product.name, html`<a href="${findUrl}" data-find>Find <kbd aria-hidden="true" hidden></kbd></a><a href="${docsPath}">API docs</a><a class="wide" href="${basePath}/openapi.json">OpenAPI</a>${session(service)}`)}
    <div id="page">
    ${crumbs.length > 0 && html`<nav class="crumbs" aria-label="Breadcrumbs"><ol>${[home, ...crumbs].map(renderCrumb)}</ol></nav>`}
    <main id="main" tabindex="-1">${main}</main>
    </div>
    <footer class="foot">${product.name} ${product.version}</footer>
    </body>
    </html>`.source
}

export const shellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

type OperationId = readonly [kind: Operation['kind'], resource?: Resource]

/** A line with the request of an operation, and links beside it: to its JSON, to the docs, and more. */
export const requestPanel = (service: ExplorerService, id: OperationId, curl: string, url?: string, more?: Part) => {
  const [kind, resource] = id
  const isMeant = (one: Operation) =>
    one.kind === kind && (!('resource' in one) || one.resource.path === resource?.path)
  return operationPanel(service.operations.find(isMeant), curl, url, more)
}

export const operationPanel = (operation: Operation | undefined, curl: string, url?: string, more?: Part): Html =>
  html`<section class="request" aria-label="API request">
    <div class="curl"><code tabindex="0" role="group" aria-label="curl command">${curl}</code><button type="button" class="copy" data-copy hidden>Copy</button></div>
    <p class="request-links">${url && html`<a href="${url}">JSON</a>`}
    ${operation && html`<a href="${operationUrl(operation.route)}">${operation.route.operationId} in the docs</a>`}${more}</p>
    </section>`

export const readPanel = (service: ExplorerService, id: OperationId, origin: string, url: string, more?: Part): Html =>
  requestPanel(service, id, `curl ${shellWord(`${origin}${url}`)}`, url, more)
