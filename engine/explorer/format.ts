/** Values as people read them: grouped digits, days such as 1 Mar 2026, yes and no. The exact value stays at hand. */
import { isMoment, isNumber, kindOf } from '../descriptor/kinds/index.js'
import type { Field, Value } from '../descriptor/registry.js'
import { type Html, html } from './html.js'

/** A text of more characters is no number of a row, and would take long to group. */
const maxDigits = 400

/** A count or another number; every digit is kept. */
export const grouped = (value: number | string): string => {
  const [whole = '', ...fraction] = String(value).split('.')
  return [
    /e/.test(whole) || whole.length > maxDigits ? whole : whole.replaceAll(/\B(?=(\d{3})+$)/g, ','),
    ...fraction,
  ].join('.')
}

export const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A date, or a time in UTC, of ISO 8601; undefined for any other text. */
const readMoment = (text: string): string | undefined => {
  const moment = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d)(:\d\d)?(?:\.\d+)?Z)?$/
  const [, year, month, day, minute, second = ':00'] = moment.exec(text) ?? []
  const name = months[Number(month) - 1]
  const time = minute && `, ${minute}${second === ':00' ? '' : second}`
  return name && `${Number(day)} ${name} ${year}${time ?? ''}`
}

/** Whether values are numbers for people; a reference is a name. */
export const isNumeric = (field: Field): boolean => isNumber(field) && field.references === undefined

/** The input for values of a field; of a text with a format, that of its format. */
export const inputType = ({ kind, format }: Field): string =>
  format ? { date: 'date', timestamp: 'datetime-local' }[format] : kindOf(kind).input

export const readable = (field: Field, value: Exclude<Value, null>): string => {
  if (typeof value === 'boolean' || (kindOf(field.kind).input === 'checkbox' && /^(true|false)$/.test(value as string)))
    return String(value) === 'true' ? 'Yes' : 'No'
  // A year is a name, not an amount.
  if (isNumeric(field)) return /(^|_)year$/.test(field.name) ? String(value) : grouped(value as number | string)
  return (isMoment(field) && readMoment(String(value))) || String(value)
}

/** A value as people read it; a moment has its ISO form as a title. */
export const formatted = (field: Field, value: Exclude<Value, null>): Html => {
  const text = readable(field, value)
  return isMoment(field) && text !== value
    ? html`<time datetime="${value as string}" title="${value as string}">${text}</time>`
    : html`<bdi>${text}</bdi>`
}
