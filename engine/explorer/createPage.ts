/** The form that creates a row. The script sends it to the API, so that there is one way to create. */
import { createExample } from '../contract/examples.js'
import { basePath } from '../contract/service.js'
import { type Kind, kindOf } from '../descriptor/kinds.js'
import {
  type Field,
  isMandatory,
  type Registry,
  type Resource,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { type Html, html } from './html.js'
import { targetOf } from './labels.js'
import type { ExplorerService, Page } from './layout.js'
import { choicesUrl, explorePath, tableUrl } from './links.js'
import { type FindOperation, requestPanel, shellWord } from './requests.js'

const formats = { date: 'YYYY-MM-DD', timestamp: 'YYYY-MM-DDTHH:MM:SSZ' }

/** The default as it would be stored now. */
const defaultOf = ({ default: source }: Field): string | undefined =>
  source === undefined ? undefined : String(typeof source === 'function' ? source() : source)

const isLong = (value: Value | undefined): boolean =>
  typeof value === 'string' && (value.length > 80 || /\n/.test(value))

/** Texts that are likely to have several lines: their rule or a demo row says so. */
const isMultiline = ({ demo }: Resource, { name, kind, maxLength = 0, pattern }: Field): boolean =>
  kindOf(kind).isText === true && !pattern && (maxLength > 200 || demo.some((row) => isLong(row[name])))

/** Browsers compile a pattern with the flag `v`, which refuses some that the service accepts. */
const browserPattern = (pattern: string | undefined): string | undefined => {
  try {
    return pattern && new RegExp(pattern, 'v') && pattern
  } catch {
    return undefined
  }
}

/** The rules of a field as attributes of its input, none of which refuses what the service accepts. */
const ruleAttributes = (field: Field): Html[] => {
  const { kind, min, max, minLength, maxLength, pattern } = field
  const { input, canonical } = kindOf(kind)
  // The control has times without a zone; the service has them in UTC.
  const bound = (value: typeof min) => (canonical ? canonical(value as never).slice(0, -1) : value)
  const attributes = {
    min: min === undefined ? undefined : bound(min),
    max: max === undefined ? latest[input] : bound(max),
    step: steps[kind],
    minlength: minLength,
    // In UTF-16 units, of which a character has up to two.
    maxlength: maxLength && 2 * maxLength,
    pattern: browserPattern(pattern),
  }
  return Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [html` ${name}="${String(value)}"`],
  )
}

/** Without a greatest value, browsers take years of six digits. */
const latest: Readonly<Record<string, string>> = { date: '9999-12-31', 'datetime-local': '9999-12-31T23:59:59.999' }
const steps: Partial<Record<Kind, string>> = { number: 'any', timestamp: '0.001' }

const inputOf = (resource: Resource, field: Field, target: Resource | undefined): Html => {
  const { name, kind, oneOf, format } = field
  const { input } = kindOf(kind)
  const preset = defaultOf(field)
  const json = input === 'datetime-local' ? 'time' : ['number', 'checkbox'].includes(input) ? 'literal' : 'string'
  const common = html`id="field-${name}" name="${name}" data-json="${json}" autocomplete="off" aria-describedby="help-${name} issue-${name}"${isMandatory(field) && html` aria-required="true"`}`
  if (target) {
    return html`<div class="combobox"><input ${common} data-choices="${choicesUrl(target.path)}" placeholder="Type a name or an id"><span class="picked note"></span></div>`
  }
  const values = oneOf ?? (input === 'checkbox' ? [true, false] : undefined)
  if (values && (oneOf || !isMandatory(field))) {
    const none = preset === undefined ? (isMandatory(field) ? 'Choose' : '–') : `Default: ${preset}`
    return html`<select ${common}><option value="">${none}</option>${values.map((value) => html`<option>${String(value)}</option>`)}</select>`
  }
  const placeholder = html` placeholder="${preset ?? (format ? formats[format] : '')}"`
  if (isMultiline(resource, field))
    return html`<textarea rows="1" ${common}${placeholder}${ruleAttributes(field)}></textarea>`
  // Without bounds a number is typed as a text: the wheel of a mouse changes the other kind of input.
  const isPlainNumber = input === 'number' && field.min === undefined && field.max === undefined
  if (isPlainNumber) return html`<input inputmode="decimal" ${common}${placeholder}>`
  return html`<input type="${input}" ${common}${placeholder}${ruleAttributes(field)}>`
}

const control = (registry: Registry, resource: Resource, field: Field): Html => {
  const { name, about, unique, kind } = field
  const target = targetOf(registry, field)
  const { input } = kindOf(kind)
  const preset = input.startsWith('date') && defaultOf(field)
  const help = [
    about,
    target && `${target.name}: type its name, and choose.`,
    unique && 'Must be unique.',
    input === 'datetime-local' && 'In UTC, not in your time zone.',
    preset && `Default: ${preset}.`,
  ].filter(Boolean)
  return html`<div class="control"><label for="field-${name}">${name}${isMandatory(field) && html` <span class="required">required</span>`}</label>
    ${inputOf(resource, field, target)}<p class="help" id="help-${name}">${help.join(' ')}</p><p class="issue" id="issue-${name}"></p></div>`
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
      ${writableFields(resource).map((field) => control(registry, resource, field))}
      <div class="control token"><label for="token">Write token <span class="required">required</span></label><input id="token" type="password" autocomplete="off" aria-describedby="help-write-token issue-write-token"><p class="help" id="help-write-token">Kept in memory until you leave or reload this page; never stored.</p><p class="issue" id="issue-write-token"></p></div>
      <p class="actions"><button class="primary" disabled>Create ${singular}</button> <a class="button" href="${tableUrl(resource)}">Cancel</a></p></form>`
    const disabled = html`<p class="notice">Writes are disabled: this service has no write token. Its operator can set API_TOKEN.</p>`
    const main = html`<div class="title"><div><h1>New ${singular}</h1>${resource.about && html`<p class="lead">${resource.about}</p>`}</div></div>
      <div class="row-columns"><div>${writes ? form : disabled}</div><div class="beside">${requestPanel(curl, find('create', resource))}</div></div>`
    const crumbs = [{ title: resource.plural, url: tableUrl(resource) }, { title: 'New' }]
    return { title: `New ${singular}`, crumbs, main }
  }
}
