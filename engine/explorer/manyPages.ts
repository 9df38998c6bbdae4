/** The pages that delete or change many rows at once: those that were selected in a table, or all that match its query. */
import { z } from 'zod'
import { maxOperations } from '../contract/batchBody.js'
import { bodyInvalid } from '../contract/errors.js'
import { bodyIssue } from '../contract/issues.js'
import { hasTooManyValues } from '../contract/jsonScan.js'
import { queryParameters } from '../contract/parameters.js'
import {
  type Field,
  parseId,
  type Resource,
  type RowId,
  type RowValues,
  updatableFields,
} from '../descriptor/registry.js'
import type { Caller, Storage } from '../storage/storage.js'
import type { Referencing } from '../storage/writeData.js'
import { shownIds } from './conflicts.js'
import { control } from './controls.js'
import { formKey, type Posted } from './controlTexts.js'
import { grouped } from './format.js'
import { deleteEffects, doubtOf, formOrSignIn, preventedReason, renderForm } from './formPages.js'
import { type Html, html, type Part } from './html.js'
import { columnsParameter, pageUrl, rowUrl, type TableQuery, tableParameters, tableUrl, uiParameter } from './links.js'
import { fieldTitle, readLabels, rowLabel } from './names.js'
import type { Page, ResourceRequest, Visitor } from './page.js'
import { countRows, findRow } from './rows.js'
import { parserOf } from './tableQuery.js'

/** A row that was selected, as it was read. */
export interface Chosen {
  readonly id: RowId
  readonly tag: string
  readonly row: RowValues
}

interface RowSelection {
  /** The table that the rows were selected in. */
  readonly query: TableQuery
  readonly isAll: boolean
  readonly ids: readonly RowId[]
  /** More than can be changed at once. */
  readonly total: number
}

/** How many names of rows a page shows. */
const maxNames = 20

const allParameter = (resource: Resource): string => uiParameter(resource, 'all')
const fieldParameter = (resource: Resource): string => uiParameter(resource, 'field')

/** The ids of all rows of a query, up to the most that one batch takes. */
const matchingIds = async (storage: Storage, resource: Resource, query: TableQuery, caller: Caller) => {
  const { total } = await countRows(storage, resource, query, caller)
  const ids: RowId[] = []
  if (total > maxOperations) return { ids, total }
  let partialLine = ''
  for await (const part of storage.table(resource).stream(query, caller)) {
    const lines = (partialLine + Buffer.from(part).toString()).split('\n')
    partialLine = lines.pop() ?? ''
    ids.push(...lines.map((line) => String((JSON.parse(line) as RowValues)['id'])))
  }
  return { ids, total: ids.length }
}

const rowsSchema = z.array(z.tuple([z.string(), z.string()]))

/** The rows that a form has sent: the id of each, and its tag on the page. */
export const sentRows = (
  resource: Resource,
  { texts }: Pick<Posted, 'texts'>,
): (readonly [id: RowId, tag: string])[] => {
  try {
    const source = texts.get('form.rows') ?? ''
    // An id, a tag and what is around them.
    if (hasTooManyValues(Buffer.from(source), 3 * maxOperations)) throw new Error('too many rows')
    const rows = rowsSchema.parse(JSON.parse(source))
    if (rows.length > maxOperations) throw new Error('too many rows')
    return rows.filter(([id]) => parseId(resource, id) !== undefined)
  } catch {
    throw bodyInvalid([bodyIssue('missing', 'The form names no rows.')])
  }
}

/** The query of the table in which the rows were selected. */
const queryOf = (resource: Resource, querystring: string): TableQuery => {
  const pairs = queryParameters(querystring)
  const names = ['id', allParameter(resource), fieldParameter(resource)]
  const list = new URLSearchParams([...pairs].filter(([name, value]) => !names.includes(name) && value !== ''))
  return { ...parserOf(resource)(list.toString()), columns: pairs.get(columnsParameter(resource))?.split(',') }
}

/** The address of that table. */
export const tableOf = (resource: Resource, querystring: string): string =>
  tableUrl(resource, queryOf(resource, querystring))

const readSelection = async (
  { storage }: Visitor,
  { resource, querystring, caller, posted }: ResourceRequest,
): Promise<RowSelection> => {
  const parameters = queryParameters(querystring)
  const isAll = parameters.has(allParameter(resource))
  const query = queryOf(resource, querystring)
  if (posted) {
    const ids = sentRows(resource, posted).map(([id]) => id)
    return { query, isAll, ids, total: ids.length }
  }
  if (isAll) return { query, isAll, ...(await matchingIds(storage, resource, query, caller)) }
  const ids = new Set(parameters.getAll('id').flatMap((text) => parseId(resource, text) ?? []))
  return { query, isAll, ids: [...ids], total: ids.size }
}

