/** The description of a list: which rows, in which order, and which page of them. */
import type { ParameterValue } from './kinds/index.js'
import { type Operand, type OperatorName, operatorNames, operatorOf } from './operators.js'
import type { Resource, RowId } from './registry.js'

export interface Condition {
  readonly field: string
  readonly operator: OperatorName
  readonly value: Operand
}

/** By a field, then by `id` in the same direction. Null comes first ascending. */
export interface Order {
  readonly field: string
  readonly descending: boolean
}

/** Which rows match: all that satisfy every condition and contain the searched text. */
export interface Selection {
  readonly where: readonly Condition[]
  /** Text to search for, trimmed; empty for no search. */
  readonly search: string
  readonly order: Order
}

/** A place in an order, directly after a row that may be gone by now. */
export interface Position {
  readonly id: RowId
  /** What the row had in the field of the order; null too if that is `id`. */
  readonly value: ParameterValue | null
}

export interface ListQuery extends Selection {
  /** The references whose rows are shown with each row. */
  readonly expand?: readonly string[]
  readonly page: {
    readonly limit: number
    /** How many rows are before the page. Unbounded; an offset past the end gives an empty page. */
    readonly offset: bigint
    /** Where the page begins; by default after as many rows as the offset says. */
    readonly after?: Position | undefined
  }
}

export const defaultListQuery: ListQuery = {
  where: [],
  search: '',
  order: { field: 'id', descending: false },
  page: { limit: 50, offset: 0n },
}

/** Texts are ordered and compared by so many characters. */
export const keyLength = 200

export const textKey = (text: string): string =>
  text.length <= keyLength
    ? text
    : Array.from(text.slice(0, 2 * keyLength))
        .slice(0, keyLength)
        .join('')

/** Every condition that a list of the resource can have, and the parameter that gives its value. */
export const possibleConditions = ({ fields }: Resource) =>
  fields.flatMap((field) =>
    operatorNames
      .filter((operator) => field[operatorOf(operator).option])
      .map((operator) => ({ field, operator, parameter: `${field.name}${operatorOf(operator).suffix}` })),
  )

export const possibleOrders = ({ fields }: Resource): [string, ...string[]] => {
  const names = fields.filter((field) => field.sort).map(({ name }) => name)
  return ['id', '-id', ...names.flatMap((name) => [name, `-${name}`])]
}

export const orderName = ({ field, descending }: Order): string => `${descending ? '-' : ''}${field}`

export const isById = ({ field, descending }: Order): boolean => field === 'id' && !descending

export const selectionKey = ({ where, search, order }: Selection): string => {
  let key = isById(order) ? '' : `${orderName(order)} `
  for (const { field, operator, value } of where) {
    key += `${field} ${operator} ${JSON.stringify(Array.isArray(value) ? value.map(String) : String(value))}&`
  }
  // The name keeps a search for the text of a condition apart from the condition.
  return `${key}q=${search}`
}
