/** Reads the parameters of requests: those of a list, and the id of a row. */
import { z } from 'zod'
import { parseId } from '../descriptor/ids.js'
import { type ParameterValue, storableText } from '../descriptor/kinds/index.js'
import {
  listParameters,
  type QueryParameter,
  rowParameters,
  type SentQuery,
  summaryParameters,
} from '../descriptor/listParameters.js'
import { defaultListQuery, type ListQuery } from '../descriptor/listQuery.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { defaultSummaryQuery, type SummaryQuery } from '../descriptor/summary.js'
import { Violation } from '../descriptor/violations.js'
import { decodeCursor } from './cursor.js'
import { type HttpError, type Issue, parametersInvalid } from './errors.js'
import { cursorIssue, itemIdIssue, operatorIssue, parameterIssue } from './issues.js'

/** The parameters as the documents have them. */
export const querySchema = (parameters: ReadonlyMap<string, Pick<QueryParameter<unknown>, 'schema'>>) =>
  z.object(Object.fromEntries([...parameters].flatMap(([name, { schema }]) => (schema ? [[name, schema]] : []))))

/** Not URLSearchParams() of the text itself, which takes a question mark off its start: `??limit=0` has a parameter `?limit`. */
export const queryParameters = (querystring: string): URLSearchParams => new URLSearchParams(`&${querystring}`)

/** The issues for operators that a field does not have; any other unknown parameter is ignored. */
const unknownOperators = ({ fields }: Resource, known: readonly string[], pairs: Iterable<[string, string]>): Issue[] =>
  [...pairs].flatMap(([name, input]) => {
    const field = name.slice(0, Math.max(0, name.indexOf('.')))
    const isKnown = known.includes(name) || !fields.some((one) => one.name === field)
    return isKnown ? [] : [operatorIssue(name, input, field, known)]
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
  const sent = new Map(pairs)
  let query = preset
  for (const [name, { parse, maxValues, apply }] of parameters) {
    const last = sent.get(name)
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
  return { query, sent }
}

/** Makes the parser of the query strings of a single row; it returns the names of what is shown with it. */
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

/** Makes the parser of the query strings of a list; it throws with every invalid parameter at once. */
export const listQueryParser = (resource: Resource, registry?: Registry) => {
  const parameters = listParameters(resource, registry)
  const names = [...parameters.keys()]
  return (querystring: string): ListQuery => {
    const issues: Issue[] = []
    const { query, sent } = readParameters<SentQuery>(parameters, defaultListQuery, querystring, issues)
    if (querystring.includes('.')) issues.push(...unknownOperators(resource, names, sent))
    const { cursor, ...list } = query
    if (cursor !== undefined && sent.has('offset')) issues.push(cursorIssue(cursor, 'withOffset'))
    if (issues.length > 0) throw parametersInvalid(issues)
    if (cursor === undefined) return list
    const place = decodeCursor(resource, list, cursor)
    if (typeof place === 'string') throw parametersInvalid([cursorIssue(cursor, place)])
    return { ...list, page: { ...list.page, ...place } }
  }
}

/** Makes the parser of the query strings of a summary. */
export const summaryQueryParser = (resource: Resource) => {
  const parameters = summaryParameters(resource)
  const names = [...parameters.keys()]
  return (querystring: string): SummaryQuery => {
    const issues: Issue[] = []
    const { query, sent } = readParameters(parameters, defaultSummaryQuery, querystring, issues)
    if (querystring.includes('.')) issues.push(...unknownOperators(resource, names, sent))
    if (issues.length > 0) throw parametersInvalid(issues)
    return query
  }
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

/** Makes the parser of an `item_id`; `id` is undefined where no row can have it. Writes reject it with another body than reads. */
export const itemIdParser =
  (resource: Resource, reject: (issues: readonly Issue[]) => HttpError = parametersInvalid) =>
  (segment: string) => {
    const { data: text } = itemId.safeParse(decodeSegment(segment))
    if (text === undefined) throw reject([itemIdIssue(segment)])
    return { id: parseId(resource, text), text }
  }
