/** The three operations of a resource, described from its descriptor. */
import { z } from 'zod'
import { filterFields, type Resource, searchedFields } from '../descriptor/registry.js'
import { createBodyReader } from './createBody.js'
import { bodyInvalid, parametersInvalid, payloadTooLarge, rowNotFound, tokenMissing, writesDisabled } from './errors.js'
import { createdExample, createExample, pageExample, rowExample } from './examples.js'
import { keySchema, replayedSchema } from './idempotency.js'
import {
  type Answer,
  always,
  databaseDown,
  notCurrent,
  type Operation,
  refused,
  tagged,
  unchanged,
} from './operation.js'
import { idNotText, limitBounds, offsetBounds, readInteger } from './parameters.js'
import { collectionSchema, createSchema, parameterErrorSchema, pascal } from './schemas.js'

/** The most bytes a create body may have. */
export const bodyLimit = 1024 * 1024

const listQuery = (resource: Resource): z.ZodObject =>
  z.object({
    limit: z
      .int()
      .min(limitBounds.least)
      .max(limitBounds.most)
      .default(limitBounds.default)
      .meta({ description: 'Page size.' }),
    offset: z
      .int()
      .min(offsetBounds.least)
      .default(offsetBounds.default)
      .meta({ description: 'How many rows to skip.' }),
    q: z.string().optional().meta({ description: 'Text to search for, in any case.' }),
    ...Object.fromEntries(
      filterFields(resource).map((field) => [
        field.name,
        (field.kind === 'integer' ? z.int() : z.string())
          .optional()
          .meta({ description: `Only rows whose ${field.name} is exactly this.` }),
      ]),
    ),
  })

const badParameter = (name: string): Answer => {
  const reading = readInteger(name, 'abc')
  const issues = 'issue' in reading ? [reading.issue] : []
  return refused(
    'A parameter is out of its bounds or of the wrong type.',
    parametersInvalid(issues),
    parameterErrorSchema,
  )
}

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
const namesOf = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')

/** The list operation. */
export const list = (resource: Resource, row: z.ZodType): Operation => {
  const filters = filterFields(resource).map((field) => field.name)
  const searched = searchedFields(resource).map((field) => field.name)
  const plural = resource.plural.toLowerCase()
  return {
    kind: 'list',
    resource,
    id: `list${pascal(resource.plural)}`,
    method: 'get',
    path: `/v1/${resource.path}`,
    tag: resource.area,
    summary: `List ${plural}`,
    description: [
      `A page of ${plural}, ordered by \`id\`.`,
      searched.length > 0 && `\`q\` searches ${namesOf(searched)}, joined by a space in this order.`,
      filters.length > 0 && `Filters, joined by AND: ${namesOf(filters)}.`,
    ]
      .filter(Boolean)
      .join(' '),
    query: listQuery(resource),
    secured: false,
    answers: {
      200: {
        description: 'The page.',
        schema: collectionSchema(resource, row),
        example: pageExample(resource),
        headers: tagged,
      },
      304: unchanged,
      ...always,
      412: notCurrent,
      422: badParameter('limit'),
      503: databaseDown,
    },
  }
}

/** The get-one operation. */
export const get = (resource: Resource, row: z.ZodType): Operation => {
  const example = rowExample(resource)
  const one = resource.name.toLowerCase()
  return {
    kind: 'get',
    resource,
    id: `get${pascal(resource.name)}`,
    method: 'get',
    path: `/v1/${resource.path}/{item_id}`,
    tag: resource.area,
    summary: `Get ${withArticle(one)}`,
    description: `The ${one} whose \`id\` is the last part of the path.`,
    pathParameters: z.object({
      item_id: z.string().meta({ description: `The \`id\` of the ${one}.`, example: String(example['id']) }),
    }),
    secured: false,
    answers: {
      200: { description: `The ${one}.`, schema: row, example, headers: tagged },
      304: unchanged,
      ...always,
      412: notCurrent,
      404: refused('No row has this id.', rowNotFound(resource.name, '0')),
      422: refused('The id is no text at all.', parametersInvalid([idNotText('%FF')]), parameterErrorSchema),
      503: databaseDown,
    },
  }
}

/** The create operation. */
export const create = (resource: Resource, row: z.ZodType): Operation => {
  const one = resource.name.toLowerCase()
  const example = createExample(resource)
  const { issues } = createBodyReader(resource)({ ...example, not_a_field: 1 })
  return {
    kind: 'create',
    resource,
    id: `create${pascal(resource.name)}`,
    method: 'post',
    path: `/v1/${resource.path}`,
    tag: resource.area,
    summary: `Create ${withArticle(one)}`,
    description: `Stores a new ${one} and answers with the whole row. Needs the write token.`,
    headers: keySchema,
    body: { schema: createSchema(resource), example },
    secured: true,
    answers: {
      201: {
        description: `The ${one} as it was stored.`,
        schema: row,
        example: createdExample(resource),
        headers: z
          .object({ Location: z.string().meta({ description: 'The path of the new row.' }) })
          .extend(replayedSchema.shape),
      },
      ...always,
      401: refused('The write token is missing or wrong.', tokenMissing()),
      413: refused('The body is too large.', payloadTooLarge(bodyLimit)),
      422: refused('The body is refused; nothing was stored.', bodyInvalid(issues)),
      503: refused('No write token is configured, or the database does not answer.', writesDisabled()),
    },
  }
}