export const loadRows = async ({ storage }: Visitor, resource: Resource, ids: readonly RowId[]): Promise<Chosen[]> => {
  const rows: Chosen[] = []
  for (const id of ids) {
    // A row that is gone needs no change.
    const row = await findRow(storage, resource, encodeURIComponent(id)).catch(() => undefined)
    if (row) rows.push(row)
  }
  return rows
}

export const rowCount = (resource: Resource, count: number): string =>
  `${grouped(count)} ${(count === 1 ? resource.name : resource.plural).toLowerCase()}`

interface ManyPageParts {
  readonly verb: 'Delete' | 'Edit'
  readonly request: ResourceRequest
  readonly selection: RowSelection
  readonly rows: readonly Chosen[]
  /** Stands before the form. */
  readonly head?: Part
  readonly content: Part
  readonly button: string
  readonly prevented?: Part
}

const nameList = (resource: Resource, rows: readonly Chosen[]): Html => {
  const names = rows
    .slice(0, maxNames)
    .map(({ id, row }) => html`<li><a href="${rowUrl(resource, id)}"><bdi>${rowLabel(resource, row)}</bdi></a></li>`)
  const more = rows.length - names.length
  return html`<ul class="chosen-rows plain-list">${names}${more > 0 && html`<li>and ${grouped(more)} more</li>`}</ul>`
}

const manyPage = (visitor: Visitor, resource: Resource, many: ManyPageParts): Page => {
  const { verb, request, selection, rows, content } = many
  const { querystring, posted } = request
  const back = tableUrl(resource, selection.query)
  const title = `${verb} ${rowCount(resource, selection.total)}`
  const action = `${pageUrl(resource, `${verb.toLowerCase()}-many`)}?${querystring}`
  const form = renderForm({
    id: 'many',
    action,
    hidden: {
      'form.rows': JSON.stringify(rows.map(({ id, tag }) => [id, tag])),
      'form.key': formKey(resource, posted),
    },
    content,
    button: many.button,
    isDangerous: verb === 'Delete',
    back,
    doubt: doubtOf(resource, 'the rows', verb === 'Delete' ? 'deleted' : 'saved'),
    posted,
  })
  const tooMany = html`<p class="notice error">At most ${grouped(maxOperations)} rows are changed at once, all or none. Narrow the table by a search or a filter first.</p>`
  const refused =
    selection.total > maxOperations ? tooMany : rows.length === 0 ? html`<p class="notice">No row is selected.</p>` : ''
  const stopped = refused || many.prevented
  const main = html`<div class="title"><div><h1>${title}${verb === 'Delete' && '?'}</h1><p class="lead">All or none of them.</p></div></div>
    <div class="row-columns"><div>${formOrSignIn(visitor, action, stopped ? html`${stopped}<p><a class="button" href="${back}">Back</a></p>` : html`${many.head}${form}`)}</div>
    <div class="beside"><section class="referrers" aria-label="Selected rows"><h2>${rowCount(resource, rows.length)}</h2>${nameList(resource, rows)}</section></div></div>`
  const crumbs = [{ title: resource.plural, url: back }, { title: verb }]
  return { title, crumbs, main, ...(posted && { status: posted.status }) }
}

/** Rows that the visitor may not change; the batch would fail for them. */
const forbiddenRows = async (
  { storage }: Visitor,
  resource: Resource,
  kind: 'update' | 'delete',
  rows: readonly Chosen[],
): Promise<Html | undefined> => {
  if (!resource.access) return undefined
  const table = storage.table(resource)
  const forbidden: Chosen[] = []
  for (const row of rows) if (!(await table.allows(kind, row.id))) forbidden.push(row)
  if (forbidden.length === 0) return undefined
  return html`<section class="referrers error"><p>You may not ${kind === 'update' ? 'change' : 'delete'} these:</p>${nameList(resource, forbidden)}</section>`
}

/** What refers to some rows, counted together. */
const referencingAll = async ({ storage }: Visitor, resource: Resource, rows: readonly Chosen[]) => {
  const table = storage.table(resource)
  const sums = new Map<string, Referencing>()
  let [isPrevented, isTooMany] = [false, false]
  for (const { id } of rows) {
    const references = await table.referencing(id)
    isPrevented ||= references.isPrevented
    isTooMany ||= references.isTooMany
    for (const reference of references.referencing) {
      const key = `${reference.resource} ${reference.field} ${reference.onDelete}`
      sums.set(key, { ...reference, count: reference.count + (sums.get(key)?.count ?? 0) })
    }
  }
  return { referencing: [...sums.values()], isPrevented, isTooMany }
}

