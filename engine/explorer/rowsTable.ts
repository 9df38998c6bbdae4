/** The rows of a page as a table: the id and the label stay in sight, and the columns that were chosen follow. */
import type { Field, Resource } from '../descriptor/registry.js'
import { cut, type Excerpt, isExcerpt, marked } from './excerpt.js'
import { isNumeric } from './format.js'
import { sumsFoot } from './groups.js'
import { type Html, hiddenInputs, html, joined, type Part } from './html.js'
import {
  columnsParameter,
  fromStart,
  pageUrl,
  rowUrl,
  type TableQuery,
  type TableView,
  tableParameters,
  tableUrl,
} from './links.js'
import { bothNames, fieldTitle, labelFields } from './names.js'
import { renderCell, type ShownRow } from './values.js'

/** The fields that can be a column of their own: all but the id and those of the label. */
export const columnFields = (resource: Resource): Field[] => {
  const frozen = ['id', ...labelFields(resource)]
  return resource.fields.filter(({ name }) => !frozen.includes(name))
}

/** The columns that a query shows, in its order. */
const shownColumns = (resource: Resource, { columns }: TableQuery): Field[] => {
  const fields = columnFields(resource)
  return columns?.flatMap((name) => fields.find((field) => field.name === name) ?? []) ?? fields
}

const pickLabels = (resource: Resource): Field[] =>
  labelFields(resource).flatMap((name) => resource.fields.find((field) => field.name === name) ?? [])

/** The names of a column's fields; where rows can be ordered by one, a link that does so or turns the order around. */
const head = ({ registry, resource, query }: TableView, fields: readonly Field[], kind = '', before?: Part): Html => {
  const { order } = query
  const titles = fields.map((field) => {
    const { name } = field
    const descending = order.field === name && !order.descending
    const url = tableUrl(resource, fromStart({ ...query, order: { field: name, descending } }))
    const arrow = order.field === name && html`<span aria-hidden="true">${order.descending ? ' ↓' : ' ↑'}</span>`
    const title = fieldTitle(registry, field)
    return name === 'id' || field.sort ? html`<a href="${url}">${title}${arrow}</a>` : title
  })
  const isOrder = fields.some(({ name }) => name === order.field)
  const direction = isOrder && html` aria-sort="${order.descending ? 'descending' : 'ascending'}"`
  const raw = fields.map(({ name }) => name).join(' ')
  const column = kind.startsWith('id') ? undefined : fields[0]?.name
  return html`<th scope="col"${direction} class="${kind}"${column !== undefined && html` data-column="${column}"`} title="${fields[0]?.about}">${before}${joined(titles, ' ')}<code class="raw">${raw}</code></th>`
}

/** Tells the script that a cell can be edited in place, and which field it has. */
const editable = ({ editable: names }: TableView, fields: readonly string[]): Part => {
  const field = fields.find((name) => names.includes(name))
  return field !== undefined && html` data-field="${field}"`
}

/** So much of a label is in sight on a phone. */
const labelLength = 14

/** The label of a row with its matches; if none is in sight, a line says where the search has matched, because that column may be out of sight too. */
const labelCell = (view: TableView, row: ShownRow, url: string): Html => {
  const { registry, resource } = view
  const parts = labelFields(resource).flatMap((name): Part[] => {
    const value = row[name] ?? null
    if (isExcerpt(value)) return value.text.trim() === '' ? [] : [marked(value.text, value.ranges, 0, 80)]
    return value === null ? [] : [String(value)]
  })
  const matches = resource.fields.flatMap((field) => {
    const value = row[field.name]
    return isExcerpt(value) && value.ranges.length > 0 ? [{ field, value }] : []
  })
  const [first] = matches
  let before = 0
  const isInSight = labelFields(resource).some((name) => {
    const value = row[name]
    if (!isExcerpt(value)) return false
    const end = before + (value.ranges[0]?.[1] ?? labelLength + 1)
    before += value.text.length + 1
    return end <= labelLength
  })
  const matchLine = !isInSight && first && matchIn(fieldTitle(registry, first.field), first.value)
  return html`<th scope="row" class="label"${editable(view, labelFields(resource))}><a href="${url}"><bdi>${parts.length > 0 ? joined(parts, ' ') : `#${row['id']}`}</bdi></a>${matchLine}</th>`
}

