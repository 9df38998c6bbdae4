/** The operators that compare a field with the value of a filter; each serves the parser, the documents, the SQL and the tests. */
import { type Kind, kindNames, type ParameterValue } from './kinds.js'

export interface Operator {
  /** The name of its parameter, for a field of this name. */
  readonly parameter: (field: string) => string
  /** The kinds of fields that have it. */
  readonly kinds: readonly Kind[]
  /** The condition as SQL of every database: `??` is the column, `?` the value. Null never matches. */
  readonly sql: string
  /** Completes the sentence "Only rows with …". */
  readonly sentence: (field: string) => string
  /** Whether a value matches, as the SQL does. */
  readonly matches: (stored: ParameterValue, value: ParameterValue) => boolean
}

export const operators = {
  eq: {
    parameter: (field) => field,
    kinds: kindNames,
    sql: '?? = ?',
    sentence: (field) => `exactly this \`${field}\``,
    matches: (stored, value) => stored === value,
  },
} as const satisfies Record<string, Operator>

export type OperatorName = keyof typeof operators

export const operatorNames = Object.keys(operators) as OperatorName[]
