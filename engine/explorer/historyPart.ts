/** The history of a row on its page: what has changed, and the buttons that bring a former state back. */
import { queryParameters } from '../contract/parameters.js'
import { indentedJson, parseJson } from '../descriptor/jsonText.js'
import { isJson } from '../descriptor/kinds/index.js'
import { historyDays } from '../descriptor/logging.js'
import {
  type Field,
  type Resource,
  type RowId,
  type RowValues,
  updatableFields,
  type Value,
} from '../descriptor/registry.js'
import type { HistoryEntry } from '../storage/storage.js'
import { formKey } from './controlTexts.js'
import { cut } from './excerpt.js'
import { formatted, grouped } from './format.js'
import { type Html, hiddenInputs, html, type Part } from './html.js'
import { rowUrl } from './links.js'
import { fieldTitle, type Labels, readLabels } from './names.js'
import type { ResourceRequest, Visitor } from './page.js'
import { plainValue } from './values.js'

const pageSize = 20n

/** A longer value is shown by its beginning. */
const maxLength = 200

const offsetParameter = 'history'

const verbs = { create: 'Created', update: 'Changed', delete: 'Deleted' } as const

const readJson = (json: string): Value => parseJson(json) as Value

/** The values of a row as it was, for its label. */
export const formerRow = ({ row = new Map() }: HistoryEntry): RowValues =>
  Object.fromEntries([...row].map(([name, json]) => [name, readJson(json)]))

const short = (field: Field, value: Exclude<Value, null>, text: string): Html =>
  field.tones ? plainValue(field, text, text) : formatted(field, value)

const former = (visitor: Visitor, labels: Labels, field: Field, json: string): Html => {
  if (json === 'null') return html`<span class="none">–</span>`
  const value = readJson(json) as Exclude<Value, null>
  const target = visitor.registry.find(({ path }) => path === field.references)
  const label = target && labels(target, value)
  if (label !== undefined) return html`<bdi>${label}</bdi>`
  const text = isJson(field) ? indentedJson(json) : String(value)
  if (text.length > maxLength) return html`<bdi>${cut(text, 0, maxLength)}…</bdi>`
  return isJson(field) || typeof value === 'object' ? html`<code>${text}</code>` : short(field, value, text)
}

interface Restorable {
  /** The tag of the row, if it is there. */
  readonly tag: string | undefined
  readonly isAllowed: boolean
}

const restoreForm = (
  { resource, posted }: ResourceRequest,
  id: RowId,
  entry: HistoryEntry,
  tag: string | undefined,
): Html => {
  const values = { 'form.state': entry.position, 'form.tag': tag, 'form.key': formKey(resource, posted) }
  const inputs = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined)
  const isUndo = tag === undefined && entry.op === 'delete'
  return html`<form method="post" action="${rowUrl(resource, id, 'restore')}" enctype="multipart/form-data">${hiddenInputs(inputs)}<button>${isUndo ? 'Undo' : 'Restore'}</button></form>`
}

/** The section with the history of a row, and its newest entries; undefined if the visitor may read none. */
export const readHistory = async (visitor: Visitor, request: ResourceRequest, id: RowId) => {
  const { resource, querystring } = request
  if (historyDays(resource) === undefined) return undefined
  const given = queryParameters(querystring).get(offsetParameter) ?? ''
  const offset = /^\d{1,15}$/.test(given) ? BigInt(given) : 0n
  const history = await visitor.history(resource, id, { limit: Number(pageSize), offset })
  if (!history) return undefined
  const { entries, total } = history
  const fields = new Map(resource.fields.map((field) => [field.name, field]))
  const labels = await readLabels(visitor, resource.fields, ({ name }) =>
    entries.flatMap(({ changed }) => (changed.get(name) ?? []).map((json) => readJson(json))),
  )
  const changes = ({ changed, op }: HistoryEntry): Html[] =>
    [...changed].flatMap(([name, values]) => {
      const field = fields.get(name)
      if (!field || name === 'id') return []
      const [before, after] = values.map((json) => former(visitor, labels, field, json))
      const value: Part = op === 'update' ? html`${before} → ${after}` : op === 'create' ? after : before
      return [html`<div><dt>${fieldTitle(visitor.registry, field)}</dt><dd>${value}</dd></div>`]
    })
  const page = (from: bigint, text: string) =>
    html`<a href="${rowUrl(resource, id)}?${offsetParameter}=${String(from)}">${text}</a> `
  const section = ({ tag, isAllowed }: Restorable): Html => {
    const items = entries.map((entry, n) => {
      const { at, by, op, row } = entry
      const moment = new Date(at).toISOString()
      const time = html`<time datetime="${moment}">${moment.slice(0, 19).replace('T', ' ')}</time>`
      const isNow = offset === 0n && n === 0 && tag !== undefined && op !== 'delete'
      const restore = isAllowed && row && !isNow && restoreForm(request, id, entry, tag)
      return html`<li><p>${verbs[op]} ${by === null ? 'by another program' : html`by <bdi>${by}</bdi>`} <span class="note">${time}</span> ${restore}</p><dl>${changes(entry)}</dl></li>`
    })
    const older = offset + pageSize < BigInt(total) && page(offset + pageSize, 'Older')
    const newer = offset > 0n && page(offset > pageSize ? offset - pageSize : 0n, 'Newer')
    return html`<section class="history" aria-labelledby="history-title"><h2 id="history-title">History <span class="figure">${grouped(total)}</span></h2>
      <ol class="plain-list">${items}</ol>${(newer || older) && html`<p>${newer}${older}</p>`}</section>`
  }
  return { entries, section }
}

/** Whether a former state can be restored by somebody who may change, or create, such a row. */
export const isRestorable = async (visitor: Visitor, resource: Resource, id: RowId, isThere: boolean) => {
  if (!visitor.writes) return false
  if (!isThere) return resource.create
  return updatableFields(resource).length > 0 && visitor.storage.table(resource).allows('update', id)
}
