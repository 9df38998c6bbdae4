/** The docs page: Swagger UI from the installed package, without anything from other hosts. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { basePath, docsPath } from '../contract/service.js'
import { type Asset, assetIn, explorerFile } from '../explorer/assets.js'
import { html } from '../explorer/html.js'
import { documentStart, renderBar } from '../explorer/layout.js'
import { pageHeaders } from './envelope.js'

/** Swagger UI has its icons in data URLs. */
export const docsHeaders = pageHeaders("img-src 'self' data:", "font-src 'self'", "form-action 'none'")

const styles = ['swagger-ui.css', 'theme.css', 'docs.css']

const page = (product: string, hasExplorer: boolean): string => {
  const description = `${basePath}/openapi.json`
  const links = html`${hasExplorer && html`<a href="/">Explorer</a>`}<a href="${description}">OpenAPI</a>`
  const { source } = html`
    ${renderBar(product, links)}
    <p class="loading" id="loading" role="status">Loading the API docs …</p>
    <noscript><p class="loading">This page needs JavaScript. Without it, read the documents: <a href="${description}">OpenAPI 3.1</a> or <a href="/swagger.json">Swagger 2.0</a>${hasExplorer && html`, or browse the data in the <a href="/">explorer</a>`}.</p></noscript>
    <div id="docs" data-url="${description}"></div>
    <script src="${docsPath}/swagger-ui-bundle.js"></script>
    <script src="${docsPath}/docs.js"></script>
    </body>
    </html>`
  return documentStart(`API docs · ${product}`, docsPath, styles) + source
}

/** The page and its files: a fixed list, so that no other file can be reached. */
export const docsAssets = (product: string, hasExplorer: boolean): Asset[] => {
  const document = { type: 'text/html; charset=utf-8', body: Buffer.from(page(product, hasExplorer)) }
  const assets = ['docs.js', 'docs.css'].map((name) => join(import.meta.dirname, 'assets', name))
  const shared = ['theme.css', 'icon.svg'].map(explorerFile)
  const { resolve } = createRequire(import.meta.url)
  const installed = ['swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => resolve(`swagger-ui-dist/${name}`))
  const files = [...assets, ...shared, ...installed].map((file) => assetIn(docsPath, file))
  return [{ path: docsPath, ...document }, { path: `${docsPath}/`, ...document }, ...files]
}
