/** The parameters of reads: their schemas, which the documents show, and the parsers made from these schemas. */
import { z } from 'zod'
import { kindOf, kinds, type ParameterValue, Refusal, storableText } from '../descriptor/kinds.js'
import { type Condition, type ListQuery, possibleConditions, wholeTable } from '../descriptor/listQuery.js'
import { type OperatorName, operators } from '../descriptor/operators.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { ruleKeywords } from '../descriptor/valueRules.js'
import { type HttpError, type Issue, parametersInvalid } from './errors.js'

const conditionSchema = (field: Field, operator: OperatorName) =>
  kindOf(field.kind)
    .row()
    .optional()
    .meta({
      description: `Only rows with ${operators[operator].sentence(field.name)}.`,
      ...ruleKeywords({ kind: field.kind, oneOf: field.oneOf }),
    })

/** The query of a list. */
export const listQuerySchema = (resource: Resource) =>
  z.object({
    limit: z.int().min(1).max(200).default(wholeTable.page.limit).meta({ description: 'Page size.' }),
    offset: z.int().min(0).default(0).meta({ description: 'Number of rows to skip.' }),
    q: z.string().optional().meta({ description: 'Text to search for, ignoring case.' }),
    ...Object.fromEntries(
      possibleConditions(resource).map(({ field, operator, parameter }) => [
        parameter,
        conditionSchema(field, operator),
      ]),
    ),
  })

export type ListQuerySchema = ReturnType<typeof listQuerySchema>

const queryIssue = (name: string, input: string, { type, message, ctx }: Refusal): Issue => ({
  type,
  loc: ['query', name],
  msg: message,
  input,
  ...(ctx && { ctx }),
})

/** The issue for a text that is not an integer. */
export const notInteger = (name: string, input: string): Issue =>
  queryIssue(name, input, kinds.integer.parse(input) as Refusal)

/** The refusal of an integer by its schema: below its minimum or above its maximum. */
const outOfBounds = (issue: z.core.$ZodIssue): Refusal => {
  if (issue.code === 'too_small') {
    const ge = Number(issue.minimum)
    return new Refusal('greater_than_equal', `Input should be greater than or equal to ${ge}`, { ge })
  }
  const le = Number((issue as z.core.$ZodIssueTooBig).maximum)
  return new Refusal('less_than_equal', `Input should be less than or equal to ${le}`, { le })
}

/** Clamps to the safe integers, because z.int() accepts no others; every bound is among them. */
const asNumber = (value: bigint): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)))

/** Not URLSearchParams() of the text itself, which takes a question mark off its start: `??limit=0` has a parameter `?limit`. */
export const queryParameters = (querystring: string): URLSearchParams => new URLSearchParams(`&${querystring}`)

/** Makes the parser of an integer with the bounds of its schema. */
const boundedParser =
  (schema: z.ZodType) =>
  (input: string): ParameterValue | Refusal => {
    const value = kinds.integer.parse(input)
    if (value instanceof Refusal) return value
    const issue = schema.safeParse(asNumber(value)).error?.issues[0]
    return issue ? outOfBounds(issue) : value
  }

/** Makes the parser of a filter: a value that no row can have because of `oneOf` is a mistake of the client. */
const filterParser = ({ kind, oneOf }: Field) => {
  const { parse } = kindOf(kind)
  const allowed = oneOf && new Set(oneOf.map(String))
  return (input: string): ParameterValue | Refusal => {
    const value = parse(input)
    if (!allowed || value instanceof Refusal || allowed.has(String(value))) return value
    const expected = [...(oneOf ?? [])]
    return new Refusal(
      'enum',
      `Input should be ${expected
        .map((one) => `'${one}'`)
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1')}`,
      { expected },
    )
  }
}

/** Makes the parser of the query strings of a list; it throws with every invalid parameter at once. */
export const listQueryParser = (resource: Resource, { shape }: ListQuerySchema) => {
  const conditions = possibleConditions(resource)
  const parsers: Record<string, (input: string) => ParameterValue | Refusal> = {
    limit: boundedParser(shape.limit),
    offset: boundedParser(shape.offset),
    q: (input) => input,
    ...Object.fromEntries(conditions.map(({ field, parameter }) => [parameter, filterParser(field)])),
  }
  const defaultLimit = shape.limit.parse(undefined)
  const defaultOffset = shape.offset.parse(undefined)
  return (querystring: string): ListQuery => {
    // Not ctx.query: `?__proto__=` breaks it. The last value of a repeated parameter counts.
    const sent = new Map(queryParameters(querystring))
    const values: Record<string, ParameterValue> = {}
    const issues: Issue[] = []
    for (const [name, parse] of Object.entries(parsers)) {
      const input = sent.get(name)
      if (input === undefined) continue
      const value = parse(input)
      if (value instanceof Refusal) issues.push(queryIssue(name, input, value))
      else values[name] = value
    }
    if (issues.length > 0) throw parametersInvalid(issues)
    const where: Condition[] = []
    for (const { field, operator, parameter } of conditions) {
      const value = values[parameter]
      if (value !== undefined) where.push({ field: field.name, operator, value })
    }
    return {
      where,
      search: String(values['q'] ?? '').trim(),
      order: wholeTable.order,
      page: { limit: Number(values['limit'] ?? defaultLimit), offset: BigInt(values['offset'] ?? defaultOffset) },
    }
  }
}

/** The path parameters of a get-one. */
export const itemIdSchema = (singular: string, example: string) =>
  z.object({ item_id: storableText().meta({ description: `The \`id\` of the ${singular}.`, example }) })

export type ItemIdSchema = ReturnType<typeof itemIdSchema>

/** The issue for an `item_id` that is not valid percent-encoded UTF-8, or contains a NUL. */
export const idNotText = (input: string): Issue => ({
  type: 'string_unicode',
  loc: ['path', 'item_id'],
  msg: 'Input should be a valid string: percent-encoded UTF-8 without a NUL',
  input,
})

const decodeSegment = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/**
 * Makes the parser of an `item_id`; `id` is undefined where no row can have it, because ids are positive integers. Writes refuse it with
 * another body than reads.
 */
export const itemIdParser =
  ({ shape }: ItemIdSchema, refuse: (issues: readonly Issue[]) => HttpError = parametersInvalid) =>
  (segment: string) => {
    const { data: text } = shape.item_id.safeParse(decodeSegment(segment))
    if (text === undefined) throw refuse([idNotText(segment)])
    const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined
    return { id: Number.isSafeInteger(id) ? id : undefined, text }
  }