export const deleteManyPage = async (visitor: Visitor, request: ResourceRequest): Promise<Page> => {
  const { resource } = request
  const selection = await readSelection(visitor, request)
  const rows = await loadRows(visitor, resource, selection.ids)
  const links = await referencingAll(visitor, resource, rows)
  const forbidden = await forbiddenRows(visitor, resource, 'delete', rows)
  const effects = deleteEffects(visitor.registry, resource, undefined, links.referencing)
  const count = grouped(rows.length)
  return manyPage(visitor, resource, {
    verb: 'Delete',
    request,
    selection,
    rows,
    content: effects.length > 0 ? effects : html`<p class="notice">No other row refers to them.</p>`,
    button: `Delete ${count} ${rows.length === 1 ? 'row' : 'rows'}`,
    prevented: forbidden ?? (links.isPrevented ? html`${preventedReason('They', links)}${effects}` : undefined),
  })
}

/** The value that all rows have; null if they differ. */
const sharedValue = (rows: readonly Chosen[], { name }: Field) => {
  const [first = null, ...otherValues] = rows.map(({ row }) => row[name] ?? null)
  return otherValues.every((value) => JSON.stringify(value) === JSON.stringify(first)) ? first : null
}

/** Chooses the field that is changed; the page is loaded again with its control. */
const fieldChooser = ({ registry }: Visitor, resource: Resource, field: Field, parameters: URLSearchParams): Html => {
  const name = fieldParameter(resource)
  const otherParameters = [...parameters].filter(([one]) => one !== name)
  const options = updatableFields(resource).map(
    (one) => html`<option value="${one.name}"${one === field && html` selected`}>${fieldTitle(registry, one)}</option>`,
  )
  return html`<form class="field-chooser" action="${pageUrl(resource, 'edit-many')}" data-navigate>${otherParameters.map(([one, value]) => html`<input type="hidden" name="${one}" value="${value}">`)}
    <div class="control"><label for="many-field">Field</label><select id="many-field" name="${name}" data-submit>${options}</select> <button class="without-script">Choose</button></div></form>`
}

/** The field that is changed in all rows. */
export const manyField = (resource: Resource, querystring: string): Field => {
  const fields = updatableFields(resource)
  const name = queryParameters(querystring).get(fieldParameter(resource))
  return fields.find((field) => field.name === name) ?? (fields[0] as Field)
}

export const editManyPage = async (visitor: Visitor, request: ResourceRequest): Promise<Page> => {
  const { registry } = visitor
  const { resource } = request
  const parameters = queryParameters(request.querystring)
  const field = manyField(resource, request.querystring)
  const selection = await readSelection(visitor, request)
  const rows = await loadRows(visitor, resource, selection.ids)
  const value = sharedValue(rows, field)
  const row = { [field.name]: value }
  const { posted } = request
  const labels = await readLabels(visitor, [field], () => shownIds({ row, posted }, field))
  const count = grouped(rows.length)
  return manyPage(visitor, resource, {
    verb: 'Edit',
    request,
    selection,
    rows,
    head: fieldChooser(visitor, resource, field, parameters),
    content: control(registry, resource, field, { row, labels, posted }),
    button: `Set ${fieldTitle(registry, field)} of ${count} ${rows.length === 1 ? 'row' : 'rows'}`,
    prevented: await forbiddenRows(visitor, resource, 'update', rows),
  })
}

/** The form by which a table sends the rows that are selected. */
export const selectionForm = (resource: Resource, query: TableQuery, total: number): Html | undefined => {
  const canEdit = updatableFields(resource).length > 0
  if (!canEdit && !resource.delete) return undefined
  const hidden = tableParameters(resource, query).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const button = (verb: string, path: string) =>
    html`<button formaction="${pageUrl(resource, path)}" data-verb="${verb}">${verb} the selected rows</button>`
  return html`<form id="chosen" class="selection" action="${pageUrl(resource)}" data-navigate data-total="${total}">${hidden}
    <span class="selected-count" role="status"></span> ${canEdit && button('Edit', 'edit-many')} ${resource.delete && button('Delete', 'delete-many')}
    <label class="all-matches" hidden><input type="checkbox" name="${allParameter(resource)}" value="true"> All ${grouped(total)} matches</label> <button type="button" class="clear-selection" hidden>Clear</button></form>`
}
