/** The home page: every area with its resources, their row counts and the custom operations, and the entity diagram. */
import { basePath, docsPath } from '../contract/service.js'
import type { Resource } from '../descriptor/registry.js'
import { oncePer } from '../process/oncePer.js'
import { renderDiagram } from './diagram.js'
import { grouped } from './format.js'
import { type Html, html } from './html.js'
import { readPanel } from './layout.js'
import { pageUrl } from './links.js'
import { operationCard, sendableOperations } from './ownOperations.js'
import type { Page, PageRequest, Visitor } from './page.js'

const card = (resource: Resource, count: number | undefined, writes: boolean): Html => html`<li class="card">
  <h3><a href="${pageUrl(resource)}">${resource.plural}</a></h3>
  <p class="count" title="Number of rows">${count === undefined ? '–' : grouped(count)}</p>
  ${resource.about && html`<p class="about">${resource.about}</p>`}
  ${writes && resource.create && html`<p class="card-action"><a href="${pageUrl(resource, 'new')}" aria-label="New ${resource.name.toLowerCase()}">+ New</a></p>`}
  </li>`

/** Laid out on the first request. */
const diagramOf = oncePer(renderDiagram)

export const homePage = async (visitor: Visitor, { origin }: PageRequest): Promise<Page> => {
  const { product, registry, storage, writes } = visitor
  const sendable = sendableOperations(visitor)
  const counts = await storage.counts()
  const areas = [...new Set([...registry, ...sendable].map(({ area = 'Operations' }) => area))].map((area) => {
    const resources = registry.filter((resource) => resource.area === area)
    const operations = sendable.filter((operation) => (operation.area ?? 'Operations') === area)
    return html`<section class="area"><h2>${area}</h2>
        <ul class="cards">${resources.map((resource) => card(resource, counts.get(resource), writes))}${operations.map(operationCard)}</ul></section>`
  })
  const main = html`<div class="hero"><h1>${product.name}</h1><p class="lead">${product.about}</p>
      <p><a class="button" href="${docsPath}">API docs</a></p></div>
      ${areas}
      ${
        registry.length > 0
          ? html`<section class="area"><h2 id="diagram-title">How they refer to each other</h2>
      <div class="diagram" tabindex="0" role="region" aria-labelledby="diagram-title">${await diagramOf(registry)}</div></section>`
          : html`<p class="notice">You may see no table. Sign in, or ask the operator of this service.</p>`
      }
      ${readPanel(visitor, ['index'], origin, basePath)}`
  return { title: product.name, crumbs: [], main }
}
