/** The form of a custom operation, and its response. */
import { queryParameters } from '../contract/parameters.js'
import { basePath } from '../contract/service.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import { parseId, type Registry, type Resource } from '../descriptor/registry.js'
import { postedId, postedText } from './controlTexts.js'
import { formOrSignIn, renderForm } from './formPages.js'
import { type Html, html } from './html.js'
import { operationPanel, shellWord } from './layout.js'
import { operationFormUrl, pageUrl } from './links.js'
import { labelFields, rowLabel, titleOf } from './names.js'
import { isPublicOperation } from './ownOperations.js'
import type { OperationPageRequest, Page, Visitor } from './page.js'
import { inputName, type Member, memberControl, membersOf, readOperation } from './schemaControls.js'

/** The resource whose rows a parameter names that comes after its name: `/v1/visits/{visit_id}/close`. */
const rowsNamed = (registry: Registry, { path }: NamedOperation, { place, name }: Member): Resource | undefined => {
  const segments = path.split('/')
  const before = segments[segments.indexOf(`{${name}}`) - 1]
  return place === 'path' ? registry.find((resource) => resource.path === before) : undefined
}

const indented = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const renderResponse = (text: string): Html =>
  html`<section id="result" aria-label="Response" tabindex="-1" data-focus><p class="notice" role="status">Done. The response has status 200.</p><pre class="json" role="group" aria-label="Body of the response" tabindex="0">${indented(text)}</pre></section>`

export const operationPage = async (
  visitor: Visitor,
  { operation, querystring, origin, posted }: OperationPageRequest,
): Promise<Page> => {
  const { definition } = operation
  const { method, path, about } = definition
  const title = titleOf(definition.name)
  const parameters = queryParameters(querystring)
  const textOf = (member: Member): string => {
    const text = posted ? postedText(posted, inputName(member)) : parameters.get(member.name)
    return postedId(text ?? undefined) ?? text ?? ''
  }
  const controls: Html[] = []
  for (const [n, member] of membersOf(definition).entries()) {
    const target = rowsNamed(visitor.registry, definition, member)
    const text = textOf(member)
    const [row] =
      target && parseId(target, text) ? await visitor.storage.table(target).excerpts([text], labelFields(target)) : []
    const choice = target && { url: pageUrl(target, 'choices'), label: row && rowLabel(target, row) }
    const issues = posted?.issues.filter(({ field }) => field === inputName(member)) ?? []
    controls.push(memberControl(member, n, text, issues.map(({ message }) => message).join(' '), choice))
  }
  const action = `${operationFormUrl(definition)}${querystring && `?${querystring}`}`
  const doubt = method === 'GET' ? '' : ' It may or may not have been done: look before you send it again.'
  const form = renderForm({
    id: 'operation',
    action,
    script: html` data-follow${method !== 'GET' && html` data-guard`}`,
    content: controls,
    button: title,
    isDangerous: method === 'DELETE',
    doubt: `The service did not answer.${doubt}`,
    posted,
  })
  const request = readOperation(definition, textOf)
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name) => encodeURIComponent(request.params[name] ?? '') || whole)
  const url = `${origin}${basePath}${filled}${request.querystring && `?${request.querystring}`}`
  const isPublic = isPublicOperation(definition)
  const curl = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${shellWord(url)}`,
    ...(isPublic ? [] : [`-H ${shellWord('Authorization: Bearer TOKEN')}`]),
    ...(request.body === undefined ? [] : [`-H 'Content-Type: application/json' -d ${shellWord(request.body)}`]),
  ]
  const result = posted?.response !== undefined && renderResponse(posted.response)
  const main = html`<div class="title"><div><h1>${title}</h1><p class="lead">${about}</p></div></div>
    <div class="row-columns"><div>${isPublic ? form : formOrSignIn(visitor, action, form)}${result}</div><div class="beside">${operationPanel(operation, curl.join(' '))}</div></div>`
  return { title, crumbs: [{ title }], main, ...(posted && { status: posted.status }) }
}
