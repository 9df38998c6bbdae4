/** What was done by a form, for the page that follows: a message, and a button that undoes a change. */
import { JsonText } from '../descriptor/jsonText.js'
import type { Field, Resource, RowId, RowValues, Value } from '../descriptor/registry.js'
import { type Html, html, type Part } from './html.js'
import { batchPath } from './links.js'

export interface Done {
  /** The page that follows. */
  readonly next: string
  readonly message: Part
  /** The row that was created. */
  readonly row?: { readonly id: RowId; readonly label: string }
}

/** What the script of a form gets: without it, the service leads on. */
export const renderDone = ({ next, message, row }: Done): Html =>
  html`<div id="done" data-next="${next}" data-id="${row?.id}" data-label="${row?.label}"><p class="notice done" role="status">${message}</p></div>`

/** A row before a change and after it, and the tag that it has now. */
export interface Edited {
  readonly id: RowId
  readonly tag: string
  readonly before: RowValues
  readonly after: RowValues
}

const valueJson = (value: Value = null): string => (value instanceof JsonText ? value.text : JSON.stringify(value))

/** Whether the steps of a status lead back, and the old value is known. */
const canGoBack = ({ name, redacted, next }: Field, { before, after }: Edited): boolean => {
  const [old, now] = [before[name] ?? null, after[name] ?? null]
  return !redacted && (!next || old === now || next[String(now)]?.includes(old as never) === true)
}

/** Undoes changes by updates with the old values, under the tags that the rows have now; there is none if one cannot be undone. */
export const undoButton = ({ path }: Resource, fields: readonly Field[], changes: readonly Edited[]): Html | false => {
  const operations = changes.map(({ id, tag, before }) => {
    const head = { method: 'PATCH', path: `/v1/${path}/${encodeURIComponent(id)}`, ifMatch: `"${tag}"` }
    const members = fields.map(({ name }) => `${JSON.stringify(name)}:${valueJson(before[name])}`)
    return `${JSON.stringify(head).slice(0, -1)},"body":{${members.join(',')}}}`
  })
  const isPossible = fields.length > 0 && changes.every((change) => fields.every((field) => canGoBack(field, change)))
  const body = `{"operations":[${operations.join(',')}]}`
  return (
    isPossible && html` <button type="button" class="undo" data-url="${batchPath}" data-body="${body}">Undo</button>`
  )
}
