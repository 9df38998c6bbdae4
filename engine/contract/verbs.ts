/** What can be done with a resource, a row each: the routes, the handlers, the documents, the index and the rights follow from it. */
import type { RouteConfig } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import type { AccessName } from '../descriptor/define.js'
import { expandableFields } from '../descriptor/expansion.js'
import {
  followParameters,
  historyParameters,
  listParameters,
  rowParameters,
  summaryParameters,
} from '../descriptor/listParameters.js'
import { historyDays } from '../descriptor/logging.js'
import type { operationNames } from '../descriptor/names.js'
import { filterFields, type Registry, type Resource, searchedFields, updatableFields } from '../descriptor/registry.js'
import { possibleGroups } from '../descriptor/summary.js'
import { Violation } from '../descriptor/violations.js'
import * as errors from './errors.js'
import { changesExample, createdExample, createExample, historyExample, pageExample, rowExample } from './examples.js'
import { formats } from './formats.js'
import { keyReused, requestHeaders } from './headers.js'
import { importQuerySchema } from './importParameters.js'
import { cursorIssue, itemIdIssue, parameterIssue } from './issues.js'
import { itemIdSchema, querySchema } from './parameters.js'
import {
  changeResponses,
  commonResponses,
  errorResponse,
  headers,
  jsonContent,
  notRead,
  readResponses,
  rowMissing,
  success,
  tooLarge,
  writeResponses,
} from './responses.js'
import { type BodyReader, createBodyReader, importLimit, updateBodyReader } from './rowBody.js'
import {
  changesSchema,
  createSchema,
  historySchema,
  importSchema,
  summarySchema,
  updateSchema,
  withArticle,
} from './schemas.js'

export type VerbName = keyof ReturnType<typeof operationNames>

/** What reads the body of a write, or the rows of an import: as new ones, and as changes if rows can be changed. */
export interface BodyReaders {
  readonly readBody?: BodyReader
  readonly readCreate?: BodyReader
  readonly readUpdate?: BodyReader
}

export type ImportReaders = BodyReaders & Required<Pick<BodyReaders, 'readCreate'>>

type Described = Pick<RouteConfig, 'request' | 'responses'> & {
  readonly summary: string
  /** Without who may use it. */
  readonly description: string
  readonly readers?: BodyReaders
}

interface VerbContext {
  readonly registry: Registry
  readonly resource: Resource
  readonly singular: string
  readonly plural: string
  /** The schemas of the responses: a row, a page, and a row with what can be shown with it. */
  readonly row: z.ZodType
  readonly page: z.ZodType
  readonly single: z.ZodType
}

interface Verb {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** What follows the path of the resource. */
  readonly suffix: '' | '/{item_id}' | `/${string}`
  /** Undefined if only the write token is enough. */
  readonly right: AccessName | undefined
  /** Whether a resource has it; by default each does. */
  readonly isOffered?: (resource: Resource) => boolean | undefined
  readonly describe: (context: VerbContext) => Described
}

const names = (fields: readonly { readonly name: string }[]): string =>
  fields.map(({ name }) => `\`${name}\``).join(', ')

/** Only here: a second media type in the response would make its type a union in generated clients. */
const formatSentences = Object.entries(formats).map(([name, { description }]) => `\`Accept: ${name}\`: ${description}`)

const createHeaders = ({ existing }: Resource) => (existing ? requestHeaders.system : requestHeaders.create)
const changeHeaders = ({ existing }: Resource) => (existing ? requestHeaders.changeExisting : requestHeaders.change)

/** What reads the rows of an import. */
export const importReaders = (resource: Resource): ImportReaders => ({
  readCreate: createBodyReader(resource, createSchema(resource)),
  ...(updatableFields(resource).length > 0 && { readUpdate: updateBodyReader(resource, updateSchema(resource)) }),
})

