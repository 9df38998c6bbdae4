/** The custom operations of a deployment, as the documents describe them. */
import { z } from 'zod'
import { operationIdOf } from '../descriptor/names.js'
import { isTransaction } from '../descriptor/operation.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import { callerResponses } from './accessDocuments.js'
import * as errors from './errors.js'
import { requestHeaders } from './headers.js'
import { commonResponses, errorResponse, headers, responseErased } from './responses.js'

/** `mayBeErased` if stored responses may be erased with the history of a row. */
export const customOperation = (definition: NamedOperation, mayBeErased: boolean) => {
  const { name, method, path, about, area = 'Operations', access, query, body, response } = definition
  const isPublic = access.includes('public')
  const takesKey = isTransaction(definition)
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, segment = '']) => [segment, z.string()])
  const allowed = access.length > 0 ? access.join(', ') : 'API_TOKEN'
  const invalid = errors.parametersInvalid([{ type: 'missing', loc: ['query', 'name'], msg: 'Field required' }])
  return {
    kind: 'own' as const,
    definition,
    route: {
      operationId: operationIdOf(name),
      method: method.toLowerCase() as 'get',
      path,
      tags: [area] as [string],
      summary: about.replace(/\.$/, ''),
      description: isPublic ? about : `${about.replace(/\.?$/, '.')} Allowed for: ${allowed}.`,
      security: isPublic ? [] : [{ caller: [] }],
      ...(!isPublic && { 'x-access': access }),
      request: {
        headers: takesKey ? requestHeaders.create : requestHeaders.system,
        ...(params.length > 0 && { params: z.object(Object.fromEntries(params)) }),
        ...(query && { query }),
        ...(body && { body: { required: true, content: { 'application/json': { schema: body } } } }),
      },
      responses: {
        ...commonResponses,
        200: {
          description: 'What it returns.',
          content: { 'application/json': { schema: response ?? z.unknown() } },
          ...(takesKey && { headers: headers('Idempotency-Replayed') }),
        },
        ...(!isPublic && callerResponses),
        ...(takesKey && mayBeErased && { 410: responseErased }),
        422: errorResponse('A parameter or the body is invalid.', method === 'GET' ? invalid : errors.bodyInvalid([])),
        ...(!takesKey && { 501: errorResponse('An `Idempotency-Key` was sent.', errors.keyNotTaken()) }),
        503: errorResponse('It took too long, or the database is not available.', errors.unavailable()),
      },
    },
  }
}
