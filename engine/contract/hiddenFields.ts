/** Refuses what a caller may not do with fields: parameters that use hidden ones, and bodies that set them or those of other roles. */
import type { ResourceRights, Rights } from '../descriptor/access.js'
import { expandableReferrers } from '../descriptor/expansion.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { bodyInvalid, type Issue, parametersInvalid } from './errors.js'
import { bodyIssue } from './issues.js'
import { queryParameters } from './parameters.js'
import type { BodyReader } from './rowBody.js'

const notYours = (name: string): string => `${name} is a field that you may not use.`

/** The parameters of reads whose values name fields, unless a field has such a name: then it is a filter. */
const namingParameters = ['sort', 'by', 'sum', 'avg', 'min', 'max', 'expand']

/** The field that a parameter, or its value, is about. */
const fieldIn = (text: string): string => text.replace(/^-/, '').replace(/\..*$/s, '')

/** Throws 422 if a parameter filters, sorts, groups, expands or matches by a field that is hidden from the caller. */
export const forbiddenParameters = (
  registry: Registry,
  resource: Resource,
  rights: Rights,
  querystring: string,
  isImport = false,
): void => {
  const { hidden } = rights.of(resource)
  const referrers = expandableReferrers(registry, resource)
  const isNaming = (name: string): boolean =>
    isImport || (namingParameters.includes(name) && !resource.fields.some((field) => field.name === name))
  const isHidden = (name: string, input: string): boolean => {
    if (isImport) return name === 'match' && hidden.includes(input)
    if (!isNaming(name)) return hidden.includes(fieldIn(name))
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
        msg: notYours(name === 'expand' ? input : fieldIn(isNaming(name) ? input : name)),
        input,
      }),
    )
  if (issues.length > 0) throw isImport ? bodyInvalid(issues) : parametersInvalid(issues)
}

const setByOthers = ({ fields }: Resource, name: string): string => {
  const { writeBy = [] } = fields.find((field) => field.name === name) ?? {}
  return `${name} is set only by ${writeBy.join(' or ')}; remove it.`
}

/** Reads bodies of a caller who may not see or set some fields. */
export const allowedBody = (
  readBody: BodyReader,
  resource: Resource,
  { hidden, readOnly }: Pick<ResourceRights, 'hidden' | 'readOnly'>,
): BodyReader => {
  if (hidden.length + readOnly.length === 0) return readBody
  const forbidden = new Map([
    ...hidden.map((name) => [name, notYours(name)] as const),
    ...readOnly.map((name) => [name, setByOthers(resource, name)] as const),
  ])
  return (body, source) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return readBody(body, source)
    const allowed = Object.fromEntries(Object.entries(body).filter(([name]) => !forbidden.has(name)))
    const forbiddenSent = [...forbidden].filter(([name]) => Object.hasOwn(body, name))
    const { values, issues } = readBody(allowed, source)
    return {
      values,
      issues: [...issues, ...forbiddenSent.map(([name, msg]) => bodyIssue('extra_forbidden', msg, name))],
    }
  }
}
