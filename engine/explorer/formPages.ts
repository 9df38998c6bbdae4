/** The forms that create, change and delete a row. The script sends them to the API, so that there is one way to write. */
import { createExample } from '../contract/examples.js'
import { basePath } from '../contract/service.js'
import { wholeTable } from '../descriptor/listQuery.js'
import { type Registry, type Resource, updatableFields, writableFields } from '../descriptor/registry.js'
import { isPrevented, type Referencing } from '../storage/write.js'
import { control } from './controls.js'
import { withFilter } from './filters.js'
import { type Html, html, type Part } from './html.js'
import { labelOf, readLabels } from './labels.js'
import type { ExplorerService, Page } from './layout.js'
import { apiRowUrl, rowUrl, tableUrl } from './links.js'
import { fieldTitle } from './names.js'
import { type FindOperation, requestPanel, shellWord } from './requests.js'
import { referrerItem } from './rowPage.js'
import type { RowFinder } from './rows.js'

interface Form {
  readonly kind: 'create' | 'update' | 'delete'
  readonly title: Html
  readonly lead: Part
  readonly url: string
  readonly tag?: string
  readonly controls: Part
  readonly button: string
  readonly cancel: string
  /** The page that follows; a new row's id is appended. */
  readonly done: string
  readonly message: string
  /** The body of the request that is shown; a delete has none. */
  readonly body?: string
  readonly prevented?: Part
}

const methods = {
  create: { method: 'POST', type: 'application/json' },
  update: { method: 'PATCH', type: 'application/merge-patch+json' },
  delete: { method: 'DELETE', type: undefined },
}

const disabled = html`<p class="notice">Writes are disabled: this service has no write token. Its operator can set API_TOKEN.</p>`

const tokenControl = html`<div class="control token"><label for="token">Write token <span class="required">required</span></label><input id="token" type="password" autocomplete="off" aria-describedby="help-write-token issue-write-token"><p class="help" id="help-write-token">Kept in memory until you leave or reload this page; never stored.</p><p class="issue" id="issue-write-token"></p></div>`

const formMain =
  ({ writes }: ExplorerService, resource: Resource, find: FindOperation) =>
  (origin: string, form: Form) => {
    const { method, type } = methods[form.kind]
    const header = (line: string) => ` -H ${shellWord(line)}`
    const head = `curl${form.kind === 'create' ? '' : ` -X ${method}`} ${shellWord(`${origin}${form.url}`)}${header('Authorization: Bearer TOKEN')}${type ? header(`Content-Type: ${type}`) : ''}${form.tag ? header(`If-Match: "${form.tag}"`) : ''}`
    const curl = form.body === undefined ? head : `${head} -d ${shellWord(form.body)}`
    const source = html`<noscript><p class="notice">This form needs JavaScript. Without it, send the request on this page, with the write token in place of TOKEN.</p></noscript>
    <form id="${form.kind}" data-method="${method}" data-path="${form.url}" data-type="${type}" data-tag="${form.tag}" data-keyless="${resource.existing && 'true'}" data-done="${form.done}" data-message="${form.message}" data-curl="${form.body === undefined ? '' : `${head} -d `}" novalidate hidden>
    <div id="problem" class="notice problem" role="alert" tabindex="-1" hidden></div>
    ${form.controls}${tokenControl}
    <p class="actions"><button class="primary ${form.kind === 'delete' && 'danger'}">${form.button}</button> <a class="button" href="${form.cancel}">Cancel</a></p></form>`
    return html`<div class="title"><div><h1>${form.title}</h1>${form.lead && html`<p class="lead">${form.lead}</p>`}</div></div>
    <div class="row-columns"><div>${writes ? (form.prevented ?? source) : disabled}</div><div class="beside">${requestPanel(curl, find(form.kind, resource))}</div></div>`
  }

export const createPage = (service: ExplorerService, resource: Resource, find: FindOperation) => {
  const { registry } = service
  const singular = resource.name.toLowerCase()
  const layOut = formMain(service, resource, find)
  return (origin: string): Page => {
    const main = layOut(origin, {
      kind: 'create',
      title: html`New ${singular}`,
      lead: resource.about,
      url: `${basePath}/v1/${resource.path}`,
      controls: writableFields(resource).map((field) => control(registry, resource, field)),
      button: `Create ${singular}`,
      cancel: tableUrl(resource),
      done: `${tableUrl(resource)}/`,
      message: `${resource.name} created.`,
      body: JSON.stringify(createExample(registry, resource)),
    })
    const crumbs = [{ title: resource.plural, url: tableUrl(resource) }, { title: 'New' }]
    return { title: `New ${singular}`, crumbs, main }
  }
}

