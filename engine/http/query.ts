/** Reads a list's query string into a query, or refuses it with every fault at once. */
import { type ParameterIssue, parametersInvalid } from '../contract/errors.js'
import { limitBounds, offsetBounds, readInteger } from '../contract/parameters.js'
import { type Field, filterFields, type Resource } from '../descriptor/registry.js'
import type { ListQuery } from '../storage/storage.js'

const plain: ListQuery = { limit: limitBounds.default, offset: BigInt(offsetBounds.default), q: '', filters: {} }

/** Only what has an escape in it needs the whole of the standard's reading. */
const hasEscape = /[%+]/

/** The parameters by name; not ctx.query, a plain object that `?__proto__=` breaks. Of a repeated one the last counts. */
const parametersOf = (querystring: string): Map<string, string> => {
  if (hasEscape.test(querystring)) return new Map(new URLSearchParams(querystring))
  const given = new Map<string, string>()
  for (const part of querystring.split('&')) {
    const equals = part.indexOf('=')
    if (equals === -1) given.set(part, '')
    else given.set(part.slice(0, equals), part.slice(equals + 1))
  }
  return given
}

const readListQuery = (filterable: readonly Field[], querystring: string): ListQuery => {
  const given = parametersOf(querystring)
  const issues: ParameterIssue[] = []
  const integer = (name: string, bounds?: { least?: number; most?: number }): bigint | undefined => {
    const input = given.get(name)
    if (input === undefined) return undefined
    const reading = readInteger(name, input, bounds)
    if ('value' in reading) return reading.value
    issues.push(reading.issue)
    return undefined
  }
  const limit = integer('limit', limitBounds)
  const offset = integer('offset', offsetBounds)
  const filters: Record<string, string | bigint> = {}
  for (const { name, kind } of filterable) {
    const value = kind === 'integer' ? integer(name) : given.get(name)
    if (value !== undefined) filters[name] = value
  }
  if (issues.length > 0) throw parametersInvalid(issues)
  return {
    limit: limit === undefined ? plain.limit : Number(limit),
    offset: offset ?? plain.offset,
    q: given.get('q')?.trim() ?? '',
    filters,
  }
}

/** How many query strings are remembered with what they ask, and how long they may be: many clients ask the same. */
const remembered = { most: 500, longest: 200 }

/** Makes the reader of a resource's query strings. */
export const listQueryReader = (resource: Resource): ((querystring: string) => ListQuery) => {
  const filterable = filterFields(resource)
  const queries = new Map<string, ListQuery>([['', plain]])
  return (querystring) => {
    const known = queries.get(querystring)
    if (known) return known
    const query = readListQuery(filterable, querystring)
    if (queries.size >= remembered.most) queries.clear()
    if (querystring.length <= remembered.longest) queries.set(querystring, query)
    return query
  }
}
