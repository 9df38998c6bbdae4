/** The forms that create, change and delete a row, and what all forms of the explorer have in common. */
import { pathNotFound, rowForbidden } from '../contract/errors.js'
import { createExample } from '../contract/examples.js'
import { queryParameters } from '../contract/parameters.js'
import { maxOtherRows } from '../descriptor/define.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import {
  type Field,
  type Registry,
  type Resource,
  type RowId,
  updatableFields,
  writableFields,
} from '../descriptor/registry.js'
import type { Referencing } from '../storage/writeData.js'
import { openedTexts, shownIds } from './conflicts.js'
import { type FormView, formKey, type Posted } from './controlTexts.js'
import { withFilter } from './filters.js'
import { controlGroups } from './formGroups.js'
import { readRowForm } from './forms.js'
import { type Html, html, type Part } from './html.js'
import { requestPanel, shellWord } from './layout.js'
import { apiUrl, pageUrl, rowUrl, signInPath, tableUrl } from './links.js'
import { fieldTitle, readLabels, rowLabel } from './names.js'
import type { Page, ResourceRequest, Visitor } from './page.js'
import { referrerItem } from './rowPage.js'
import { findRow } from './rows.js'

/** What every form of the explorer has: where it posts, its controls, and its button. */
interface FormParts {
  readonly id: string
  /** The address of its page, to which it posts. */
  readonly action: string
  /** Values that it sends along, by the names that no field has. */
  readonly hidden?: Readonly<Record<string, string | false | undefined>>
  /** What the script does with it, as attributes. */
  readonly script?: Part
  readonly content: Part
  readonly button: string
  readonly isDangerous?: boolean
  /** Whether another button is the one to press. */
  readonly isSecondary?: boolean
  /** Where Cancel leads. */
  readonly back?: string
  /** What is said if no answer comes. */
  readonly doubt: string
  readonly posted: Posted | undefined
  /** A form with files is answered with its end alone, which has this id: no page can fill in a file again. */
  readonly part?: { readonly id: string; readonly result: Part }
}

/** A form; what was wrong with what it has sent stands above it. */
export const renderForm = (parts: FormParts): Html => {
  const {
    id,
    action,
    hidden = {},
    script,
    content,
    button,
    isDangerous,
    isSecondary,
    back,
    doubt,
    posted,
    part,
  } = parts
  const message = posted?.message
  const values = Object.entries(hidden).filter(([, value]) => value !== undefined && value !== false)
  const actions = html`<p class="actions"><button class="submit ${!isSecondary && 'primary'} ${isDangerous && 'danger'}">${button}</button>${back && html` <a class="button" href="${back}">Cancel</a>`}</p>`
  return html`<form method="post" action="${action}" enctype="multipart/form-data" id="${id}"${part && html` data-part="${part.id}"`} data-form data-doubt="${doubt}"${posted && posted.response === undefined && html` data-unsaved`}${script} novalidate>
    <div id="error" class="form-error notice error" role="alert" tabindex="-1"${!message && html` hidden`}>${message}</div>
    ${content}
    ${values.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}${part ? html`<div id="${part.id}">${actions}${part.result}</div>` : actions}</form>`
}

/** What is said if it is not known whether a write was made. */
export const doubtOf = ({ existing }: Resource, what: string, done: string): string =>
  `The service did not answer; ${what} may or may not have been ${done}. ${existing ? 'Look before you try again.' : `Try again: it is never ${done} twice.`}`

const disabled = html`<p class="notice">Writes are disabled: this service has no write token. Its operator can set API_TOKEN.</p>`

/** A form, for whoever may send it: who has not signed in gets none, and is led back to it. */
export const formOrSignIn = ({ name, writes }: Visitor, action: string, form: Part): Part => {
  if (!writes) return disabled
  if (name !== undefined) return form
  return html`<p class="notice">Sign in to do this.</p><p><a class="button primary" href="${signInPath}?next=${encodeURIComponent(action)}">Sign in</a></p>`
}

interface RowFormParts {
  readonly kind: keyof typeof kinds
  readonly request: ResourceRequest
  readonly lead: Part
  readonly existing?: { readonly id: RowId; readonly tag: string; readonly label: string }
  readonly hidden?: FormParts['hidden']
  readonly content: Part
  readonly button: string
  /** The body of the request that is shown; a delete has none. */
  readonly body?: string
  readonly prevented?: Part
}

const kinds = {
  create: { verb: 'New', segment: 'new', method: 'POST', type: 'application/json', done: 'created' },
  update: { verb: 'Edit', segment: 'edit', method: 'PATCH', type: 'application/merge-patch+json', done: 'saved' },
  delete: { verb: 'Delete', segment: 'delete', method: 'DELETE', type: undefined, done: 'deleted' },
}

/** A body of more characters is not repeated in the request that a page shows. */
const longBody = 64 * 1024

