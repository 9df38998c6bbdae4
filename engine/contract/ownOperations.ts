/** The operations of a deployment's own code, as the documents describe them. */
import type { ResponseConfig } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { operationIdOf } from '../descriptor/names.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import * as errors from './errors.js'
import { requestHeaders } from './headers.js'

type Describe = (description: string, error: errors.HttpError) => ResponseConfig

export const ownOperation = (
  own: NamedOperation,
  describe: Describe,
  common: Readonly<Record<string, ResponseConfig>>,
) => {
  const { name, method, path, about, area = 'Operations', access, query, body, response } = own
  const isPublic = access.includes('public')
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, one = '']) => [one, z.string()])
  const words = access.length > 0 ? access.join(', ') : 'API_TOKEN'
  const invalid = errors.parametersInvalid([{ type: 'missing', loc: ['query', 'name'], msg: 'Field required' }])
  return {
    kind: 'own' as const,
    own,
    route: {
      operationId: operationIdOf(name),
      method: method.toLowerCase() as 'get',
      path,
      tags: [area] as [string],
      summary: about.replace(/\.$/, ''),
      description: isPublic ? about : `${about.replace(/\.?$/, '.')} Allowed for: ${words}.`,
      security: isPublic ? [] : [{ caller: [] }],
      ...(!isPublic && { 'x-access': access }),
      request: {
        headers: requestHeaders.system,
        ...(params.length > 0 && { params: z.object(Object.fromEntries(params)) }),
        ...(query && { query }),
        ...(body && { body: { required: true, content: { 'application/json': { schema: body } } } }),
      },
      responses: {
        ...common,
        200: { description: 'What it returns.', content: { 'application/json': { schema: response ?? z.unknown() } } },
        ...(!isPublic && {
          401: describe('The key or token is missing, unknown or expired.', errors.callerMissing()),
          403: describe('`forbidden`: the key or token does not allow this.', errors.forbidden()),
        }),
        422: describe('A parameter or the body is invalid.', method === 'GET' ? invalid : errors.bodyInvalid([])),
        501: describe('An `Idempotency-Key` was sent.', errors.keyNotTaken()),
        503: describe('It took too long, or the database is not available.', errors.unavailable()),
      },
    },
  }
}
