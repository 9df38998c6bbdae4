/** The zod schemas: the row, the page and the create body of a descriptor; the index, the health check and the error bodies. */
import { z } from 'zod'
import { describeClock } from '../descriptor/clock.js'
import { isJson, jsonTypes, kindOf } from '../descriptor/kinds/index.js'
import { schemaNames } from '../descriptor/names.js'
import {
  type Field,
  idField,
  isMandatory,
  type Resource,
  updatableFields,
  writableFields,
} from '../descriptor/registry.js'
import { newField } from '../descriptor/rowRules.js'
import { type Aggregate, aggregatedFields, aggregates, type Group, possibleGroups } from '../descriptor/summary.js'
import { ruleKeywords, valueSchema } from '../descriptor/valueRules.js'
import { errorCodes } from './errors.js'

const path = (description: string) => z.string().meta({ description })

export const indexSchema = z
  .looseObject({
    name: z.string(),
    version: z.string(),
    openapi: path('Path of the OpenAPI 3.1 document.'),
    swagger: path('Path of the Swagger 2.0 document.'),
    docs: path('Path of the docs page.'),
    health: path('Path of the health check.'),
    resources: z.array(
      z.object({
        name: z.string(),
        path: path('Path of the list.'),
        create: z.boolean().meta({ description: 'Whether rows can be created.' }),
      }),
    ),
  })
  .meta({ id: 'Index' })

export const healthSchema = z
  .object({
    status: z.string().meta({ description: '`ok`, or `read-only` if the database cannot be written.' }),
    product: z.string(),
    version: z.string(),
    writes_enabled: z
      .boolean()
      .meta({ description: 'Whether a write token is configured, and the database lets this deployment write.' }),
  })
  .meta({ id: 'Health' })

const loc = () => z.array(z.union([z.string(), z.int()]))

const bodyIssueSchema = z
  .object({
    type: z.string().meta({ description: 'Kind of error, such as `missing`, `reference` or `unique`.' }),
    loc: loc().meta({ description: 'Where: `body` or `header`, and the name of the property or header.' }),
    msg: z.string().meta({ description: 'What is wrong and what to do.' }),
    line: z.int().optional().meta({ description: 'Of an import: the line in which the row begins, from 1.' }),
  })
  .meta({ id: 'ValidationIssue', description: 'One error of a create.' })

const codeList = Object.entries(errorCodes).map(([name, meaning]) => `- \`${name}\`: ${meaning}`)

export const errorSchema = z
  .object({
    error: z.object({
      // Not an enum: a strict client would fail on a code that a later version adds.
      code: z.string().meta({
        description: `Stable code for programs. New codes may be added.\n\n${codeList.join('\n')}`,
        'x-extensible-enum': Object.keys(errorCodes),
      }),
      message: z.string().meta({ description: 'What is wrong and what to do, for people.' }),
      details: z
        .looseObject({
          issues: z.array(bodyIssueSchema).optional().meta({ description: 'With `validation_error`: every error.' }),
        })
        .optional(),
    }),
  })
  .meta({ id: 'ErrorEnvelope' })

const parameterIssueSchema = z
  .object({
    loc: loc().meta({ description: '`query` or `path`, and the name of the parameter.' }),
    msg: z.string().meta({ description: 'What is wrong.' }),
    type: z.string().meta({ description: 'Kind of error, such as `int_parsing` or `less_than_equal`.' }),
    input: z.unknown().optional().meta({ description: 'The value as it was sent.' }),
    ctx: z.looseObject({}).optional().meta({ description: 'The bound that was exceeded, as `ge` or `le`.' }),
  })
  .meta({ id: 'ParameterIssue', description: 'One error of a query or path parameter.' })

export const parameterErrorSchema = z.object({ detail: z.array(parameterIssueSchema) }).meta({ id: 'ValidationError' })

export const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

const code = (text: string): string => `\`${text}\``

const formatDescriptions = {
  date: 'Date, `YYYY-MM-DD`',
  timestamp: 'UTC timestamp, `YYYY-MM-DDTHH:MM:SSZ`',
} as const

/** As text: openapi-typescript makes a property with the keyword `default` mandatory in request bodies. */
const describeDefault = ({ default: source, required }: Field): string => {
  const value =
    typeof source === 'function'
      ? (describeClock(source)?.description ?? 'computed by the service')
      : code(typeof source === 'object' ? JSON.stringify(source) : `${source}`)
  return `Default: ${value}${required ? ', also for null' : '; null stays null'}.`
}

const describeUnique = (within: readonly string[]): string =>
  within.length === 0 ? 'Unique.' : `Unique among rows with the same ${within.map(code).join(' and ')}.`

