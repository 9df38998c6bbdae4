/** Reads the body of a batch: its operations, one after the other, each with what is wrong with its form. */
import { z } from 'zod'
import { memberTexts } from '../descriptor/jsonText.js'
import { jsonNoun } from '../descriptor/violations.js'
import { jsonErrorPlace } from '../process/jsonError.js'
import { bodyInvalid, type Issue, maxIssues } from './errors.js'
import { arrayElements, notJson } from './importRows.js'
import { bodyIssue, unknownIssue } from './issues.js'
import { hasTooManyValues } from './jsonScan.js'
import { bodyLimit } from './rowBody.js'

export const maxOperations = 1_000

/** The most values of one operation, those of its JSON fields counted. */
const maxValues = 100_000

export const batchMethods = ['POST', 'PATCH', 'DELETE'] as const
export type BatchMethod = (typeof batchMethods)[number]

/** An operation as it was sent. */
export interface SentOperation {
  readonly method: BatchMethod
  readonly path: string
  readonly body: unknown
  /** The body as JSON, with the digits of its numbers. */
  readonly source: string
  /** The name by which later operations refer to its row. */
  readonly as: string | undefined
  readonly ifMatch: string | undefined
  readonly issues: readonly Issue[]
}

const members = ['method', 'path', 'body', 'as', 'ifMatch']

const invalidOperation = (...issues: readonly Issue[]): SentOperation => ({
  method: 'POST',
  path: '',
  body: undefined,
  source: '',
  as: undefined,
  ifMatch: undefined,
  issues,
})

const textIssue = (name: string, value: unknown): Issue[] =>
  value === undefined || typeof value === 'string'
    ? []
    : [bodyIssue('string_type', `${name} must be a string, not ${jsonNoun(value)}.`, name)]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An operation has the limits of a single write. */
const isTooLarge = (text: string): boolean => text.length > bodyLimit || hasTooManyValues(Buffer.from(text), maxValues)

const readOperation = (text: string): SentOperation => {
  if (isTooLarge(text)) return invalidOperation(bodyIssue('too_long', 'The operation is too large.'))
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return invalidOperation(bodyIssue('json_invalid', `The operation is not valid JSON: ${jsonErrorPlace(text)}.`))
  }
  if (!isObject(parsed))
    return invalidOperation(bodyIssue('object_type', `An operation must be a JSON object, not ${jsonNoun(parsed)}.`))
  const { method, path, body, as, ifMatch } = parsed
  const issues = [
    ...Object.keys(parsed)
      .filter((name) => !members.includes(name))
      .slice(0, maxIssues)
      .map((name) => unknownIssue(name, members)),
    ...(batchMethods.includes(method as BatchMethod)
      ? []
      : [{ ...bodyIssue('enum', 'method must be POST, PATCH or DELETE.', 'method'), ctx: { expected: batchMethods } }]),
    ...(path === undefined ? [bodyIssue('missing', 'path is missing.', 'path')] : textIssue('path', path)),
    ...textIssue('as', as),
    ...textIssue('ifMatch', ifMatch),
    ...(as !== undefined && method !== 'POST'
      ? [bodyIssue('extra_forbidden', 'as names a row that is created.', 'as')]
      : []),
    ...(ifMatch !== undefined && method === 'POST'
      ? [bodyIssue('extra_forbidden', 'ifMatch is for rows that exist.', 'ifMatch')]
      : []),
    ...(body !== undefined && method === 'DELETE'
      ? [bodyIssue('extra_forbidden', 'A delete has no body.', 'body')]
      : []),
    ...(body === undefined && method !== 'DELETE' ? [bodyIssue('missing', 'body is missing.', 'body')] : []),
  ]
  if (issues.length > 0) return invalidOperation(...issues)
  return {
    method: method as BatchMethod,
    path: path as string,
    body,
    source: memberTexts(text).get('body') ?? '',
    as: as as string | undefined,
    ifMatch: ifMatch as string | undefined,
    issues: [],
  }
}

const example = '{"operations": [{"method": "POST", "path": "/v1/…", "body": {…}}]}'

/** What is wrong with a body; one that is too large to be parsed at once has no details. */
const notABatch = (source: string): Error => {
  let parsed: unknown
  try {
    parsed = isTooLarge(source) ? undefined : JSON.parse(source)
  } catch {
    // Not JSON.
  }
  if (!isObject(parsed)) return notJson(source, 'list_type', example)
  const { operations, ...unknownMembers } = parsed
  const issues = Object.keys(unknownMembers)
    .slice(0, maxIssues)
    .map((name) => unknownIssue(name, ['operations']))
  if (operations === undefined)
    issues.push(bodyIssue('missing', `operations is missing: send ${example}.`, 'operations'))
  else if (!Array.isArray(operations))
    issues.push(bodyIssue('list_type', `operations must be a list, not ${jsonNoun(operations)}.`, 'operations'))
  return issues.length > 0 ? bodyInvalid(issues) : notJson(source, 'list_type', example)
}

/** The operations of a body; throws if it is none. They are read one by one: to parse all at once could take too long. */
export function* readOperations(source: string): Generator<SentOperation> {
  const begin = /^[ \t\r\n]*\{[ \t\r\n]*"operations"[ \t\r\n]*:[ \t\r\n]*\[/.exec(source)
  if (!begin) throw notABatch(source)
  for (const element of arrayElements(source, begin[0].length, /^\s*\}\s*$/, notABatch)) yield readOperation(element)
}

/** Not with a property named `$ref`, which validators and generators take for a reference of the document. */
const reference = z.record(z.string(), z.string()).meta({
  propertyNames: { enum: ['$ref'] },
  minProperties: 1,
  description: 'The id of a row that an earlier operation creates: `{"$ref": "invoice.id"}` for `"as": "invoice"`.',
})

/** The body of a create or an update, or one with a reference to a row that is created before it. Nothing of the first is repeated: a change of it is one change. */
export const withReferences = (schema: z.ZodObject, isReference: (name: string) => boolean): z.ZodType => {
  const names = Object.keys(schema.shape).filter(isReference)
  const variants = names.map((name) =>
    z
      .looseObject({ [name]: reference })
      .meta({ description: 'The same with the id of a row that is created before it.' }),
  )
  return variants.length > 0 ? z.union([schema, ...variants]) : schema
}
