/** What the documents say about who may use an operation: its security, the responses 401 and 403, and a sentence. */
import type { ResponseConfig, RouteConfig } from '@asteasolutions/zod-to-openapi'
import { describeRules, isGuarded, isPublic } from '../descriptor/access.js'
import { type AccessName, type AccessRule, rulesOf } from '../descriptor/define.js'
import type { operationNames } from '../descriptor/names.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import * as errors from './errors.js'

interface ResourceRoute {
  readonly kind: keyof ReturnType<typeof operationNames>
  readonly resource: Resource
  readonly route: RouteConfig
}

/** The right that each kind of operation needs. */
const needed: Readonly<Record<ResourceRoute['kind'], AccessName>> = {
  list: 'read',
  summary: 'read',
  get: 'read',
  create: 'create',
  import: 'create',
  update: 'update',
  delete: 'delete',
}

/** A rule as the documents have it: a claim as its name. */
const published = (rule: AccessRule): unknown =>
  typeof rule === 'string'
    ? rule
    : Object.fromEntries(Object.entries(rule).map(([field, claimed]) => [field, { claim: claimed?.name }]))

/** Whether any operation of a registry needs a key or token other than the write token. */
export const hasAccess = (registry: Registry): boolean => registry.some((one) => one.access || isGuarded(one))

type Describe = (description: string, error: errors.HttpError) => ResponseConfig

/** The operation with what its resource says about access; without any such rule in the registry, as it is. */
export const withAccess = <O extends Pick<ResourceRoute, 'route'> | ResourceRoute>(
  operation: O,
  registry: Registry,
  describe: Describe,
): O => {
  if (!('resource' in operation) || !hasAccess(registry)) return operation
  const { kind, resource, route } = operation
  const { access } = resource
  const isRead = needed[kind] === 'read'
  const isOptional = isRead && isPublic(resource)
  if (isOptional && !isGuarded(resource)) return operation
  const refused = { 403: describe('`forbidden`: the key or token does not allow this.', errors.forbidden()) }
  if (!isOptional && !access)
    return { ...operation, route: { ...route, responses: { ...route.responses, ...refused } } }
  const rules = rulesOf(access?.[needed[kind]])
  const sentence = isOptional
    ? 'Everybody may; some fields are null without the right role.'
    : `Allowed for: ${describeRules(rules)}.`
  return {
    ...operation,
    route: {
      ...route,
      description: `${route.description?.replace(' Requires the write token.', '')} ${sentence}`,
      security: isOptional ? [{}, { caller: [] }] : [{ caller: [] }],
      ...(!isOptional && { 'x-access': rules.map(published) }),
      responses: {
        ...route.responses,
        ...(!isOptional && {
          401: describe('The key or token is missing, unknown or expired.', errors.callerMissing()),
          ...refused,
        }),
      },
    },
  }
}
