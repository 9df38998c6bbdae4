/** The API request equivalent to a page: its curl command, its JSON, and its operation in the docs. */
import type { Operation } from '../contract/operations.js'
import type { Resource } from '../descriptor/registry.js'
import { type Html, html, type Part } from './html.js'
import { operationUrl } from './links.js'

export type FindOperation = (kind: Operation['kind'], resource: Resource) => Operation | undefined

export const operationFinder =
  (operations: readonly Operation[]): FindOperation =>
  (kind, resource) =>
    operations.find((one) => one.kind === kind && 'resource' in one && one.resource === resource)

export const shellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const copyButton = html`<button type="button" class="copy" data-copy hidden>Copy</button>`

/** A line with the request, and links beside it; `more` are further links. */
export const requestPanel = (curl: string, operation: Operation | undefined, jsonUrl?: string, more?: Part): Html =>
  html`<section class="request" aria-label="API request">
    <div class="curl"><code tabindex="0" role="group" aria-label="curl command">${curl}</code>${copyButton}</div>
    <p class="request-links">${jsonUrl && html`<a href="${jsonUrl}" data-plain>JSON</a>`}
    ${operation && html`<a href="${operationUrl(operation.route)}">${operation.route.operationId} in the docs</a>`}${more}</p>
    </section>`
