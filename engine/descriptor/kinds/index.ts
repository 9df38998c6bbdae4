/** The kinds of fields, each a file of this folder. No other file compares the name of a kind: it asks for what the kind says. */
import type { JsonText } from '../jsonText.js'
import { boolean } from './boolean.js'
import { date } from './date.js'
import { decimal } from './decimal.js'
import type { Column, GivenValue, KindEntry, KindOptions } from './entry.js'
import { integer } from './integer.js'
import { json } from './json.js'
import { number } from './number.js'
import { text } from './text.js'
import { timestamp } from './timestamp.js'
import { uuid } from './uuid.js'

export type { Column, ColumnSql, GivenValue, KindEntry, KindOptions, ParameterValue } from './entry.js'
export { jsonTypes } from './json.js'
export { dateGlob } from './moments.js'
export { isStorable, storableText } from './strings.js'

export const kinds = { text, integer, number, boolean, date, timestamp, uuid, decimal, json }

export type Kind = keyof typeof kinds

/** What a kind is for a field: its schemas and columns may depend on the options. */
export type KindSpec = { readonly kind: Kind } & KindOptions

/** The kinds that the `id` of a resource may have. */
export const idKinds = ['integer', 'uuid', 'text'] as const
export type IdKind = (typeof idKinds)[number]

/** A kind by its name, without what is special to its type. */
export const kindOf = (kind: Kind): KindEntry => kinds[kind]

/** The SQL of a column's value as a response shows it: null where the column has none of its kind. */
export const servedValue = ({ isValue, json }: Column, column: string): string => {
  const value = json?.(column) ?? column
  return isValue ? `case when ${isValue(column)} then ${value} end` : value
}

/** What a database does with the values of a field. */
export const columnIn = (database: 'sqlite' | 'postgres', spec: KindSpec): Column => {
  const column = kindOf(spec.kind)[database]
  return typeof column === 'function' ? column(spec) : column
}

/** A value as a statement binds it. */
export const boundValue = ({ bind }: Pick<Column, 'bind'>, value: unknown): unknown =>
  bind && value !== null && value !== undefined ? bind(value as never) : value

/** A value as it was read; an integer that a number cannot hold exactly is a bigint. */
export const readValue = ({ read }: Column, stored: unknown): GivenValue | bigint | null =>
  (read && stored !== null ? read(stored as never) : stored) as GivenValue | bigint | null

export const isValueOf = (spec: KindSpec, value: unknown): boolean =>
  kindOf(spec.kind).body(spec).safeParse(value).success

/** The value of a field in the one form in which it is stored. */
export const canonicalOf = <V>(spec: KindSpec, value: V): V | string | JsonText =>
  kindOf(spec.kind).canonical?.(value as never, spec) ?? value

export const kindNames = Object.keys(kinds) as Kind[]

type OfKind = Pick<KindSpec, 'kind'>

export const isText = ({ kind }: OfKind): boolean => kindOf(kind).isText === true

export const isJson = ({ kind }: OfKind): boolean => kindOf(kind).isJson === true

export const isWhole = ({ kind }: OfKind): boolean => kindOf(kind).isWhole === true

export const isNumber = ({ kind }: OfKind): boolean => kindOf(kind).sums !== undefined

/** Whether sums have every digit, as those of doubles do not. */
export const isExact = ({ kind }: OfKind): boolean => kindOf(kind).sums?.fromUnits !== undefined

/** Whether values are days or times; those of a text are, as far as its format says so. */
export const isMoment = ({ kind, format }: OfKind & { readonly format?: string | undefined }): boolean =>
  format !== undefined || kindOf(kind).isMoment === true

export const jsonFieldNames = (fields: readonly (OfKind & { readonly name: string })[]): string[] =>
  fields.filter(isJson).map(({ name }) => name)

/** The kind whose columns are of a type that states its options, such as `numeric(12,2)`. */
export const kindWithOptions = (database: 'sqlite' | 'postgres', type: string): KindSpec | undefined => {
  for (const kind of kindNames) {
    const options = columnIn(database, { kind }).optionsIn?.(type)
    if (options) return { kind, ...options }
  }
  return undefined
}
