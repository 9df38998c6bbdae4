/** The custom operations that a visitor may send, and the links to their forms. */
import type { CustomOperation } from '../contract/operations.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import type { Resource, RowId } from '../descriptor/registry.js'
import { type Html, html } from './html.js'
import { operationFormUrl } from './links.js'
import { titleOf } from './names.js'
import type { Visitor } from './page.js'

export const isPublicOperation = ({ access }: NamedOperation): boolean => access.includes('public')

export const customOperations = ({ operations }: Visitor): CustomOperation[] =>
  operations.filter((one) => one.kind === 'own')

/** Those that can be sent now: without a write token or keys, only what is public. */
export const sendableOperations = (visitor: Visitor): NamedOperation[] =>
  customOperations(visitor)
    .map(({ definition }) => definition)
    .filter((operation) => visitor.writes || isPublicOperation(operation))

export const operationCard = (operation: NamedOperation): Html => html`<li class="card">
  <h3><a href="${operationFormUrl(operation)}">${titleOf(operation.name)}</a></h3>
  <p class="note"><code>${operation.method}</code></p>
  <p class="about">${operation.about}</p>
  </li>`

/** The parameter of a path that names a row of a resource: `visit_id` in `/v1/visits/{visit_id}/close`. */
const rowParameter = ({ path }: NamedOperation, resource: Resource): string | undefined =>
  path
    .split('/')
    .find((segment, n, all) => segment.startsWith('{') && all[n - 1] === resource.path)
    ?.slice(1, -1)

/** The operations that have a row in their path. */
export const rowOperations = (visitor: Visitor, resource: Resource, id: RowId): Html[] =>
  sendableOperations(visitor).flatMap((operation) => {
    const name = rowParameter(operation, resource)
    const url = `${operationFormUrl(operation)}?${new URLSearchParams([[name ?? '', id]])}`
    return name === undefined ? [] : [html`<a class="button" href="${url}">${titleOf(operation.name)}</a> `]
  })
