/** Reads the parameters of requests: those of a list with its cursor, and the id of a row. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isStorable, kindOf, type ParameterValue, storableText } from '../descriptor/kinds/index.js'
import {
  defaultFollowQuery,
  type FollowQuery,
  followParameters,
  historyParameters,
  listParameters,
  type QueryParameter,
  rowParameters,
  type SentQuery,
  summaryParameters,
} from '../descriptor/listParameters.js'
import {
  defaultListQuery,
  type ListQuery,
  type Position,
  type Selection,
  selectionKey,
} from '../descriptor/listQuery.js'
import { type Field, parseId, type Registry, type Resource } from '../descriptor/registry.js'
import { defaultSummaryQuery, type SummaryQuery } from '../descriptor/summary.js'
import { Violation } from '../descriptor/violations.js'
import { type HttpError, type Issue, parametersInvalid } from './errors.js'
import { cursorIssue, itemIdIssue, operatorIssue, parameterIssue } from './issues.js'

/** The parameters as the documents have them. */
export const querySchema = (parameters: ReadonlyMap<string, Pick<QueryParameter<unknown>, 'schema'>>) =>
  z.object(Object.fromEntries([...parameters].flatMap(([name, { schema }]) => (schema ? [[name, schema]] : []))))

/** Not URLSearchParams() of the text itself, which takes a question mark off its start: `??limit=0` has a parameter `?limit`. */
export const queryParameters = (querystring: string): URLSearchParams => new URLSearchParams(`&${querystring}`)

/** The issues for operators that a field does not have; any other unknown parameter is ignored. */
const unknownOperators = ({ fields }: Resource, names: readonly string[], pairs: Iterable<[string, string]>): Issue[] =>
  [...pairs].flatMap(([name, input]) => {
    const field = name.slice(0, Math.max(0, name.indexOf('.')))
    const isKnown = names.includes(name) || !fields.some((one) => one.name === field)
    return isKnown ? [] : [operatorIssue(name, input, field, names)]
  })

/** What the parameters of a request say; adds an issue for each invalid value. */
const readParameters = <Q>(
  parameters: ReadonlyMap<string, QueryParameter<Q>>,
  preset: Q,
  querystring: string,
  issues: Issue[],
) => {
  // Not ctx.query: `?__proto__=` breaks it. The last value of a repeated parameter counts, except in a list.
  const pairs = queryParameters(querystring)
  const lastValues = new Map(pairs)
  let query = preset
  for (const [name, { parse, maxValues, apply }] of parameters) {
    const last = lastValues.get(name)
    if (last === undefined) continue
    const inputs = maxValues ? pairs.getAll(name) : [last]
    if (maxValues && inputs.length > maxValues)
      issues.push(parameterIssue(name, last, new Violation('too_long', inputs.length, { max_length: maxValues })))
    const values: ParameterValue[] = []
    for (const input of inputs.slice(0, maxValues)) {
      const value = parse(input)
      if (value instanceof Violation) issues.push(parameterIssue(name, input, value))
      else values.push(value)
    }
    if (values.length > 0) query = { ...query, ...apply(maxValues ? values : (values[0] as ParameterValue), query) }
  }
  return { query, lastValues }
}

/** Creates the parser of the query strings of a single row; it returns the names of what is shown with it. */
export const rowQueryParser = (registry: Registry, resource: Resource) => {
  const parameters = rowParameters(registry, resource)
  return (querystring: string): readonly string[] => {
    if (querystring === '') return []
    const issues: Issue[] = []
    const { expand = [] } = readParameters(parameters, {}, querystring, issues).query
    if (issues.length > 0) throw parametersInvalid(issues)
    return expand
  }
}

const listDigest = ({ path }: Resource, selection: Selection): string =>
  createHash('sha256')
    .update(`${path}?${selectionKey(selection)}`)
    .digest('base64url')
    .slice(0, 10)

