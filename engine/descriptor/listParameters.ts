/** The query parameters of reads: each has its name, its schema for the documents, its parser, and its part of the query. */
import { z } from 'zod'
import { expandableFields, expandableReferrers } from './expansion.js'
import { isStorable, kindOf, kinds, type ParameterValue } from './kinds/index.js'
import { defaultListQuery, type ListQuery, possibleConditions, possibleOrders, textKey } from './listQuery.js'
import { type Operand, type OperatorName, operatorOf } from './operators.js'
import type { Field, Registry, Resource } from './registry.js'
import {
  type Aggregate,
  aggregatedFields,
  aggregates,
  defaultSummaryQuery,
  maxGroups,
  possibleGroups,
  type SummaryQuery,
} from './summary.js'
import { ruleKeywords } from './valueRules.js'
import { Violation } from './violations.js'

export const maxListed = 100

/** What the parameters of a request say; the cursor is decoded last, because it belongs to all others. */
export type SentQuery = ListQuery & { readonly cursor?: string }

export interface QueryParameter<Q> {
  /** Undefined if the documents do not have it: no value is valid. */
  readonly schema: z.ZodType | undefined
  parse(input: string): ParameterValue | Violation
  /** How many values a repeated parameter may have, if not only the last one counts. */
  readonly maxValues?: number
  /** What the value changes in the query. */
  apply(value: Operand, query: Q): Partial<Q>
}

type ListParameter = QueryParameter<SentQuery>

const boundedInteger = (description: string, preset: number, ge: number, le?: number) => ({
  schema: (le === undefined ? z.int().min(ge) : z.int().min(ge).max(le)).default(preset).meta({ description }),
  parse: (input: string) => {
    const value = kinds.integer.parse(input)
    if (value instanceof Violation) return value
    if (value < ge) return new Violation('greater_than_equal', value, { ge })
    return le !== undefined && value > le ? new Violation('less_than_equal', value, { le }) : value
  },
})

const anyText = (description: string) => ({
  schema: z.string().optional().meta({ description }),
  parse: (input: string) => input,
})

/** The parameters of every list, in the order of the documents. No field can have one of these names. */
export const commonParameters = {
  limit: () => ({
    ...boundedInteger('Page size.', defaultListQuery.page.limit, 1, 200),
    apply: (limit: bigint, { page }) => ({ page: { ...page, limit: Number(limit) } }),
  }),
  offset: () => ({
    ...boundedInteger('Number of rows to skip.', 0, 0),
    apply: (offset: bigint, { page }) => ({ page: { ...page, offset } }),
  }),
  q: () => ({
    ...anyText('Text to search for, ignoring case.'),
    apply: (text: string) => ({ search: text.trim() }),
  }),
  sort: (resource) => {
    const expected = possibleOrders(resource)
    return {
      schema: z
        .enum(expected)
        .optional()
        .meta({ description: 'The field to order by, descending after a `-`; then by `id` in the same direction.' }),
      parse: oneOf(expected),
      apply: (order: string) => ({ order: { field: order.replace(/^-/, ''), descending: order.startsWith('-') } }),
    }
  },
  after: () => ({
    ...anyText('Where the page begins: taken from the `Link` header of the previous page, not made by the client.'),
    apply: (cursor: string) => ({ cursor }),
  }),
} as const satisfies Readonly<Record<string, (resource: Resource) => ListParameter>>

const oneOf =
  (expected: readonly string[]) =>
  (input: string): string | Violation =>
    expected.includes(input) ? input : new Violation('enum', input, { expected })

/** A parameter that names some of what is expected; without anything, no value is valid. */
const namesAmong = (expected: readonly string[], description: string, maxValues = maxListed) => ({
  schema: expected.length > 0 ? z.array(z.enum(expected)).max(maxValues).optional().meta({ description }) : undefined,
  parse: oneOf(expected),
  maxValues,
})

const chosenOf = (expected: readonly string[], value: Operand): string[] =>
  expected.filter((name) => (value as readonly unknown[]).includes(name))

/** What `expand` of a list names, or of a single row. */
const expandParameter = (
  expected: readonly string[],
  description: string,
): QueryParameter<{ expand?: readonly string[] }> => ({
  ...namesAmong(expected, description),
  apply: (value) => ({ expand: chosenOf(expected, value) }),
})

/** The parameters of a single row. */
export const rowParameters = (registry: Registry, resource: Resource) => {
  const references = expandableFields(resource).map(({ name }) => name)
  const names = [...references, ...expandableReferrers(registry, resource).keys()]
  const description =
    'What else is shown, under `expanded`: the row that a reference names, or the first rows that reference this one.'
  return new Map(names.length > 0 ? [['expand', expandParameter(names, description)]] : [])
}

const parseKey = (input: string): string | Violation =>
  isStorable(input) ? textKey(input) : new Violation('string_unicode', input)

/** The parser of a condition's value. A filter for a value that no row can have because of `oneOf` is a mistake of the client. */
const conditionParser = (field: Field, operator: OperatorName): ListParameter['parse'] => {
  const { kind, oneOf: expected } = field
  const { operand, option } = operatorOf(operator)
  if (operand === 'boolean') return kinds.boolean.parse
  const { parse: parseKind, isText } = kindOf(kind)
  const parse = (input: string) => parseKind(input, field)
  if (option === 'range') return isText ? parseKey : parse
  if (!expected) return parse
  const allowed = new Set(expected.map(String))
  return (input) => {
    const value = parse(input)
    return value instanceof Violation || allowed.has(String(value)) ? value : new Violation('enum', input, { expected })
  }
}