const describeList: Verb['describe'] = ({ registry, resource, plural, page }) => {
  const filters = filterFields(resource)
  const ranges = resource.fields.filter((field) => field.range)
  const searched = searchedFields(resource)
  const expandable = expandableFields(resource)
  const sentences = [
    `Returns a page of ${plural}, ordered by \`id\` unless \`sort\` names a field.`,
    searched.length > 0 && `\`q\` searches ${names(searched)}, joined by spaces in this order.`,
    filters.length > 0 && `Filters, combined with AND: ${names(filters)}.`,
    ranges.length > 0 && `Bounds, combined with AND: ${names(ranges)}.`,
    expandable.length > 0 && `\`expand\` shows the rows that ${names(expandable)} name.`,
    ...formatSentences,
  ]
  const notANumber = errors.parametersInvalid([parameterIssue('limit', 'abc', new Violation('int_parsing', 'abc'))])
  return {
    summary: `List ${plural}`,
    description: sentences.filter(Boolean).join(' '),
    request: { query: querySchema(listParameters(resource, registry)), headers: requestHeaders.read },
    responses: {
      ...readResponses,
      200: success('The page.', page, pageExample(resource), 'ETag', 'Link'),
      422: errorResponse('A parameter is out of bounds or has the wrong type.', notANumber),
    },
  }
}

const describeSummary: Verb['describe'] = ({ resource, plural }) => {
  const expected = possibleGroups(resource).map(({ name }) => name)
  const unknown = errors.parametersInvalid([parameterIssue('by', 'x', new Violation('enum', 'x', { expected }))])
  return {
    summary: `Summarize ${plural}`,
    description: `Counts ${plural} by groups, those with the most rows first, and computes sums, averages and extremes. Filters, bounds and \`q\` are those of the list.`,
    request: { query: querySchema(summaryParameters(resource)), headers: requestHeaders.read },
    responses: {
      ...readResponses,
      200: success('The groups.', summarySchema(resource), undefined, 'ETag'),
      422: errorResponse('A parameter names nothing that can be computed, or is invalid.', unknown),
    },
  }
}

const describeChanges: Verb['describe'] = ({ resource, plural, row }) => ({
  summary: `Follow ${plural}`,
  description: `Returns the ${plural} that have changed since a cursor, whoever has changed them, each once and as it is now; with \`wait\`, as soon as one changes. Take a cursor, read the list, then follow.`,
  request: { query: querySchema(followParameters), headers: requestHeaders.system },
  responses: {
    ...commonResponses,
    200: success('The changes.', changesSchema(resource, row), changesExample(resource)),
    410: errorResponse(
      '`resync`: the cursor is too old or of another database, or the caller may not read what it could. Begin again.',
      errors.resync(),
    ),
    422: errorResponse(
      'A parameter is out of bounds or has the wrong type, or the cursor is not one of these changes.',
      errors.parametersInvalid([cursorIssue('x', 'notOfChanges')]),
    ),
    503: notRead,
  },
})

const describeGet: Verb['describe'] = ({ registry, resource, singular, single }) => {
  const example = rowExample(resource)
  const parameters = rowParameters(registry, resource)
  return {
    summary: `Get ${withArticle(singular)}`,
    description: `Returns the ${singular} with this \`id\`.`,
    request: {
      params: itemIdSchema(singular, String(example['id'])),
      ...(parameters.size > 0 && { query: querySchema(parameters) }),
      headers: requestHeaders.read,
    },
    responses: {
      ...readResponses,
      200: success(`The ${singular}.`, single, example, 'ETag'),
      404: rowMissing(resource),
      422: errorResponse(
        parameters.size > 0
          ? '`item_id` is not valid percent-encoded UTF-8, or `expand` names nothing that can be shown.'
          : '`item_id` is not valid percent-encoded UTF-8.',
        errors.parametersInvalid([itemIdIssue('%FF')]),
      ),
    },
  }
}

const describeCreate: Verb['describe'] = ({ registry, resource, singular, row }) => {
  const example = createExample(registry, resource)
  const created = createdExample(registry, resource)
  const schema = createSchema(resource)
  const readBody = createBodyReader(resource, schema)
  const { issues } = readBody({ ...example, not_a_field: 1 })
  return {
    readers: { readBody },
    summary: `Create ${withArticle(singular)}`,
    description: `Creates ${withArticle(singular)} and returns it.`,
    request: {
      headers: createHeaders(resource),
      body: { required: true, content: jsonContent(schema, example) },
    },
    responses: {
      ...writeResponses(resource),
      201: success(`The new ${singular}.`, row, created, 'Location', 'Idempotency-Replayed'),
      413: tooLarge,
      422: errorResponse('The create is invalid. Nothing was stored.', errors.bodyInvalid(issues)),
    },
  }
}