const rowForm = (visitor: Visitor, resource: Resource, form: RowFormParts): Page => {
  const { kind, existing, body, request } = form
  const { origin, querystring, posted } = request
  const { verb, segment, method, type, done } = kinds[kind]
  const url = existing ? apiUrl(resource, existing.id) : apiUrl(resource)
  const backUrl = existing ? rowUrl(resource, existing.id) : pageUrl(resource)
  const action = `${backUrl}/${segment}${querystring && `?${querystring}`}`
  const header = (line: string) => ` -H ${shellWord(line)}`
  const head = `curl${kind === 'create' ? '' : ` -X ${method}`} ${shellWord(`${origin}${url}`)}${header('Authorization: Bearer TOKEN')}${type ? header(`Content-Type: ${type}`) : ''}${existing ? header(`If-Match: "${existing.tag}"`) : ''}`
  const curl = body === undefined ? head : `${head} -d ${shellWord(body.length > longBody ? '@FILE' : body)}`
  const source = renderForm({
    id: kind,
    action,
    hidden: { 'form.tag': existing?.tag, 'form.key': formKey(resource, posted), ...form.hidden },
    script: body !== undefined && html` data-guard data-follow`,
    content: form.content,
    button: form.button,
    isDangerous: kind === 'delete',
    back: backUrl,
    doubt: doubtOf(resource, 'the row', done),
    posted,
  })
  const name = existing ? html`<bdi>${existing.label}</bdi>` : resource.name.toLowerCase()
  const main = html`<div class="title"><div><h1>${verb} ${name}${kind === 'delete' && '?'}</h1>${form.lead && html`<p class="lead">${form.lead}</p>`}</div></div>
    <div class="row-columns"><div>${formOrSignIn(visitor, action, form.prevented ?? source)}</div><div class="beside">${requestPanel(visitor, [kind, resource], curl)}</div></div>`
  const row = existing ? [{ title: existing.label, url: backUrl }] : []
  return {
    title: existing ? `${verb} ${existing.label} · ${resource.plural}` : `${verb} ${name}`,
    crumbs: [{ title: resource.plural, url: pageUrl(resource) }, ...row, { title: verb }],
    main,
    ...(posted && { status: posted.status }),
  }
}

/** The body of the request that a page shows, without what is redacted. */
const shownBody = async (visitor: Visitor, fields: readonly Field[], view: FormView): Promise<string> =>
  (
    await readRowForm(
      visitor,
      fields.filter(({ redacted }) => !redacted),
      view,
    )
  ).source

export const createPage = async (visitor: Visitor, request: ResourceRequest): Promise<Page> => {
  const { registry } = visitor
  const { resource, posted } = request
  if (!resource.create) throw pathNotFound()
  const fields = writableFields(resource)
  const labels = await readLabels(visitor, fields, (field) => shownIds({ posted }, field))
  const view = { labels, posted }
  const body = posted ? await shownBody(visitor, fields, view) : JSON.stringify(createExample(registry, resource))
  return rowForm(visitor, resource, {
    kind: 'create',
    request,
    lead: resource.about,
    content: controlGroups(registry, resource, fields, view),
    button: `Create ${resource.name.toLowerCase()}`,
    body,
  })
}

/** The fields of the form that changes a row: all, or the one of a cell. */
export const editedFields = (resource: Resource, querystring: string): readonly Field[] => {
  const fields = updatableFields(resource)
  const chosen = fields.filter(({ name }) => name === queryParameters(querystring).get('field'))
  return chosen.length > 0 ? chosen : fields
}

export const editPage = async (visitor: Visitor, request: ResourceRequest): Promise<Page> => {
  const { registry, storage } = visitor
  const { resource, segment, posted } = request
  const fields = editedFields(resource, request.querystring)
  const { id, tag, row } = await findRow(storage, resource, segment)
  if (!(await storage.table(resource).allows('update', id))) throw rowForbidden()
  const labels = await readLabels(visitor, fields, (field) => shownIds({ row, posted }, field))
  const view = { row, labels, posted }
  return rowForm(visitor, resource, {
    kind: 'update',
    request,
    lead: `${resource.name} #${id}`,
    existing: { id, tag, label: rowLabel(resource, row) },
    hidden: { 'form.opened': openedTexts(fields, row) },
    content: controlGroups(registry, resource, fields, view),
    button: 'Save',
    body: await shownBody(visitor, fields, view),
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
    const concerned = referencing.filter((reference) => reference.onDelete === onDelete)
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

export const deletePage = async (visitor: Visitor, request: ResourceRequest): Promise<Page> => {
  const { registry, storage } = visitor
  const { resource, segment } = request
  const { id, tag, row } = await findRow(storage, resource, segment)
  if (!(await storage.table(resource).allows('delete', id))) throw rowForbidden()
  const referrers = await storage.table(resource).referencing(id)
  const effects = deleteEffects(registry, resource, id, referrers.referencing)
  const back = html`<p><a class="button" href="${rowUrl(resource, id)}">Back</a></p>`
  return rowForm(visitor, resource, {
    kind: 'delete',
    request,
    lead: `${resource.name} #${id}`,
    existing: { id, tag, label: rowLabel(resource, row) },
    content: effects.length > 0 ? effects : html`<p class="notice">No other row refers to it.</p>`,
    button: `Delete ${resource.name.toLowerCase()}`,
    ...(referrers.isPrevented && { prevented: html`${preventedReason('It', referrers)}${effects}${back}` }),
  })
}
