/** The frame of every page, the pages of errors, and the API request that a page shows. */
import type { HttpError, Issue } from '../contract/errors.js'
import type { Operation } from '../contract/operations.js'
import { basePath, docsPath, type Product } from '../contract/service.js'
import type { Resource } from '../descriptor/registry.js'
import { assetsPath } from './assets.js'
import { type Html, html, type Part } from './html.js'
import { findUrl, homePath, operationUrl, pageUrl, signInPath, signOutPath } from './links.js'
import type { Crumb, Page, Visitor } from './page.js'

const titles: Readonly<Record<number, string>> = {
  401: 'Sign in to see this',
  403: 'This is not for you',
  404: 'Not found',
  422: 'This address is not valid',
  503: 'Not available right now',
}

const errorMessages = ({ status, body, message }: HttpError): readonly string[] => {
  if (status === 401) return ['Only people with a key or token may see this page.']
  const { detail } = body as { detail?: readonly Issue[] }
  return detail ? detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}.`) : [message]
}

/** An error as a page that leads on: to the table that was asked for, if there is one. */
export const errorPage = ({ registry }: Visitor, error: HttpError, path: string): Page => {
  const resource = registry.find((one) => `${path}/`.startsWith(`${pageUrl(one)}/`))
  const title = titles[error.status] ?? 'Something went wrong'
  const table = resource && { title: resource.plural, url: pageUrl(resource) }
  const main = html`<div class="hero" data-error><h1>${title}</h1>${errorMessages(error).map((message) => html`<p class="lead"><bdi>${message}</bdi></p>`)}
    <p>${error.status === 401 && html`<a class="button primary" href="${signInPath}?next=${encodeURIComponent(path)}">Sign in</a> `}${table && html`<a class="button primary" href="${table.url}">All ${table.title.toLowerCase()}</a>`} <a class="button" href="${homePath}">Home</a></p></div>`
  return { title, crumbs: [...(table ? [table] : []), { title }], main }
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
const session = ({ canSignIn, name }: Visitor): Html | false =>
  name === undefined
    ? canSignIn && html`<a href="${signInPath}">Sign in</a>`
    : html`<form class="sign-out" method="post" action="${signOutPath}"><bdi class="visitor">${name}</bdi> <button>Sign out</button></form>`

export const renderRest = (visitor: Visitor, { crumbs, main, skip }: Page): string => {
  const { product } = visitor
  return html`
    <a class="skip" href="#${skip ?? 'main'}">Skip to ${skip ?? 'content'}</a>
    ${renderBar(product.name, html`<a href="${findUrl}" data-find>Find <kbd aria-hidden="true" hidden></kbd></a><a href="${docsPath}">API docs</a><a class="wide" href="${basePath}/openapi.json">OpenAPI</a>${session(visitor)}`)}
    <div id="page">
    ${crumbs.length > 0 && html`<nav class="crumbs" aria-label="Breadcrumbs"><ol>${[home, ...crumbs].map(renderCrumb)}</ol></nav>`}
    <main id="main" tabindex="-1">${main}</main>
    </div>
    <footer class="foot">${product.name} ${product.version}</footer>
    </body>
    </html>`.source
}

export const renderPage = (visitor: Visitor, page: Page): string =>
  renderStart(visitor.product, page.title) + renderRest(visitor, page)

export const shellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

type OperationId = readonly [kind: Operation['kind'], resource?: Resource]

/** A line with the request of an operation, and links beside it: to its JSON, to the docs, and more. */
export const requestPanel = (visitor: Visitor, id: OperationId, curl: string, url?: string, more?: Part) => {
  const [kind, resource] = id
  const isMeant = (one: Operation) =>
    one.kind === kind && (!('resource' in one) || one.resource.path === resource?.path)
  return operationPanel(visitor.operations.find(isMeant), curl, url, more)
}

export const operationPanel = (operation: Operation | undefined, curl: string, url?: string, more?: Part): Html =>
  html`<section class="request" aria-label="API request">
    <div class="curl"><code tabindex="0" role="group" aria-label="curl command">${curl}</code><button type="button" class="copy" data-copy hidden>Copy</button></div>
    <p class="request-links">${url && html`<a href="${url}">JSON</a>`}
    ${operation && html`<a href="${operationUrl(operation.route)}">${operation.route.operationId} in the docs</a>`}${more}</p>
    </section>`

export const readPanel = (visitor: Visitor, id: OperationId, origin: string, url: string, more?: Part): Html =>
  requestPanel(visitor, id, `curl ${shellWord(`${origin}${url}`)}`, url, more)
