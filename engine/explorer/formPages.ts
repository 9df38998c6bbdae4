/** The forms that create, change and delete a row. The script sends them to the API, so that there is one way to write. */
import { pathNotFound, rowForbidden } from '../contract/errors.js'
import { createExample } from '../contract/examples.js'
import { queryParameters } from '../contract/parameters.js'
import { maxOtherRows } from '../descriptor/define.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import { type Registry, type Resource, type RowId, updatableFields, writableFields } from '../descriptor/registry.js'
import type { Referencing } from '../storage/writeData.js'
import type { Typed } from './controls.js'
import { withFilter } from './filters.js'
import { controlGroups } from './formGroups.js'
import { type Html, html, type Part } from './html.js'
import { requestPanel, shellWord } from './layout.js'
import { apiUrl, pageUrl, rowUrl, signInPath, tableUrl } from './links.js'
import { fieldTitle, readLabels, rowLabel } from './names.js'
import type { Page, ResourceRequest, Visitor } from './page.js'
import { referrerItem } from './rowPage.js'
import { findRow } from './rows.js'

interface Form {
  readonly kind: keyof typeof kinds
  readonly origin: string
  readonly lead: Part
  readonly existing?: { readonly id: RowId; readonly tag: string; readonly label: string }
  readonly controls: Part
  readonly button: string
  /** The page that follows; a new row's id is appended. */
  readonly done: string
  readonly message: string
  /** The body of the request that is shown; a delete has none. */
  readonly body?: string
  readonly prevented?: Part
  readonly typed?: Typed | undefined
}

const kinds = {
  create: { verb: 'New', method: 'POST', type: 'application/json' },
  update: { verb: 'Edit', method: 'PATCH', type: 'application/merge-patch+json' },
  delete: { verb: 'Delete', method: 'DELETE', type: undefined },
}

export const disabled = html`<p class="notice">Writes are disabled: this service has no write token. Its operator can set API_TOKEN.</p>`

export const tokenControl = html`<div class="control token"><label for="token">Write token <span class="required">required</span></label><input id="token" type="password" autocomplete="off" aria-describedby="help-write-token issue-write-token"><p class="help" id="help-write-token">Kept in memory until you leave or reload this page; never stored.</p><p class="issue" id="issue-write-token"></p></div>`

const formPage = (visitor: Visitor, resource: Resource, form: Form): Page => {
  const { kind, existing, body } = form
  const { verb, method, type } = kinds[kind]
  const url = existing ? apiUrl(resource, existing.id) : apiUrl(resource)
  const isSignedIn = visitor.name !== undefined
  // Only there a session counts.
  const own = existing ? rowUrl(resource, existing.id) : pageUrl(resource)
  const header = (line: string) => ` -H ${shellWord(line)}`
  const head = `curl${kind === 'create' ? '' : ` -X ${method}`} ${shellWord(`${form.origin}${url}`)}${header('Authorization: Bearer TOKEN')}${type ? header(`Content-Type: ${type}`) : ''}${existing ? header(`If-Match: "${existing.tag}"`) : ''}`
  const curl = body === undefined ? head : `${head} -d ${shellWord(body)}`
  const action =
    kind === 'create' ? own : `${own}/${kind === 'update' ? 'edit' : 'delete'}?tag=${form.typed?.tag ?? existing?.tag}`
  const unsigned =
    !isSignedIn &&
    html`<noscript><p class="notice">Without JavaScript, this form needs you to <a href="${signInPath}">sign in</a> first. Or send the request on this page, with the write token in place of TOKEN.</p></noscript>`
  const errors = form.typed?.issues.map(({ field, message }) => html`<p><a href="#field-${field}">${message}</a></p>`)
  const source = html`${unsigned}
    <form method="post" action="${action}" id="${kind}" data-method="${method}" data-path="${isSignedIn ? own : url}" data-type="${type}" data-tag="${existing?.tag}" data-keyless="${resource.existing && 'true'}" data-done="${form.done}" data-message="${form.message}" data-curl="${body === undefined ? '' : `${head} -d `}" novalidate${!isSignedIn && html` hidden`}>
    <div id="error" class="form-error notice error" role="alert" tabindex="-1"${!errors && html` hidden`}>${errors}</div>
    ${form.controls}${!isSignedIn && tokenControl}
    <p class="actions"><button class="primary ${kind === 'delete' && 'danger'}">${form.button}</button> <a class="button" href="${own}">Cancel</a></p></form>`
  const name = existing ? html`<bdi>${existing.label}</bdi>` : resource.name.toLowerCase()
  const main = html`<div class="title"><div><h1>${verb} ${name}${kind === 'delete' && '?'}</h1>${form.lead && html`<p class="lead">${form.lead}</p>`}</div></div>
    <div class="row-columns"><div>${visitor.writes ? (form.prevented ?? source) : disabled}</div><div class="beside">${requestPanel(visitor, [kind, resource], curl)}</div></div>`
  const row = existing ? [{ title: existing.label, url: own }] : []
  return {
    title: existing ? `${verb} ${existing.label} · ${resource.plural}` : `${verb} ${name}`,
    crumbs: [{ title: resource.plural, url: pageUrl(resource) }, ...row, { title: verb }],
    main,
    ...(form.typed && { status: 422 }),
  }
}

