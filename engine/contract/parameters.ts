/** The parameters of reads: their schemas, which the documents show, and the parsers made from these schemas. */
import { z } from 'zod'
import { filterFields, type Resource } from '../descriptor/registry.js'
import { type Issue, parametersInvalid } from './errors.js'
import { parseInteger } from './integers.js'
import { storableText } from './schemas.js'

/** The query of a list. */
export const listQuerySchema = (resource: Resource) => {
  const filters = filterFields(resource).map(({ name, kind }) => {
    const schema = kind === 'integer' ? z.int() : z.string()
    return [name, schema.optional().meta({ description: `Only rows with exactly this \`${name}\`.` })] as const
  })
  return z.object({
    limit: z.int().min(1).max(200).default(50).meta({ description: 'Page size.' }),
    offset: z.int().min(0).default(0).meta({ description: 'Number of rows to skip.' }),
    q: z.string().optional().meta({ description: 'Text to search for, ignoring case.' }),
    ...Object.fromEntries(filters),
  })
}

export type ListQuerySchema = ReturnType<typeof listQuerySchema>

const queryIssue = (name: string, input: string, type: string, msg: string, ctx?: Issue['ctx']): Issue => ({
  type,
  loc: ['query', name],
  msg,
  input,
  ...(ctx && { ctx }),
})

const integerMessages = {
  int_parsing: 'Input should be a valid integer, unable to parse string as an integer',
  int_parsing_size: 'Unable to parse input string as an integer, exceeded maximum size',
}

/** The issue for a text that is not an integer. */
export const notInteger = (name: string, input: string, type: keyof typeof integerMessages): Issue =>
  queryIssue(name, input, type, integerMessages[type])

/** The issue for an integer that its schema refuses: below its minimum or above its maximum. */
const outOfBounds = (name: string, input: string, issue: z.core.$ZodIssue): Issue => {
  if (issue.code === 'too_small') {
    const ge = Number(issue.minimum)
    return queryIssue(name, input, 'greater_than_equal', `Input should be greater than or equal to ${ge}`, { ge })
  }
  const le = Number((issue as z.core.$ZodIssueTooBig).maximum)
  return queryIssue(name, input, 'less_than_equal', `Input should be less than or equal to ${le}`, { le })
}

/** Clamps to the safe integers, because z.int() accepts no others; every bound is among them. */
const asNumber = (value: bigint): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)))

/** Not URLSearchParams() of the text itself, which takes a question mark off its start: `??limit=0` has a parameter `?limit`. */
export const queryParameters = (querystring: string): URLSearchParams => new URLSearchParams(`&${querystring}`)

/** Makes the parser of one parameter from its schema. */
const parameterParser = (name: string, schema: z.ZodDefault<z.ZodInt> | z.ZodOptional<z.ZodInt | z.ZodString>) => {
  const isInteger = schema.unwrap() instanceof z.ZodNumber
  return (input: string): string | bigint | Issue => {
    if (!isInteger) return input
    const value = parseInteger(input)
    if (typeof value === 'string') return notInteger(name, input, value)
    const { error } = schema.safeParse(asNumber(value))
    return error?.issues[0] ? outOfBounds(name, input, error.issues[0]) : value
  }
}

/** Makes the parser of the query strings of a list; it throws with every invalid parameter at once. */
export const listQueryParser = ({ shape }: ListQuerySchema) => {
  const parsers = Object.entries(shape).map(([name, schema]) => ({ name, parse: parameterParser(name, schema) }))
  const defaultLimit = shape.limit.parse(undefined)
  const defaultOffset = BigInt(shape.offset.parse(undefined))
  return (querystring: string) => {
    // Not ctx.query: `?__proto__=` breaks it. The last value of a repeated parameter counts.
    const sent = new Map(queryParameters(querystring))
    const values: Record<string, string | bigint> = {}
    const issues: Issue[] = []
    for (const { name, parse } of parsers) {
      const input = sent.get(name)
      if (input === undefined) continue
      const value = parse(input)
      if (typeof value === 'object') issues.push(value)
      else values[name] = value
    }
    if (issues.length > 0) throw parametersInvalid(issues)
    const { limit = defaultLimit, offset = defaultOffset, q = '', ...filters } = values
    return { limit: Number(limit), offset: BigInt(offset), q: String(q).trim(), filters }
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

/** Makes the parser of an `item_id`; `id` is undefined where no row can have it, because ids are positive integers. */
export const itemIdParser =
  ({ shape }: ItemIdSchema) =>
  (segment: string) => {
    const { data: text } = shape.item_id.safeParse(decodeSegment(segment))
    if (text === undefined) throw parametersInvalid([idNotText(segment)])
    const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined
    return { id: Number.isSafeInteger(id) ? id : undefined, text }
  }