const conditionSchema = (field: Field, operator: OperatorName): z.ZodType => {
  const { kind, name, oneOf } = field
  const { operand, option, description } = operatorOf(operator)
  const value = kindOf(operand === 'boolean' ? 'boolean' : kind).row(field)
  const typed = option === 'filter' && operand !== 'boolean' ? value.meta(ruleKeywords({ kind, oneOf })) : value
  const schema = operand === 'list' ? z.array(typed).max(maxListed) : typed
  return schema.optional().meta({ description: `Only rows with ${description(name)}.` })
}

/** The parameters that say which rows match, the same for every read of many rows. */
const conditionParameters = (resource: Resource): [string, QueryParameter<Pick<SentQuery, 'where'>>][] =>
  possibleConditions(resource).map(({ field, operator, parameter }) => [
    parameter,
    {
      schema: conditionSchema(field, operator),
      parse: conditionParser(field, operator),
      ...(operatorOf(operator).operand === 'list' && { maxValues: maxListed }),
      apply: (value, { where }) => ({ where: [...where, { field: field.name, operator, value }] }),
    },
  ])

/** The parameters of a list; those that depend on other resources only if the registry is given. */
export const listParameters = (resource: Resource, registry: Registry = []): ReadonlyMap<string, ListParameter> => {
  const references = expandableFields(resource).map(({ name }) => name)
  const isExpanded = registry.length > 0 && rowParameters(registry, resource).size > 0
  const expand = expandParameter(references, 'The references whose rows are shown too, under `expanded`.')
  return new Map([
    ...Object.entries(commonParameters).map(([name, declare]): [string, ListParameter] => [name, declare(resource)]),
    ...(isExpanded ? [['expand', expand] as [string, ListParameter]] : []),
    ...conditionParameters(resource),
  ])
}

/** The parameters of the history of a row. */
export const historyParameters: ReadonlyMap<string, ListParameter> = new Map<string, ListParameter>([
  ['limit', commonParameters.limit()],
  ['offset', { ...boundedInteger('Number of changes to skip.', 0, 0), apply: commonParameters.offset().apply }],
])

const aggregateDescriptions: Readonly<Record<Aggregate, string>> = {
  sum: 'The fields that are summed.',
  avg: 'The fields whose average is computed.',
  min: 'The fields whose least value is returned.',
  max: 'The fields whose greatest value is returned.',
}

const groupDescription =
  'What rows are grouped by, up to two: the value of a field, or the year, month or day of a date. Without it, all rows are one group.'

/** The parameters of a summary. */
export const summaryParameters = (resource: Resource): ReadonlyMap<string, QueryParameter<SummaryQuery>> => {
  const groups = possibleGroups(resource)
  const groupNames = groups.map(({ name }) => name)
  const by: QueryParameter<SummaryQuery> = {
    ...namesAmong(groupNames, groupDescription, maxGroups),
    apply: (value) => ({
      by: [...new Set(value as readonly string[])].flatMap((name) => groups.filter((group) => group.name === name)),
    }),
  }
  const computed = aggregates.map((aggregate): [string, QueryParameter<SummaryQuery>] => {
    const expected = aggregatedFields(resource, aggregate)
    const names = namesAmong(expected, aggregateDescriptions[aggregate])
    return [aggregate, { ...names, apply: (value) => ({ [aggregate]: chosenOf(expected, value) }) }]
  })
  const limit: QueryParameter<SummaryQuery> = {
    ...boundedInteger('The most groups that are returned.', defaultSummaryQuery.limit, 1, 200),
    apply: (value) => ({ limit: Number(value) }),
  }
  const { apply: _, ...search } = commonParameters.q()
  const q: QueryParameter<SummaryQuery> = { ...search, apply: (text) => ({ search: String(text).trim() }) }
  return new Map([['by', by], ...computed, ['limit', limit], ['q', q], ...conditionParameters(resource)])
}

/** What a request for changes asks for: those after a cursor, by default none, and how many seconds to wait for one. */
export interface FollowQuery {
  readonly cursor?: string
  readonly limit: number
  readonly wait: number
}

/** The longest wait, in seconds: many balancers end a request after 60. */
const maxWait = 50

export const defaultFollowQuery: FollowQuery = { limit: 200, wait: 0 }

/** The parameters of the changes of a resource. */
export const followParameters: ReadonlyMap<string, QueryParameter<FollowQuery>> = new Map<
  string,
  QueryParameter<FollowQuery>
>([
  [
    'after',
    {
      ...anyText(
        'The cursor after which changes are returned: `meta.next` of an earlier page. Without it, there are no changes, and `meta.next` is a cursor of now.',
      ),
      apply: (cursor) => ({ cursor: String(cursor) }),
    },
  ],
  [
    'limit',
    {
      ...boundedInteger('The most changes that are returned.', defaultFollowQuery.limit, 1, 1000),
      apply: (limit) => ({ limit: Number(limit) }),
    },
  ],
  [
    'wait',
    {
      ...boundedInteger(
        'How many seconds to wait for a change if there is none yet.',
        defaultFollowQuery.wait,
        0,
        maxWait,
      ),
      apply: (wait) => ({ wait: Number(wait) }),
    },
  ],
])
