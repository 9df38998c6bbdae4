/** The description of a list: which rows, in which order, and which page of them. */
import type { ParameterValue } from './kinds.js'
import { type OperatorName, operatorNames, operators } from './operators.js'
import { type Field, filterFields, type Resource } from './registry.js'

/** A comparison that a row must satisfy. */
export interface Condition {
  readonly field: string
  readonly operator: OperatorName
  readonly value: ParameterValue
}

/** Which rows match: all that satisfy every condition and contain the searched text. */
export interface Selection {
  readonly where: readonly Condition[]
  /** Text to search for, trimmed; empty for no search. */
  readonly search: string
}

export interface ListQuery extends Selection {
  readonly order: { readonly field: 'id'; readonly descending: false }
  readonly page: {
    readonly limit: number
    /** Unbounded; an offset past the end gives an empty page. */
    readonly offset: bigint
  }
}

/** The first page of all rows. */
export const wholeTable: ListQuery = {
  where: [],
  search: '',
  order: { field: 'id', descending: false },
  page: { limit: 50, offset: 0n },
}

/** Every condition that a list of the resource can have, and the parameter that gives its value. */
export const possibleConditions = (
  resource: Resource,
): { readonly field: Field; readonly operator: OperatorName; readonly parameter: string }[] =>
  filterFields(resource).flatMap((field) =>
    operatorNames
      .filter((operator) => operators[operator].kinds.includes(field.kind))
      .map((operator) => ({ field, operator, parameter: operators[operator].parameter(field.name) })),
  )
