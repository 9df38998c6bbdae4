/** The control of a field in the form of a new row, or of one that exists. */
import { canonicalOf, kindOf } from '../descriptor/kinds/index.js'
import {
  type Field,
  type GivenValue,
  isMandatory,
  type Registry,
  type Resource,
  type Value,
} from '../descriptor/registry.js'
import { shownText } from './conflicts.js'
import type { FormView } from './controlTexts.js'
import { inputType, readable } from './format.js'
import { type Html, html } from './html.js'
import { pageUrl } from './links.js'
import { bothNames, fieldTitle, referencedResource } from './names.js'
import { ruleWords } from './ruleWords.js'

const formats = { date: 'YYYY-MM-DD', timestamp: 'YYYY-MM-DDTHH:MM:SSZ' }

const presetText = (value: GivenValue): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** The default as it would be stored now; an update has none. */
const defaultText = ({ default: source }: Field, { row }: FormView): string | undefined =>
  source === undefined || row ? undefined : presetText(typeof source === 'function' ? source() : source)

/** Whether a control may not be left empty; a box that is not checked has a value too. */
const isNeeded = (field: Field, { row }: FormView): boolean =>
  kindOf(field.kind).input !== 'checkbox' && (row ? field.required : isMandatory(field))

const isLong = (value: Value | undefined): boolean =>
  typeof value === 'string' && (value.length > 80 || /[\n\r]/.test(value))

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
  const { input, step } = kindOf(kind)
  // The control has times without a zone; the service has them in UTC.
  const bound = (value: typeof min) =>
    input === 'datetime-local' ? String(canonicalOf(field, value)).slice(0, -1) : value
  const attributes = {
    min: min === undefined ? undefined : bound(min),
    max: max === undefined ? latest[input] : bound(max),
    step,
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

const renderSelect = (field: Field, view: FormView, common: Html, values: readonly unknown[], chosen: string): Html => {
  const preset = defaultText(field, view)
  const none = preset === undefined ? (isMandatory(field) ? 'Choose' : '–') : `Default: ${readable(field, preset)}`
  const isOptional = !view.row || chosen === '' || !(field.required || field.next)
  // A row that is older than the rule may have another value.
  const texts = [...new Set([...values.map(String), ...(chosen ? [chosen] : [])])]
  const options = texts.map(
    (value) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${field.oneOf ? value : readable(field, value)}</option>`,
  )
  return html`<select ${common}>${isOptional && html`<option value="">${none}</option>`}${options}</select>`
}

/** Any text is accepted; the picker beside it writes the usual form. */
const withPicker = (registry: Registry, field: Field, input: Html): Html =>
  html`<span class="with-picker">${input}<input type="${inputType(field)}" class="picker" tabindex="-1" aria-label="Choose ${fieldTitle(registry, field).toLowerCase()} from a calendar" hidden></span>`

/** The values to choose from: for a new row those with which it may begin; then what is stored, and what may follow it. */
const possibleValues = ({ next, start, oneOf = [] }: Field, { row }: FormView, stored: Value) => {
  if (!row) return start
  return next && stored !== null && oneOf.includes(stored) ? [stored, ...(next[String(stored)] ?? [])] : undefined
}

/** Shows the name of the row that a reference stands for; the id is beside it. */
const referenceInput = (target: Resource, common: Html, id: string, { labels }: FormView): Html => {
  const label = id === '' ? undefined : labels(target, id)
  const valueAttributes = id !== '' && html` value="${label ?? id}"${label !== undefined && html` data-id="${id}"`}`
  const create = target.create && html` data-new="${pageUrl(target, 'new')}" data-noun="${target.name.toLowerCase()}"`
  return html`<div class="combobox"><input ${common}${valueAttributes} dir="auto" data-choices="${pageUrl(target, 'choices')}"${create} placeholder="Type a name or an id"><span class="picked note">${label !== undefined && `#${id}`}</span></div>`
}

const renderInput = (
  registry: Registry,
  resource: Resource,
  field: Field,
  view: FormView,
  text: string,
  isWrong: boolean,
): Html => {
  const { name, kind, oneOf, format, redacted } = field
  const target = referencedResource(registry, field)
  const { input } = kindOf(kind)
  const stored = view.row?.[name] ?? null
  const value = text !== '' && html` value="${text}"`
  const common = html`id="field-${name}" name="${name}" autocomplete="off" aria-describedby="help-${name} issue-${name}"${isNeeded(field, view) && html` aria-required="true"`}${isWrong && html` aria-invalid="true"`}`
  if (target) return referenceInput(target, common, text, view)
  const isBox = input === 'checkbox' && field.required
  const values = possibleValues(field, view, stored) ?? oneOf ?? (input === 'checkbox' ? [true, false] : undefined)
  if (values && !isBox) return renderSelect(field, view, common, values, text)
  const hint = defaultText(field, view) ?? (view.row && redacted ? 'Redacted' : format ? formats[format] : '')
  const placeholder = html` placeholder="${hint}"`
  if (format && kindOf(kind).isText) return withPicker(registry, field, html`<input ${common}${value}${placeholder}>`)
  if (field.filter && kindOf(kind).isText && !isLong(text))
    return html`<div class="combobox"><input ${common}${value} dir="auto"${placeholder}${ruleAttributes(field)} data-choices="${pageUrl(resource, 'values')}?field=${name}"></div>`
  // A parser drops the first line feed of a textarea.
  if (input === 'textarea' || isMultiline(resource, field) || isLong(text))
    return html`<textarea rows="1" ${common} dir="auto"${placeholder}${ruleAttributes(field)}>
${text}</textarea>`
  // Without bounds a number is typed as a text: the wheel of a mouse changes the other kind of input.
  const isPlainNumber = input === 'number' && field.min === undefined && field.max === undefined
  if (isPlainNumber) return html`<input inputmode="decimal" ${common}${value}${placeholder}>`
  const isChecked = (text || defaultText(field, view)) === 'true'
  if (isBox)
    return html`<input type="checkbox" ${common} value="true"${isChecked && html` checked`}><input type="hidden" name="${name}" value="false">`
  // To the minute, unless the value says more.
  const step =
    input === 'datetime-local' && /:\d\d:\d\d/.test(text) && html` step="${text.includes('.') ? '0.001' : '1'}"`
  return html`<input type="${input}" ${common}${value}${step}${input === 'text' && html` dir="auto"`}${placeholder}${ruleAttributes(field)}>`
}

export const control = (registry: Registry, resource: Resource, field: Field, view: FormView): Html => {
  const { name, about, kind } = field
  const { input } = kindOf(kind)
  const preset = input.startsWith('date') && defaultText(field, view)
  const help = [
    about,
    ...ruleWords(registry, resource, field, view.row !== undefined).map((words) => `${words}.`),
    input === 'datetime-local' && 'In UTC, not in your time zone.',
    preset && `Default: ${readable(field, preset)}.`,
    view.row && field.redacted && 'Never shown: leave it empty to keep it.',
  ].filter(Boolean)
  const { text, other } = shownText(registry, field, view)
  const messages = view.posted?.issues.filter((issue) => issue.field === name).map(({ message }) => message) ?? []
  return html`<div class="control"><label for="field-${name}">${bothNames(registry, field)}${isNeeded(field, view) && html` <span class="required">required</span>`}</label>
    ${renderInput(registry, resource, field, view, text, messages.length > 0)}<p class="help" id="help-${name}">${help.join(' ')}</p><p class="issue" id="issue-${name}">${messages.join(' ')}</p>${other}</div>`
}