/** The value of `after`: where a page begins, how many rows are before it, and which list it continues. Clients must not rely on it. */
export const encodeCursor = (resource: Resource, query: ListQuery, { id, value }: Position): string => {
  const offset = query.page.offset + BigInt(query.page.limit)
  const parts = [listDigest(resource, query), String(offset), String(id), value === null ? null : String(value)]
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

const isDigits = (text: unknown): text is string => typeof text === 'string' && /^\d{1,40}$/.test(text)

/** The JSON of a cursor; undefined if it has none. */
export const parseCursor = (cursor: string): unknown => {
  try {
    const bytes = Buffer.from(cursor, 'base64url')
    // Buffer.from() ignores what is not base64.
    return bytes.toString('base64url') === cursor ? JSON.parse(bytes.toString()) : undefined
  } catch {
    return undefined
  }
}

const decodeCursor = (resource: Resource, selection: Selection, cursor: string) => {
  const parts = parseCursor(cursor)
  if (!Array.isArray(parts) || parts.length !== 4) return 'invalid'
  const [list, offset, id, text] = parts as unknown[]
  if (!isDigits(offset) || typeof id !== 'string' || parseId(resource, id) !== id) return 'invalid'
  if (list !== listDigest(resource, selection)) return 'otherList'
  if (text !== null && typeof text !== 'string') return 'invalid'
  const field = resource.fields.find(({ name }) => name === selection.order.field) as Field
  const value = text === null ? null : kindOf(field.kind).parse(text, field)
  const isStored = value === null || typeof value !== 'string' || isStorable(value)
  return value instanceof Violation || !isStored ? 'invalid' : { offset: BigInt(offset), after: { id, value } }
}

/** Creates the parser of the query strings of a list; it throws with every invalid parameter at once. */
export const listQueryParser = (resource: Resource, registry?: Registry) => {
  const parameters = listParameters(resource, registry)
  const names = [...parameters.keys()]
  return (querystring: string): ListQuery => {
    const issues: Issue[] = []
    const { query, lastValues } = readParameters<SentQuery>(parameters, defaultListQuery, querystring, issues)
    if (querystring.includes('.')) issues.push(...unknownOperators(resource, names, lastValues))
    const { cursor, ...list } = query
    if (cursor !== undefined && lastValues.has('offset')) issues.push(cursorIssue(cursor, 'withOffset'))
    if (issues.length > 0) throw parametersInvalid(issues)
    if (cursor === undefined) return list
    const place = decodeCursor(resource, list, cursor)
    if (typeof place === 'string') throw parametersInvalid([cursorIssue(cursor, place)])
    return { ...list, page: { ...list.page, ...place } }
  }
}

/** Creates the parser of the query strings of a summary. */
export const summaryQueryParser = (resource: Resource) => {
  const parameters = summaryParameters(resource)
  const names = [...parameters.keys()]
  return (querystring: string): SummaryQuery => {
    const issues: Issue[] = []
    const { query, lastValues } = readParameters(parameters, defaultSummaryQuery, querystring, issues)
    if (querystring.includes('.')) issues.push(...unknownOperators(resource, names, lastValues))
    if (issues.length > 0) throw parametersInvalid(issues)
    return query
  }
}

/** Parses the query string of the history of a row. */
export const parseHistoryQuery = (querystring: string): ListQuery['page'] => {
  const issues: Issue[] = []
  const { page } = readParameters<SentQuery>(historyParameters, defaultListQuery, querystring, issues).query
  if (issues.length > 0) throw parametersInvalid(issues)
  return page
}

/** Parses the query string of a request for changes. */
export const parseFollowQuery = (querystring: string): FollowQuery => {
  const issues: Issue[] = []
  const { query } = readParameters(followParameters, defaultFollowQuery, querystring, issues)
  if (issues.length > 0) throw parametersInvalid(issues)
  return query
}

const itemId = storableText()

export const itemIdSchema = (singular: string, example: string) =>
  z.object({ item_id: itemId.meta({ description: `The \`id\` of the ${singular}.`, example }) })

const decodeSegment = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** Creates the parser of an `item_id`; `id` is undefined if no row can have it. Writes reject it with another body than reads. */
export const itemIdParser =
  (resource: Resource, reject: (issues: readonly Issue[]) => HttpError = parametersInvalid) =>
  (segment: string) => {
    const { data: text } = itemId.safeParse(decodeSegment(segment))
    if (text === undefined) throw reject([itemIdIssue(segment)])
    return { id: parseId(resource, text), text }
  }