export const createPage = (visitor: Visitor, { resource, origin, typed }: ResourceRequest): Page => {
  const { registry } = visitor
  if (!resource.create) throw pathNotFound()
  return formPage(visitor, resource, {
    kind: 'create',
    origin,
    typed,
    lead: resource.about,
    controls: controlGroups(registry, resource, writableFields(resource), undefined, typed),
    button: `Create ${resource.name.toLowerCase()}`,
    done: rowUrl(resource, ''),
    message: `${resource.name} created.`,
    body: JSON.stringify(createExample(registry, resource)),
  })
}

export const editPage = async (visitor: Visitor, request: ResourceRequest): Promise<Page> => {
  const { registry, storage } = visitor
  const { resource, segment, origin, querystring, typed } = request
  const all = updatableFields(resource)
  // A cell of the table edits one field.
  const one = all.filter(({ name }) => name === queryParameters(querystring).get('field'))
  const fields = one.length > 0 ? one : all
  const { id, tag, row } = await findRow(storage, resource, segment)
  if (!(await storage.table(resource).allows('update', id))) throw rowForbidden()
  const labels = await readLabels(visitor, fields, ({ name }) => [row[name]])
  return formPage(visitor, resource, {
    kind: 'update',
    origin,
    typed,
    lead: `${resource.name} #${id}`,
    existing: { id, tag, label: rowLabel(resource, row) },
    controls: controlGroups(registry, resource, fields, { row, labels }, typed),
    button: 'Save',
    done: rowUrl(resource, id),
    message: `${resource.name} #${id} saved.`,
    body: '{}',
  })
}

const effects: Readonly<Record<Referencing['onDelete'], readonly [one: string, many: string]>> = {
  restrict: [
    'It cannot be deleted while these refer to it, or to what would be deleted with it:',
    'They cannot be deleted while these refer to one of them, or to what would be deleted with them:',
  ],
  cascade: ['These are deleted too:', 'These are deleted too:'],
  'set null': ['These stay, and refer to nothing afterwards:', 'These stay, and refer to nothing afterwards:'],
}

/** What a delete of a row does to others; without an id, that of several rows. */
export const deleteEffects = (
  registry: Registry,
  resource: Resource,
  id: RowId | undefined,
  referencing: readonly Referencing[],
): Html[] =>
  Object.entries(effects).flatMap(([onDelete, [one, many]]) => {
    const concerned = referencing.filter((found) => found.onDelete === onDelete)
    if (concerned.length === 0) return []
    const items = concerned.map(({ resource: path, field: name, count }) => {
      const referrer = registry.find((one) => one.path === path) as Resource
      const field = referrer.fields.find((one) => one.name === name)
      const isDirect = id !== undefined && field?.filter && field.references === resource.path
      const url = isDirect ? tableUrl(referrer, withFilter(defaultListQuery, name, id)) : undefined
      return referrerItem(referrer, field ? fieldTitle(registry, field) : name, count, url)
    })
    return [
      html`<section class="referrers ${onDelete === 'restrict' && 'error'}"><p>${id === undefined ? many : one}</p><ul class="plain-list">${items}</ul></section>`,
    ]
  })

/** Why rows cannot be deleted, if the rows that the visitor sees do not say it: what prevents it may be hidden. */
export const preventedReason = (
  subject: 'It' | 'They',
  { referencing, isTooMany }: { readonly referencing: readonly Referencing[]; readonly isTooMany: boolean },
): Html | undefined => {
  if (referencing.some(({ onDelete }) => onDelete === 'restrict')) return undefined
  const [object, others] = subject === 'It' ? ['it', 'refer to it'] : ['them', 'refer to one of them']
  const condition = isTooMany
    ? `more than ${maxOtherRows} other rows would be deleted or changed with ${object}`
    : `other rows ${others}, or to what would be deleted with ${object}`
  return html`<p class="notice">${subject} cannot be deleted while ${condition}.</p>`
}

export const deletePage = async (visitor: Visitor, { resource, segment, origin }: ResourceRequest): Promise<Page> => {
  const { registry, storage } = visitor
  const { id, tag, row } = await findRow(storage, resource, segment)
  if (!(await storage.table(resource).allows('delete', id))) throw rowForbidden()
  const found = await storage.table(resource).referencing(id)
  const effects = deleteEffects(registry, resource, id, found.referencing)
  const back = html`<p><a class="button" href="${rowUrl(resource, id)}">Back</a></p>`
  return formPage(visitor, resource, {
    kind: 'delete',
    origin,
    lead: `${resource.name} #${id}`,
    existing: { id, tag, label: rowLabel(resource, row) },
    controls: effects.length > 0 ? effects : html`<p class="notice">No other row refers to it.</p>`,
    button: `Delete ${resource.name.toLowerCase()}`,
    done: pageUrl(resource),
    message: `${resource.name} #${id} deleted.`,
    prevented: found.isPrevented ? html`${preventedReason('It', found)}${effects}${back}` : undefined,
  })
}
