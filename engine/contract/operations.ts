/**
 * Every operation of the interface: the router and the documents both interpret this one list, so what is served and
 * what is documented cannot disagree.
 */
import type { Registry } from '../descriptor/registry.js'
import { always, databaseDown, type Operation } from './operation.js'
import { create, get, list } from './resourceOperations.js'
import { healthSchema, indexSchema, rowSchema } from './schemas.js'

const system = (): Operation[] => [
  {
    kind: 'index',
    id: 'getIndex',
    method: 'get',
    path: '/',
    tag: 'System',
    summary: 'Index of the service',
    description: 'The name and version of the service, where its documents are, and the path of every resource.',
    secured: false,
    answers: { 200: { description: 'The index.', schema: indexSchema }, ...always },
  },
  {
    kind: 'health',
    id: 'getHealth',
    method: 'get',
    path: '/v1/health',
    tag: 'System',
    summary: 'Health of the service',
    description: 'Asks the database, and says whether a write token is configured.',
    secured: false,
    answers: { 200: { description: 'The service is well.', schema: healthSchema }, ...always, 503: databaseDown },
  },
]

/** The operations of a registry, system ones first. */
export const operationsOf = (registry: Registry): readonly Operation[] => [
  ...system(),
  ...registry.flatMap((resource) => {
    const row = rowSchema(resource)
    return [list(resource, row), get(resource, row), ...(resource.create ? [create(resource, row)] : [])]
  }),
]
