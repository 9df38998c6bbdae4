/** The form of a custom operation. The script sends it to the API, and shows the response. */
import { queryParameters } from '../contract/parameters.js'
import { basePath } from '../contract/service.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import type { Registry } from '../descriptor/registry.js'
import { disabled, tokenControl } from './formPages.js'
import { html } from './html.js'
import { operationPanel, shellWord } from './layout.js'
import { ownTarget, pageUrl } from './links.js'
import { titleOf } from './names.js'
import { isPublicOperation } from './ownOperations.js'
import type { OperationRequest, Page, Visitor } from './page.js'
import { memberControl, membersOf } from './schemaControls.js'

/** Where the rows are suggested that a parameter after the name of a resource means: `/v1/visits/{visit_id}/close`. */
const choicesFor = (registry: Registry, { path }: NamedOperation, name: string): string | undefined => {
  const segments = path.split('/')
  const before = segments[segments.indexOf(`{${name}}`) - 1]
  const target = registry.find((resource) => resource.path === before)
  return target && pageUrl(target, 'choices')
}

export const operationPage = (visitor: Visitor, { operation, querystring, origin }: OperationRequest): Page => {
  const { own } = operation
  const { method, path, about } = own
  const title = titleOf(own.name)
  const members = membersOf(own)
  const isSignedIn = visitor.name !== undefined
  const needsToken = !isSignedIn && !isPublicOperation(own)
  const api = `${basePath}${path}`
  const header = isPublicOperation(own) ? '' : ` -H ${shellWord('Authorization: Bearer TOKEN')}`
  const given = queryParameters(querystring)
  const controls = members.map((member, n) => {
    const choices = member.place === 'path' ? choicesFor(visitor.registry, own, member.name) : undefined
    return memberControl(member, n, given.get(member.name) ?? undefined, choices)
  })
  const form = html`<noscript><p class="notice">This form needs JavaScript. Without it, send the request on this page.</p></noscript>
      <form id="operation" data-operation data-method="${method}" data-api="${api}" data-target="${isSignedIn ? ownTarget(own) : api}" data-body="${own.body && 'true'}" data-header="${header}" novalidate hidden>
      <div class="form-error notice error" role="alert" tabindex="-1" hidden></div>
      ${controls}${needsToken && tokenControl}
      <p class="actions"><button class="primary ${method === 'DELETE' && 'danger'}">${title}</button></p></form>
      <section id="result" aria-label="Response" hidden></section>`
  const curl = `curl${method === 'GET' ? '' : ` -X ${method}`} ${shellWord(`${origin}${api}`)}${header}`
  const main = html`<div class="title"><div><h1>${title}</h1><p class="lead">${about}</p></div></div>
      <div class="row-columns"><div>${visitor.writes || isPublicOperation(own) ? form : disabled}</div><div class="beside">${operationPanel(operation, curl)}</div></div>`
  return { title, crumbs: [{ title }], main }
}
