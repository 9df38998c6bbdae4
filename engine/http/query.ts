/** Reads a list's query string into a question, or refuses it with every fault at once. */
import { type ParameterIssue, parametersInvalid } from '../contract/errors.js'
import { limitBounds, offsetBounds, readInteger } from '../contract/parameters.js'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { Question } from '../storage/storage.js'

const plain: Question = { limit: limitBounds.default, offset: BigInt(offsetBounds.default), q: '', filters: {} }

/** Makes the reader of a resource's query strings. */
export const questionReader = (resource: Resource): ((querystring: string) => Question) => {
  const filterable = filterFields(resource)
  return (querystring) => {
    if (querystring === '') return plain
    // Not ctx.query: it is a plain object, which `?__proto__=` breaks. Of a repeated parameter the last counts.
    const given = new Map(new URLSearchParams(querystring))
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
}