/** The steps of `next` as a table. */
const describeSteps = ({ oneOf = [], next = {} }: Field): string => {
  const steps = oneOf.map((from) => `| ${from} | ${(next[String(from)] ?? []).join(', ') || 'none'} |`)
  return ['What each value may be changed to:', '', '| from | to |', '| --- | --- |', ...steps].join('\n')
}

/** The values that a create may send, if steps begin with some of them. */
const startOf = ({ start }: Field, isBody: boolean, isUpdate: boolean) => (isBody && !isUpdate ? start : undefined)

const describeRules = ({ rules = [] }: Resource): string => rules.map(({ message }) => ` ${message}.`).join('')

const sentences = (field: Field, isBody: boolean, isUpdate: boolean): string => {
  const { about, references, unique, format, managed, redacted, readBy, writeBy } = field
  const start = startOf(field, isBody, isUpdate)
  return [
    about,
    references && `References the \`id\` of a row of \`/v1/${references}\`.`,
    unique && describeUnique(unique),
    format && `${formatDescriptions[format]}${isBody ? '; any string is accepted' : ''}.`,
    typeof managed === 'function' && 'Set by the service.',
    redacted && (isBody ? 'Never returned.' : 'Always null.'),
    readBy && `Only for ${readBy.join(', ')}${isBody ? '' : '; null for others'}.`,
    writeBy && `Set only by ${writeBy.join(', ')}${isBody ? '; refused from others' : ''}.`,
    start && `A new row begins as ${start.map((value) => code(String(value))).join(' or ')}.`,
    isUpdate && field.next && describeSteps(field),
    isBody && !isUpdate && field.default !== undefined && describeDefault(field),
  ]
    .filter(Boolean)
    .join(' ')
}

/** The default for programs: a value, or the name of the function that returns it. */
const defaultName = ({ default: source }: Field): unknown =>
  typeof source === 'function' ? { computed: describeClock(source)?.name ?? 'by the service' } : source

/** The rules that JSON Schema cannot express, as extension keywords for programs; undefined without a rule. */
const extensionKeywords = (field: Field, isBody: boolean, isUpdate: boolean) => ({
  'x-references': field.references && `/v1/${field.references}`,
  'x-unique': field.unique,
  'x-redacted': isBody ? undefined : field.redacted,
  'x-read-by': field.readBy,
  'x-write-by': field.writeBy,
  'x-start': startOf(field, isBody, isUpdate),
  'x-default': isBody && !isUpdate ? defaultName(field) : undefined,
  'x-next': isUpdate ? field.next : undefined,
})

const fieldSchemas = (fields: readonly Field[], isBody: boolean, isUpdate = false) =>
  Object.fromEntries(
    fields.map((field) => {
      const value = isBody ? valueSchema(field) : kindOf(field.kind).row(field)
      // A client that echoes what it read must not erase a redacted field.
      const isRequired = isBody && !isUpdate ? isMandatory(field) : field.required || (isUpdate && field.redacted)
      const present = isRequired ? value : value.nullable()
      const schema = isRequired && !isUpdate ? present : present.optional()
      const keywords = ruleKeywords(isBody && !isUpdate ? newField(field) : field)
      // A schema that allows null must name it among the values.
      if (Array.isArray(keywords['enum']) && !isRequired) keywords['enum'] = [...keywords['enum'], null]
      if (isJson(field) && !isRequired) keywords['type'] = [...jsonTypes, 'null']
      const description = sentences(field, isBody, isUpdate)
      const extensions = extensionKeywords(field, isBody, isUpdate)
      return [field.name, schema.meta({ ...(description && { description }), ...extensions, ...keywords })]
    }),
  )

/** A row as clients receive it: a required field is never null, the others are optional in the schema. */
export const rowSchema = (resource: Resource) =>
  z
    .object(fieldSchemas(resource.fields, false))
    .meta({ id: schemaNames(resource).row, ...(resource.about && { description: resource.about }) })

/** The rules for programs that compare documents. */
const ruleKeyword = ({ rules }: Resource) =>
  rules ? { 'x-rules': rules.map(({ fields, message }) => ({ fields, message })) } : {}

export const createSchema = (resource: Resource) =>
  z.strictObject(fieldSchemas(writableFields(resource), true)).meta({
    id: schemaNames(resource).create,
    description: `Request body for creating ${withArticle(resource.name.toLowerCase())}.${describeRules(resource)}`,
    ...ruleKeyword(resource),
  })

export const updateSchema = (resource: Resource) =>
  z.strictObject(fieldSchemas(updatableFields(resource), true, true)).meta({
    id: schemaNames(resource).update,
    description: `Request body for changing ${withArticle(resource.name.toLowerCase())}. What is absent stays as it is.${describeRules(resource)}`,
    ...ruleKeyword(resource),
  })

