/** What the documents say about who may use an operation: its security, the responses 401 and 403, and a sentence. */
import { describeRules, isGuarded, isPublic } from '../descriptor/access.js'
import { type AccessName, type AccessRule, rulesOf } from '../descriptor/define.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import * as errors from './errors.js'
import { errorResponse } from './responses.js'

/** A rule as the documents have it: a claim as its name. */
const publishRule = (rule: AccessRule): unknown =>
  typeof rule === 'string'
    ? rule
    : Object.fromEntries(Object.entries(rule).map(([field, claimed]) => [field, { claim: claimed?.name }]))

/** Whether any operation of a registry needs a key or token other than the write token. */
export const hasAccess = (registry: Registry): boolean => registry.some((one) => one.access || isGuarded(one))

export const tokenMissingResponse = errorResponse('The write token is missing or wrong.', errors.tokenMissing())

const notAllowed = { 403: errorResponse('`forbidden`: the key or token does not allow this.', errors.forbidden()) }

/** The responses to callers who may not use an operation. */
export const callerResponses = {
  401: errorResponse('The key or token is missing, unknown or expired.', errors.callerMissing()),
  ...notAllowed,
}

/** What the documents say about who may use an operation of a resource that needs a right. */
export const accessOf = (registry: Registry, resource: Resource, right: AccessName | undefined) => {
  const { access } = resource
  if (right === 'read' && isPublic(resource)) {
    if (!isGuarded(resource)) return { security: [] }
    const sentence = 'Everybody may; some fields are null without the right role.'
    return { sentence, security: [{}, { caller: [] }] }
  }
  if (!access || right === undefined) {
    const responses = { 401: tokenMissingResponse, ...(hasAccess(registry) && notAllowed) }
    return { sentence: 'Requires the write token.', security: [{ writeToken: [] }], responses }
  }
  const rules = rulesOf(access[right])
  return {
    sentence: `Allowed for: ${describeRules(rules)}.`,
    security: [{ caller: [] }],
    'x-access': rules.map(publishRule),
    responses: callerResponses,
  }
}
