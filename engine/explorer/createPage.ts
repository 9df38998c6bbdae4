/** The form that creates a row. The script sends it to the API, so that there is one way to create. */
import { createExample } from '../contract/examples.js'
import { basePath } from '../contract/service.js'
import { type Field, isMandatory, type Registry, type Resource, writableFields } from '../descriptor/registry.js'
import { type Html, html } from './html.js'
import { targetOf } from './labels.js'
import type { Page } from './layout.js'
import { choicesUrl, explorePath, tableUrl } from './links.js'
import { type FindOperation, requestPanel, shellWord } from './requests.js'
import type { ExplorerService } from './service.js'

const formats = { date: 'YYYY-MM-DD', timestamp: 'YYYY-MM-DDTHH:MM:SSZ' }

/** The default as it would be stored now; otherwise the format. */
const placeholderOf = ({ default: source, format }: Field): string => {
  if (source !== undefined) return String(typeof source === 'function' ? source() : source)
  return format ? formats[format] : ''
}

/** Texts that may have several lines. */
const isLong = ({ kind, format, filter, unique }: Field): boolean =>
  kind === 'text' && !format && !filter && unique === undefined

const inputOf = (field: Field, target: Resource | undefined): Html => {
  const { name, kind } = field
  const isRequired = isMandatory(field)
  const described = `help-${name} issue-${name}`
  const required = isRequired && html` aria-required="true"`
  if (target) {
    return html`<div class="combobox"><input id="field-${name}" name="${name}" data-kind="${kind}" data-choices="${choicesUrl(target.path)}" autocomplete="off" placeholder="Type a name or an id" aria-describedby="${described}"${required}><span class="picked note"></span></div>`
  }
  const common = html`id="field-${name}" name="${name}" data-kind="${kind}" placeholder="${placeholderOf(field)}" autocomplete="off" aria-describedby="${described}"${required}`
  if (isLong(field)) return html`<textarea rows="1" ${common}></textarea>`
  return html`<input ${kind === 'text' ? html`` : html`inputmode="decimal" `}${common}>`
}

const control = (registry: Registry, field: Field): Html => {
  const { name, about, unique } = field
  const target = targetOf(registry, field)
  const help = [about, target && `${target.name}: type its name, and choose.`, unique && 'Must be unique.'].filter(
    Boolean,
  )
  return html`<div class="control"><label for="field-${name}">${name}${isMandatory(field) && html` <span class="required">required</span>`}</label>
    ${inputOf(field, target)}<p class="help" id="help-${name}">${help.join(' ')}</p><p class="issue" id="issue-${name}"></p></div>`
}

/** Makes the form of a resource. */
export const createPage = ({ registry, writes }: ExplorerService, resource: Resource, find: FindOperation) => {
  const singular = resource.name.toLowerCase()
  const path = `${basePath}/v1/${resource.path}`
  return (origin: string): Page => {
    const head = `curl ${shellWord(`${origin}${path}`)} -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d `
    const curl = `${head}${shellWord(JSON.stringify(createExample(registry, resource)))}`
    const form = html`<noscript><p class="notice">The form needs JavaScript; the request below does the same.</p></noscript>
      <form id="create" class="create" data-path="${path}" data-rows="${explorePath}/${resource.path}" data-curl="${head}" novalidate>
      <div id="problem" class="notice problem" role="alert" tabindex="-1" hidden></div>
      ${writableFields(resource).map((field) => control(registry, field))}
      <div class="control token"><label for="token">Write token <span class="required">required</span></label><input id="token" type="password" autocomplete="off" aria-describedby="help-write-token issue-write-token"><p class="help" id="help-write-token">Kept in memory until you leave or reload this page; never stored.</p><p class="issue" id="issue-write-token"></p></div>
      <p class="actions"><button class="primary" disabled>Create ${singular}</button> <a class="button" href="${tableUrl(resource)}">Cancel</a></p></form>`
    const disabled = html`<p class="notice">Writes are disabled: this service has no write token. Its operator can set API_TOKEN.</p>`
    const main = html`<div class="title"><div><h1>New ${singular}</h1>${resource.about && html`<p class="lead">${resource.about}</p>`}</div></div>
      <div class="row-columns"><div>${writes ? form : disabled}</div><div class="beside">${requestPanel(curl, find('create', resource))}</div></div>`
    const crumbs = [{ title: resource.plural, url: tableUrl(resource) }, { title: 'New' }]
    return { title: `New ${singular}`, crumbs, main }
  }
}