const paginationMeta = z
  .object({
    total: z.int().meta({ description: 'Number of matching rows, over all pages.' }),
    limit: z.int().meta({ description: 'Page size used.' }),
    offset: z.int().meta({ description: 'Number of rows skipped.' }),
  })
  .meta({ id: 'PaginationMeta' })

/** A row with the members that `expand` can add to it; beside the row, whose schema stays as it is. */
export const expandedSchema = (row: z.ZodType, members: Readonly<Record<string, z.ZodType>>): z.ZodType => {
  if (Object.keys(members).length === 0) return row
  const expanded = z.object(members).partial().optional().meta({ description: 'What `expand` names.' })
  return z.intersection(row, z.object({ expanded }))
}

/** What an import has stored. */
export const importSchema = z
  .object({
    created: z.int().meta({ description: 'Number of rows that were created.' }),
    updated: z.int().meta({ description: 'Number of rows that were changed.' }),
    unchanged: z.int().meta({ description: 'Number of rows that were as sent already.' }),
    ids: z
      .array(z.union([z.int(), z.string()]))
      .meta({ description: 'The ids in the order of the rows; empty after a dry run.' }),
  })
  .meta({ id: 'ImportResult' })

/** A page of the history of a row; values are those of its fields. */
export const historySchema = z.object({
  data: z.array(
    z.object({
      at: z.string().meta({ description: 'UTC timestamp, `YYYY-MM-DDTHH:MM:SS.sssZ`.' }),
      by: z.string().nullable().meta({ description: 'The name of the caller; null for other programs.' }),
      op: z.enum(['create', 'update', 'delete']),
      changed: z
        .record(z.string(), z.array(z.unknown()).length(2))
        .meta({ description: 'The fields that were changed, each with its value before and after.' }),
    }),
  ),
  meta: paginationMeta,
})

const groupValue = (resource: Resource, { field: name, part }: Group): z.ZodType => {
  const field = resource.fields.find((candidate) => candidate.name === name) as Field
  return (part ? z.string() : kindOf(field.kind).row(field)).nullable()
}

const aggregateValue = (resource: Resource, aggregate: Aggregate, name: string): z.ZodType => {
  const field = resource.fields.find((candidate) => candidate.name === name) as Field
  if (aggregate === 'min' || aggregate === 'max') return kindOf(field.kind).row(field).nullable()
  return (kindOf(field.kind).sums?.schema() ?? z.number()).nullable()
}

/** A page of groups. Each has what the request asks for. */
export const summarySchema = (resource: Resource) => {
  const computed = aggregates.flatMap((aggregate): [string, z.ZodType][] => {
    const names = aggregatedFields(resource, aggregate)
    const values = names.map((name) => [name, aggregateValue(resource, aggregate, name)])
    return names.length > 0 ? [[aggregate, z.object(Object.fromEntries(values)).partial().optional()]] : []
  })
  const by = possibleGroups(resource).map((group) => [group.name, groupValue(resource, group)])
  return z.object({
    data: z.array(
      z.object({
        by: z.object(Object.fromEntries(by)).partial(),
        count: z.int().meta({ description: 'Number of rows of the group.' }),
        ...Object.fromEntries(computed),
      }),
    ),
    meta: z.object({
      total: z.int().meta({ description: 'Number of groups.' }),
      limit: z.int().meta({ description: 'The most groups that are returned.' }),
      rows: z.int().meta({ description: 'Number of matching rows, over all groups.' }),
    }),
  })
}

export const collectionSchema = (resource: Resource, row: z.ZodType) =>
  z.object({ data: z.array(row), meta: paginationMeta }).meta({ id: schemaNames(resource).collection })

/** A page of changes. */
export const changesSchema = (resource: Resource, row: z.ZodType) => {
  const id = idField(resource)
  const changed = {
    id: kindOf(id.kind).row(id),
    at: z.string().meta({ format: 'date-time', description: 'When the row has changed last.' }),
  }
  return z.object({
    data: z.array(
      z.union([
        z.object({ op: z.literal('put').meta({ description: 'The row is new, or has changed.' }), ...changed, row }),
        z.object({
          op: z
            .literal('remove')
            .meta({ description: 'The row is gone, or is not one that the caller may read any more.' }),
          ...changed,
        }),
      ]),
    ),
    meta: z.object({
      next: z.string().meta({ description: 'The cursor after this page, for the next request.' }),
      more: z.boolean().meta({ description: 'Whether there are more changes already.' }),
    }),
  })
}
