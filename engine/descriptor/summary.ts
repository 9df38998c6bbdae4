/** The description of a summary: which rows, grouped by what, and what is computed of each group. */
import { isMoment, isNumber, type ParameterValue } from './kinds/index.js'
import type { Selection } from './listQuery.js'
import type { Resource } from './registry.js'

/** What can be computed of a field, beside the number of rows. */
export const aggregates = ['sum', 'avg', 'min', 'max'] as const
export type Aggregate = (typeof aggregates)[number]

/** The parts of a date that rows can be grouped by, and how many characters of the date each has. */
export const dateParts = { year: 4, month: 7, day: 10 } as const
export type DatePart = keyof typeof dateParts

/** What rows are grouped by: the value of a field, a part of its date, or how many bounds are not above it. */
export interface Group {
  /** As a parameter names it: `status`, `from_date.month`. */
  readonly name: string
  readonly field: string
  readonly part?: DatePart
  /** Ascending; of one group of a query at most. */
  readonly bounds?: readonly ParameterValue[]
}

export interface SummaryQuery
  extends Pick<Selection, 'where' | 'search'>,
    Readonly<Partial<Record<Aggregate, readonly string[]>>> {
  readonly by: readonly Group[]
  /** The most groups that are returned. */
  readonly limit: number
  /** How many rows are summarised at most; by default all. */
  readonly maxRows?: number
}

export const maxGroups = 2

export const defaultSummaryQuery: SummaryQuery = { where: [], search: '', by: [], limit: 50 }

/** Everything that rows of the resource can be grouped by. */
export const possibleGroups = ({ fields }: Resource): Group[] =>
  fields.flatMap((field) => {
    const parts = field.range && isMoment(field) ? (Object.keys(dateParts) as DatePart[]) : []
    return [
      ...(field.filter ? [{ name: field.name, field: field.name }] : []),
      ...parts.map((part) => ({ name: `${field.name}.${part}`, field: field.name, part })),
    ]
  })

/** The fields that an aggregate can be computed of. */
export const aggregatedFields = ({ fields }: Resource, aggregate: Aggregate): string[] =>
  fields
    .filter((field) => field.range && (isNumber(field) || (isMoment(field) && /^m/.test(aggregate))))
    .map(({ name }) => name)
