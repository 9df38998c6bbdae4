/** Parses what reads take: the query string of a list and the item_id of a path. */
import { type ParameterIssue, parametersInvalid } from '../contract/errors.js'
import { idNotText, limitBounds, offsetBounds, readInteger } from '../contract/parameters.js'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { ListQuery } from '../storage/storage.js'

const defaultLimit = BigInt(limitBounds.default)
const defaultOffset = BigInt(offsetBounds.default)

/** Makes the parser of a resource's query strings; it throws with every invalid parameter at once. */
export const listQueryParser = (resource: Resource): ((querystring: string) => ListQuery) => {
  const filterable = filterFields(resource)
  return (querystring) => {
    // Not ctx.query: `?__proto__=` breaks it. The last value of a repeated parameter counts.
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
    const limit = integer('limit', limitBounds) ?? defaultLimit
    const offset = integer('offset', offsetBounds) ?? defaultOffset
    const filters: Record<string, string | bigint> = {}
    for (const { name, kind } of filterable) {
      const value = kind === 'integer' ? integer(name) : given.get(name)
      if (value !== undefined) filters[name] = value
    }
    if (issues.length > 0) throw parametersInvalid(issues)
    return { limit: Number(limit), offset, q: given.get('q')?.trim() ?? '', filters }
  }
}

const decodeSegment = (segment: string): string => {
  try {
    const text = decodeURIComponent(segment)
    if (!text.includes('\0')) return text
  } catch {
    // Not percent-encoded UTF-8: refused below, like a NUL.
  }
  throw parametersInvalid([idNotText(segment)])
}

/** The id in a path segment; undefined where no row can have it, because ids are positive integers. */
export const parseItemId = (segment: string): { id: number | undefined; text: string } => {
  const text = decodeSegment(segment)
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined
  return { id: Number.isSafeInteger(id) ? id : undefined, text }
}