const describeImport: Verb['describe'] = ({ registry, resource, plural }) => {
  const schema = createSchema(resource)
  const example = createExample(registry, resource)
  const readers = importReaders(resource)
  const { readCreate } = readers
  const { issues } = readCreate({ ...example, not_a_field: 1 })
  const rows = issues.map(({ loc: [place, ...rest], ...issue }) => ({ ...issue, loc: [place as string, 0, ...rest] }))
  const text = (description: string) => ({ schema: z.string().meta({ description }) })
  const isChanged = updatableFields(resource).length > 0
  return {
    readers,
    summary: `Import ${plural}`,
    description: `Creates up to 10,000 ${plural} at once${isChanged ? ', or changes those that `match` finds' : ''}: all of them, or none.`,
    request: {
      query: importQuerySchema(resource),
      headers: createHeaders(resource),
      body: {
        required: true,
        content: {
          ...jsonContent(z.array(schema), [example]),
          'text/csv': text('The first line names the fields. An empty cell is null, `""` an empty text.'),
          'application/x-ndjson': text('A JSON object in each line.'),
        },
      },
    },
    responses: {
      ...writeResponses(resource),
      200: success('What a dry run would have stored.', importSchema, {
        created: 1,
        updated: 0,
        unchanged: 0,
        ids: [],
      }),
      201: success(
        'What was stored; the ids in the order of the rows.',
        importSchema,
        { created: 1, updated: 0, unchanged: 0, ids: [createdExample(registry, resource)['id']] },
        'Idempotency-Replayed',
      ),
      413: errorResponse('The body is too large, or has too many rows.', errors.payloadTooLarge(importLimit)),
      422: errorResponse('A row or a parameter is invalid. Nothing was stored.', errors.bodyInvalid(rows, rows.length)),
    },
  }
}

const describeUpdate: Verb['describe'] = ({ registry, resource, singular, row }) => {
  const example = rowExample(resource)
  const schema = updateSchema(resource)
  const created = createExample(registry, resource)
  // One that everybody may make who may change rows, if there is any.
  const fields = updatableFields(resource).toSorted((a, b) => Number(!!a.writeBy) - Number(!!b.writeBy))
  const changes = fields.map(({ name }) => ({ [name]: example[name] ?? created[name] ?? null }))
  // A redacted field has no example, and null is refused for it.
  const changed = changes.find((body) => schema.safeParse(body).success) ?? {}
  const readBody = updateBodyReader(resource, schema)
  const { issues } = readBody({ not_a_field: 1 })
  const content = { 'application/merge-patch+json': { schema, example: changed }, ...jsonContent(schema, changed) }
  return {
    readers: { readBody },
    summary: `Change ${withArticle(singular)}`,
    description: `Changes the fields that the body has (RFC 7396), and returns the ${singular}. A body that changes nothing writes nothing.`,
    request: {
      params: itemIdSchema(singular, String(example['id'])),
      headers: changeHeaders(resource),
      body: { required: true, content },
    },
    responses: {
      ...changeResponses(resource),
      200: success(`The ${singular} as it is now.`, row, example, 'ETag', 'Content-Location', 'Idempotency-Replayed'),
      413: tooLarge,
      422: errorResponse('The update is invalid. Nothing was changed.', errors.bodyInvalid(issues)),
    },
  }
}