/** The label of a row as a text. */
const labelText = (resource: Resource, row: ShownRow): string => {
  const parts = labelFields(resource).map((name) => {
    const value = row[name] ?? ''
    return isExcerpt(value) ? value.text : String(value)
  })
  return cut(parts.join(' ').trim(), 0, 60) || `#${row['id']}`
}

const matchIn = (title: string, { text, ranges, from: skipped }: Excerpt): Html => {
  const from = Math.max(0, (ranges[0]?.[0] ?? 0) - 4)
  return html`<small class="match"><span>${title}:</span> <bdi>${from + skipped > 0 && '…'}${marked(text, ranges, from, 60)}</bdi></small>`
}

/** Room for ids of so many digits: the label is frozen beside them. */
const idWidths = [4, 8, 16]

export const rowsTable = (view: TableView, rows: readonly ShownRow[], sums?: Parameters<typeof sumsFoot>[3]): Html => {
  const { resource, query } = view
  const fields = shownColumns(resource, query)
  const hasLabel = labelFields(resource).length > 0
  const idField = resource.fields.slice(0, 1)
  const digits = Math.max(...rows.map((row) => String(row['id']).length))
  const width = idWidths.find((most) => digits <= most) ?? 16
  const isCut = digits > width
  const isSelectable = view.isSelectable
  const box = (name: string, attributes: Part) =>
    isSelectable && html`<input type="checkbox" aria-label="${name}"${attributes}>`
  const lines = rows.map((row) => {
    const id = String(row['id'])
    const select = box(`Select ${labelText(resource, row)}`, html` form="chosen" name="id" value="${id}"`)
    const url = rowUrl(resource, String(row['id']))
    const cells = fields.map((field) =>
      renderCell(field, row[field.name] ?? null, { ...view, url }, editable(view, [field.name])),
    )
    return html`<tr data-row="${url}"><th scope="row" class="id number">${select}<a href="${url}"${isCut && html` title="${String(row['id'])}"`}>${String(row['id'])}</a></th>${hasLabel && labelCell(view, row, url)}${cells}</tr>`
  })
  const heads = [
    head(view, idField, 'id number', box('Select all rows of this page', html` class="all-rows" hidden`)),
    hasLabel && head(view, pickLabels(resource), 'label'),
    ...fields.map((field) => head(view, [field], isNumeric(field) && !field.redacted ? 'number' : '')),
  ]
  return html`<div class="frame"><div class="scroll" tabindex="0" role="region" aria-label="Table of ${resource.plural.toLowerCase()}"><table class="ids-${width} ${isSelectable && 'selectable'}"><thead><tr>${heads}</tr></thead><tbody>${lines}</tbody>${sumsFoot(view, fields, heads.filter(Boolean).length - fields.length, sums)}</table></div></div>`
}

export const columnChooser = ({ registry, resource, query }: TableView): Html | undefined => {
  const fields = columnFields(resource)
  if (fields.length < 2) return undefined
  const name = columnsParameter(resource)
  const shownFields = shownColumns(resource, query)
  // What is shown stands first, in its order.
  const boxes = [...new Set([...shownFields, ...fields])].map(
    (field) =>
      html`<li><label><input type="checkbox" name="${name}" value="${field.name}"${shownFields.includes(field) && html` checked`}> ${bothNames(registry, field)}</label></li>`,
  )
  const hidden = hiddenInputs(tableParameters(resource, fromStart({ ...query, columns: undefined })))
  const allColumnsUrl = tableUrl(resource, { ...query, columns: undefined })
  return html`<details class="chooser columns-menu"><summary>Columns <span class="note">${shownFields.length} of ${fields.length}</span></summary><form action="${pageUrl(resource)}" data-navigate>${hidden}<ul class="boxes" data-all="${fields.map((field) => field.name).join(' ')}">${boxes}</ul>
    <p><button>Show these</button> <a class="all-columns" href="${allColumnsUrl}">All</a></p></form></details>`
}

/** The menu of the views that a person has named; the script keeps them in the browser. */
export const viewsMenu = html`<details class="chooser views" hidden><summary>Views <span class="note count"></span></summary><div><ul class="plain-list"></ul>
  <form><label>Name <input maxlength="60" autocomplete="off"></label> <button>Keep this view</button></form></div></details>`
