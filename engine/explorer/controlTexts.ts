/** The texts that controls of a form show, and that they send. */
import { randomUUID } from 'node:crypto'
import type { Issue } from '../contract/errors.js'
import { isLiteral } from '../contract/textValues.js'
import { indentedJson, JsonText } from '../descriptor/jsonText.js'
import { canonicalOf, isValueOf, kindOf } from '../descriptor/kinds/index.js'
import type { Field, Resource, RowValues, Value } from '../descriptor/registry.js'
import type { Html } from './html.js'
import type { Labels } from './names.js'

/** What is wrong with the rows of a file, or what would become of them. */
export interface CheckedImport {
  readonly issues: readonly Issue[]
  /** How many issues there are, of which only some are shown. */
  readonly total: number
  readonly counts?: ImportCounts
  readonly preview: Html | undefined
}

export interface ImportCounts {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
}

/** What a form has sent, and what came of it: the form is shown again with it. */
export interface Posted {
  /** Names with a dot are no fields: `form.tag` is the tag of the row when the form was opened. */
  readonly texts: URLSearchParams
  readonly status: number
  readonly issues: readonly { readonly field: string; readonly message: string }[]
  /** What is wrong apart from that. */
  readonly message?: string | undefined
  /** The response of a custom operation. */
  readonly response?: string
  /** What the check of a file has found. */
  readonly checked?: CheckedImport
}

/** What a form shows: the row that it changes, if there is one, and what was sent for it. */
export interface FormView {
  readonly row?: RowValues
  readonly labels: Labels
  readonly posted?: Posted | undefined
}

/** The text that a form has sent for a field; undefined if it has no such field. */
export const postedText = ({ texts }: Pick<Posted, 'texts'>, name: string): string | undefined =>
  // The first one: a box that is checked comes before the value that it has otherwise. Browsers end lines with CRLF.
  texts.get(name)?.replaceAll('\r\n', '\n')

/** The id of a row that the script sends instead of its label. */
export const postedId = (text: string | undefined): string | undefined => /^#(.+)$/s.exec(text ?? '')?.[1]

/** The text that a control shows for a value; times have no zone there, and no seconds if these are zero. */
export const controlText = ({ kind, redacted }: Field, value: Value): string => {
  if (value === null || redacted) return ''
  if (value instanceof JsonText) return indentedJson(value.text)
  if (kindOf(kind).input !== 'datetime-local') return String(value)
  return String(value).replace(/(?::00)?(?:\.0+)?Z$/, '')
}

/** The value that the text of a control means, as a text. */
export const meantText = (field: Field, text: string): string => {
  if (kindOf(field.kind).input === 'datetime-local') return `${text.trim().padEnd(19, ':00')}Z`
  return isLiteral(field) ? text.trim() : text
}

/** Whether two texts of a control mean the same: browsers write line breaks and times in a form of their own. */
export const isSameText = (field: Field, first: string, second: string): boolean => {
  const texts = [first, second].map((text) => text.replaceAll(/\r\n?/g, '\n'))
  const values = texts.map((text) => {
    const meant = meantText(field, text)
    return isValueOf(field, meant) ? String(canonicalOf(field, meant)) : text
  })
  return texts[0] === texts[1] || (kindOf(field.kind).input === 'datetime-local' && values[0] === values[1])
}

/** The key under which what a form sends is stored once, however often it is sent; after an answer that says no, it is another one. */
export const formKey = ({ existing }: Resource, posted: Posted | undefined): string | undefined => {
  if (existing) return undefined
  const isOpen = posted !== undefined && (posted.status < 400 || posted.status >= 500)
  return (isOpen && posted.texts.get('form.key')) || randomUUID()
}