const describeDelete: Verb['describe'] = ({ resource, singular }) => {
  const references = [{ resource: 'others', field: `${singular.replaceAll(/\W+/g, '_')}_id`, count: 3 }]
  const reused = errors.bodyInvalid([keyReused()])
  return {
    summary: `Delete ${withArticle(singular)}`,
    description: `Deletes the ${singular}.`,
    request: {
      params: itemIdSchema(singular, String(rowExample(resource)['id'])),
      headers: changeHeaders(resource),
    },
    responses: {
      ...changeResponses(resource),
      204: { description: `The ${singular} is deleted.`, headers: headers('Idempotency-Replayed') },
      409: errorResponse(
        'Other rows reference the row. Nothing was deleted.',
        errors.referenced(resource.name, references),
      ),
      422: errorResponse('The `Idempotency-Key` is invalid, or was used for another request.', reused),
    },
  }
}

const describeHistory: Verb['describe'] = ({ resource, singular }) => ({
  summary: `Get the history of ${withArticle(singular)}`,
  description: `Returns the changes of the ${singular}, the newest first, also after its delete: who has made each, and the fields that it has changed, each with its value before and after.`,
  request: {
    params: itemIdSchema(singular, String(rowExample(resource)['id'])),
    query: querySchema(historyParameters),
    headers: requestHeaders.read,
  },
  responses: {
    ...readResponses,
    200: success('The page.', historySchema, historyExample(resource), 'ETag'),
    404: rowMissing(resource),
    422: errorResponse(
      'A parameter is out of bounds or has the wrong type.',
      errors.parametersInvalid([parameterIssue('limit', 'abc', new Violation('int_parsing', 'abc'))]),
    ),
  },
})

/** Issues of bodies have no input. */
const { input: _, ...itemIdInvalid } = itemIdIssue('%FF')

const describeEraseHistory: Verb['describe'] = ({ resource, singular }) => ({
  summary: `Erase the history of ${withArticle(singular)}`,
  description: `Erases the values in the history of the ${singular}; who has changed it, and when, stays.`,
  request: {
    params: itemIdSchema(singular, String(rowExample(resource)['id'])),
    headers: requestHeaders.system,
  },
  responses: {
    ...writeResponses({}),
    204: { description: 'The values are erased.', headers: headers() },
    404: rowMissing(resource),
    422: errorResponse('`item_id` is not valid percent-encoded UTF-8.', errors.bodyInvalid([itemIdInvalid])),
  },
})

const isUpdatable = (resource: Resource): boolean => updatableFields(resource).length > 0

const hasHistory = (resource: Resource): boolean => historyDays(resource) !== undefined

/** In the order of their routes: words before the id of a row, whose path would be theirs too. */
export const verbs = {
  list: { method: 'get', suffix: '', right: 'read', describe: describeList },
  summary: {
    method: 'get',
    suffix: '/summary',
    right: 'read',
    isOffered: (one) => one.summary,
    describe: describeSummary,
  },
  changes: {
    method: 'get',
    suffix: '/changes',
    right: 'read',
    isOffered: (one) => one.changes,
    describe: describeChanges,
  },
  import: {
    method: 'post',
    suffix: '/import',
    right: 'create',
    isOffered: (one) => one.import,
    describe: describeImport,
  },
  get: { method: 'get', suffix: '/{item_id}', right: 'read', describe: describeGet },
  create: { method: 'post', suffix: '', right: 'create', isOffered: (one) => one.create, describe: describeCreate },
  update: { method: 'patch', suffix: '/{item_id}', right: 'update', isOffered: isUpdatable, describe: describeUpdate },
  delete: {
    method: 'delete',
    suffix: '/{item_id}',
    right: 'delete',
    isOffered: (one) => one.delete,
    describe: describeDelete,
  },
  history: {
    method: 'get',
    suffix: '/{item_id}/history',
    right: 'read',
    isOffered: hasHistory,
    describe: describeHistory,
  },
  eraseHistory: {
    method: 'delete',
    suffix: '/{item_id}/history',
    right: undefined,
    isOffered: hasHistory,
    describe: describeEraseHistory,
  },
} as const satisfies Readonly<Record<VerbName, Verb>>

export const verbNames = Object.keys(verbs) as VerbName[]

export const verbOf = (name: VerbName): Verb => verbs[name]

export const isOffered = (name: VerbName, resource: Resource): boolean => {
  const { isOffered: isDeclared = () => true } = verbOf(name)
  return isDeclared(resource) === true
}
