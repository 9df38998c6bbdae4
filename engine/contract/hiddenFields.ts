/** Refuses what would tell about fields that are hidden from a caller: parameters that use them, and bodies that set them. */
import type { Rights } from '../descriptor/access.js'
import { expandableReferrers } from '../descriptor/expansion.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { type Issue, parametersInvalid } from './errors.js'
import { bodyIssue } from './issues.js'
import { queryParameters } from './parameters.js'
import type { BodyReader } from './rowBody.js'

const notYours = (name: string): string => `${name} is a field that you may not use.`

/** The parameters whose values name fields. */
const naming = new Set(['sort', 'by', 'sum', 'avg', 'min', 'max', 'expand', 'match'])

/** The field that a parameter, or its value, is about. */
const fieldIn = (text: string): string => text.replace(/^-/, '').replace(/\..*$/s, '')

/** Throws 422 if a parameter filters, sorts, groups or expands by a field that is hidden from the caller. */
export const forbiddenParameters = (
  registry: Registry,
  resource: Resource,
  rights: Rights,
  querystring: string,
  reject = parametersInvalid,
): void => {
  const { hidden } = rights.of(resource)
  const referrers = expandableReferrers(registry, resource)
  const isHidden = (name: string, input: string): boolean => {
    if (!naming.has(name)) return hidden.includes(fieldIn(name))
    const referrer = name === 'expand' ? referrers.get(input) : undefined
    if (referrer) return rights.of(referrer.resource).hidden.includes(referrer.field.name)
    return hidden.includes(fieldIn(input))
  }
  const issues = [...queryParameters(querystring)]
    .filter(([name, input]) => isHidden(name, input))
    .map(
      ([name, input]): Issue => ({
        type: 'extra_forbidden',
        loc: ['query', name],
        msg: notYours(naming.has(name) ? fieldIn(input) : fieldIn(name)),
        input,
      }),
    )
  if (issues.length > 0) throw reject(issues)
}

/** Reads bodies of a caller from whom some fields are hidden. */
export const withoutHidden = (read: BodyReader, hidden: readonly string[]): BodyReader => {
  if (hidden.length === 0) return read
  return (body, source) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return read(body, source)
    const sent = hidden.filter((name) => Object.hasOwn(body, name))
    const allowed = Object.fromEntries(Object.entries(body).filter(([name]) => !sent.includes(name)))
    const { values, issues } = read(allowed, source)
    return { values, issues: [...issues, ...sent.map((name) => bodyIssue('extra_forbidden', notYours(name), name))] }
  }
}
