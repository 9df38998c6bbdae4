/** The page of a row: every field, the rows it references, and the rows that reference it. */
import { itemIdParser } from '../contract/parameters.js'
import { kindOf, type ParameterValue } from '../descriptor/kinds/index.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import { type Reference, type Resource, type RowId, referencesTo, updatableFields } from '../descriptor/registry.js'
import { withFilter } from './filters.js'
import { grouped } from './format.js'
import { formerRow, isRestorable, readHistory } from './historyPart.js'
import { type Html, html, type Part } from './html.js'
import { readPanel } from './layout.js'
import { apiUrl, pageUrl, rowUrl, tableUrl } from './links.js'
import { bothNames, fieldTitle, readLabels, rowLabel } from './names.js'
import { rowOperations } from './ownOperations.js'
import type { Page, ResourceRequest, Visitor } from './page.js'
import { countRows, findRow } from './rows.js'
import { fullValue } from './values.js'

export const referrerItem = ({ plural }: Resource, title: string, count: Part, url?: string): Html => {
  const name = html`${plural} <span class="note">by ${title.toLowerCase()}</span>`
  const figure = typeof count === 'number' ? html`<span class="figure">${grouped(count)}</span>` : count
  return html`<li>${url ? html`<a href="${url}">${name}</a>` : html`<span>${name}</span>`} ${figure}</li>`
}

const notCounted = html`<span class="note" title="Only filters are counted">not counted</span>`

/** How many rows reference a row by a field; only fields with a filter are counted, because only they have an index. */
const referrer = async ({ registry, storage }: Visitor, { resource, field }: Reference, id: RowId) => {
  const title = fieldTitle(registry, field)
  if (!field.filter) return referrerItem(resource, title, notCounted)
  const query = withFilter(defaultListQuery, field.name, kindOf(field.kind).parse(id, field) as ParameterValue)
  const { total } = await countRows(storage, resource, query)
  return referrerItem(resource, title, total, tableUrl(resource, query))
}

const actions = async (visitor: Visitor, resource: Resource, id: RowId): Promise<Html> => {
  const table = visitor.storage.table(resource)
  const canEdit = visitor.writes && updatableFields(resource).length > 0 && (await table.allows('update', id))
  const canDelete = visitor.writes && resource.delete && (await table.allows('delete', id))
  return html`<p class="actions">${rowOperations(visitor, resource, id)}
  ${canEdit && html`<a class="button" href="${rowUrl(resource, id, 'edit')}">Edit</a>`}
  ${canDelete && html`<a class="button" href="${rowUrl(resource, id, 'delete')}">Delete</a>`}</p>`
}

/** Why a form of the page was not carried out. */
const failure = ({ posted }: ResourceRequest): Html | false =>
  posted?.message !== undefined && html`<p class="notice error" role="alert">${posted.message}</p>`

/** The page of a deleted row, for those who may read its history. */
const deletedPage = async (visitor: Visitor, request: ResourceRequest, id: RowId): Promise<Page | undefined> => {
  const { resource, posted } = request
  const history = await readHistory(visitor, request, id)
  if (!history) return undefined
  const [newest] = history.entries
  const label = newest ? rowLabel(resource, { id, ...formerRow(newest) }) : `#${id}`
  const isAllowed = await isRestorable(visitor, resource, id, false)
  const main = html`<div class="title"><div><h1><bdi>${label}</bdi></h1><p class="lead">${resource.name} #${id}</p></div></div>
      ${failure(request)}<p class="notice">This row is deleted.</p>${history.section({ tag: undefined, isAllowed })}`
  const crumbs = [{ title: resource.plural, url: pageUrl(resource) }, { title: label }]
  return { title: `${label} · ${resource.plural}`, crumbs, main, ...(posted && { status: posted.status }) }
}

export const rowPage = async (visitor: Visitor, request: ResourceRequest): Promise<Page> => {
  const { registry, storage } = visitor
  const { resource, segment, origin, posted } = request
  const found = await findRow(storage, resource, segment).catch(async (error) => {
    const { id } = itemIdParser(resource)(segment)
    const deleted = id === undefined ? undefined : await deletedPage(visitor, request, id)
    if (!deleted) throw error
    return deleted
  })
  if ('main' in found) return found
  const { id, tag, row } = found
  const labels = await readLabels(visitor, resource.fields, ({ name }) => [row[name]])
  const context = { registry, labels, url: rowUrl(resource, id) }
  const fields = resource.fields.map(
    (
      field,
    ) => html`<div class="field"><dt><span class="field-name">${bothNames(registry, field)}</span>${field.about && html`<span class="note">${field.about}</span>`}</dt>
        <dd>${fullValue(field, row[field.name] ?? null, context)}</dd></div>`,
  )
  const links = await Promise.all(referencesTo(registry, resource.path).map((one) => referrer(visitor, one, id)))
  const label = rowLabel(resource, row)
  const history = await readHistory(visitor, request, id)
  const isAllowed = history !== undefined && (await isRestorable(visitor, resource, id, true))
  const main = html`<div class="title"><div><h1><bdi>${label}</bdi></h1><p class="lead">${resource.name} #${id}</p></div>${await actions(visitor, resource, id)}</div>${failure(request)}
      <div class="row-columns"><dl class="fields">${fields}</dl>
      <div class="beside">${links.length > 0 && html`<section class="referrers" aria-labelledby="referrers-title"><h2 id="referrers-title">Referred to by</h2><ul class="plain-list">${links}</ul></section>`}
      ${readPanel(visitor, ['get', resource], origin, apiUrl(resource, id))}</div></div>${history?.section({ tag, isAllowed })}`
  const crumbs = [{ title: resource.plural, url: pageUrl(resource) }, { title: label }]
  return { title: `${label} · ${resource.plural}`, crumbs, main, ...(posted && { status: posted.status }) }
}