const crumbsOf = (resource: Resource, id: number, label: string, title: string) => [
  { title: resource.plural, url: tableUrl(resource) },
  { title: label, url: rowUrl(resource, id) },
  { title },
]

export const editPage = (service: ExplorerService, resource: Resource, find: FindOperation, findRow: RowFinder) => {
  const { registry, storage } = service
  const fields = updatableFields(resource)
  const layOut = formMain(service, resource, find)
  return async (segment: string, origin: string): Promise<Page> => {
    const { id, tag, row } = await findRow(segment)
    const label = labelOf(resource, row)
    const labels = await readLabels(storage, registry, fields, ({ name }) => [row[name]])
    const main = layOut(origin, {
      kind: 'update',
      title: html`Edit <bdi>${label}</bdi>`,
      lead: `${resource.name} #${id}`,
      url: apiRowUrl(resource, id),
      tag,
      controls: fields.map((field) => control(registry, resource, field, { row, labels })),
      button: 'Save',
      cancel: rowUrl(resource, id),
      done: rowUrl(resource, id),
      message: `${resource.name} #${id} saved.`,
      body: '{}',
    })
    return { title: `Edit ${label} · ${resource.plural}`, crumbs: crumbsOf(resource, id, label, 'Edit'), main }
  }
}

const effects: Readonly<Record<Referencing['onDelete'], string>> = {
  restrict: 'It cannot be deleted while these refer to it, or to what would be deleted with it:',
  cascade: 'These are deleted too:',
  'set null': 'These stay, and refer to nothing afterwards:',
}

const effectsOf = (registry: Registry, resource: Resource, id: number, found: readonly Referencing[]): Html[] =>
  Object.entries(effects).flatMap(([onDelete, words]) => {
    const concerned = found.filter((one) => one.onDelete === onDelete)
    if (concerned.length === 0) return []
    const items = concerned.map(({ resource: path, field: name, count }) => {
      const referrer = registry.find((one) => one.path === path) as Resource
      const field = referrer.fields.find((one) => one.name === name)
      const isDirect = field?.filter && field.references === resource.path
      const url = isDirect ? tableUrl(referrer, withFilter(wholeTable, name, BigInt(id))) : undefined
      return referrerItem(referrer, field ? fieldTitle(registry, field) : name, count, url)
    })
    return [
      html`<section class="referrers ${onDelete === 'restrict' && 'problem'}"><p>${words}</p><ul class="plain-list">${items}</ul></section>`,
    ]
  })

export const deletePage = (service: ExplorerService, resource: Resource, find: FindOperation, findRow: RowFinder) => {
  const { registry, storage } = service
  const singular = resource.name.toLowerCase()
  const layOut = formMain(service, resource, find)
  return async (segment: string, origin: string): Promise<Page> => {
    const { id, tag, row } = await findRow(segment)
    const label = labelOf(resource, row)
    const found = await storage.table(resource).referencing(id)
    const shown =
      found.length > 0
        ? effectsOf(registry, resource, id, found)
        : html`<p class="notice">No other row refers to it.</p>`
    const main = layOut(origin, {
      kind: 'delete',
      title: html`Delete <bdi>${label}</bdi>?`,
      lead: `${resource.name} #${id}${isPrevented(found) ? '' : '. This cannot be undone.'}`,
      url: apiRowUrl(resource, id),
      tag,
      controls: shown,
      button: `Delete ${singular}`,
      cancel: rowUrl(resource, id),
      done: tableUrl(resource),
      message: `${resource.name} #${id} deleted.`,
      prevented: isPrevented(found)
        ? html`${shown}<p><a class="button" href="${rowUrl(resource, id)}">Back</a></p>`
        : undefined,
    })
    return { title: `Delete ${label} · ${resource.plural}`, crumbs: crumbsOf(resource, id, label, 'Delete'), main }
  }
}
