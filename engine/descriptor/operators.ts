/** The operators that compare a field with the value of a parameter; each serves the parser, the documents, the SQL and the explorer. */
import type { ParameterValue } from './kinds/index.js'

export type Operand = ParameterValue | readonly ParameterValue[]

export interface Operator {
  /** What follows the name of the field in the name of the parameter. */
  readonly suffix: string
  /** The option of a field that gives it this operator. */
  readonly option: 'filter' | 'range'
  /** What the parameter takes: a value of the field, several of them, or true and false. */
  readonly operand: 'value' | 'list' | 'boolean'
  /** Whether the matching rows are some values of the field, not a range of them. */
  readonly isEquality: boolean
  /** The sign of SQL between the column or, for a range, its key, and a value. Null never matches a comparison. */
  readonly sign?: string
  /** Completes the sentence "Only rows with …". */
  readonly description: (field: string) => string
  /** The condition as people read it after the name of the field. */
  readonly display: (value: string) => string
}

const comparison = (suffix: string, sign: string, meaning: string): Operator => ({
  suffix,
  option: 'range',
  operand: 'value',
  isEquality: false,
  sign,
  description: (field) => `a \`${field}\` ${meaning}`,
  display: (value) => `${sign.replace('>=', '≥').replace('<=', '≤')} ${value}`,
})

export const operators = {
  eq: {
    suffix: '',
    option: 'filter',
    operand: 'value',
    isEquality: true,
    sign: '=',
    description: (field) => `exactly this \`${field}\``,
    display: (value) => value,
  },
  in: {
    suffix: '.in',
    option: 'filter',
    operand: 'list',
    isEquality: true,
    description: (field) => `one of these values as \`${field}\`; repeat the parameter for each`,
    display: (value) => `one of ${value}`,
  },
  null: {
    suffix: '.null',
    option: 'filter',
    operand: 'boolean',
    isEquality: false,
    description: (field) => `\`${field}\` null (\`true\`) or not null (\`false\`)`,
    display: (isNull) => (isNull === 'true' ? 'empty' : 'not empty'),
  },
  gte: comparison('.gte', '>=', 'of at least this value'),
  gt: comparison('.gt', '>', 'greater than this value'),
  lte: comparison('.lte', '<=', 'of at most this value'),
  lt: comparison('.lt', '<', 'less than this value'),
} as const satisfies Record<string, Operator>

export type OperatorName = keyof typeof operators

export const operatorNames = Object.keys(operators) as OperatorName[]

/** An operator by its name, without what is special to its type. */
export const operatorOf = (name: OperatorName): Operator => operators[name]
