/** The parameters of reads: their schemas, which the documents show, and their parsers. */
import { z } from 'zod'
import { exactInteger } from '../descriptor/integers.js'
import { kindOf, kinds, type ParameterValue, Refusal, storableText } from '../descriptor/kinds.js'
import {
  type Condition,
  defaultListQuery,
  type ListQuery,
  possibleConditions,
  possibleOrders,
  textKey,
} from '../descriptor/listQuery.js'
import { didYouMean } from '../descriptor/nearest.js'
import { type Operand, type OperatorName, operatorOf } from '../descriptor/operators.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { ruleKeywords } from '../descriptor/valueRules.js'
import { decodeCursor } from './cursor.js'
import { type HttpError, type Issue, parametersInvalid } from './errors.js'

/** The most values of a list. */
const maxListed = 100

const bounds = { limit: { ge: 1, le: 200 }, offset: { ge: 0 } }

const conditionSchema = ({ kind, name, oneOf }: Field, operator: OperatorName) => {
  const { operand, option, description } = operatorOf(operator)
  const value = kindOf(operand === 'boolean' ? 'boolean' : kind).row()
  const typed = option === 'filter' && operand !== 'boolean' ? value.meta(ruleKeywords({ kind, oneOf })) : value
  const schema = operand === 'list' ? z.array(typed).max(maxListed) : typed
  return schema.optional().meta({ description: `Only rows with ${description(name)}.` })
}

export const listQuerySchema = (resource: Resource) =>
  z.object({
    limit: z
      .int()
      .min(bounds.limit.ge)
      .max(bounds.limit.le)
      .default(defaultListQuery.page.limit)
      .meta({ description: 'Page size.' }),
    offset: z.int().min(bounds.offset.ge).default(0).meta({ description: 'Number of rows to skip.' }),
    q: z.string().optional().meta({ description: 'Text to search for, ignoring case.' }),
    sort: z
      .enum(possibleOrders(resource))
      .optional()
      .meta({ description: 'The field to order by, descending after a `-`; then by `id` in the same direction.' }),
    after: z.string().optional().meta({
      description: 'Where the page begins: taken from the `Link` header of the previous page, not made by the client.',
    }),
    ...Object.fromEntries(
      possibleConditions(resource).map(({ field, operator, parameter }) => [
        parameter,
        conditionSchema(field, operator),
      ]),
    ),
  })

const queryIssue = (name: string, input: string, { type, message, ctx }: Refusal): Issue => ({
  type,
  loc: ['query', name],
  msg: message,
  input,
  ...(ctx && { ctx }),
})

export const notInteger = (name: string, input: string): Issue =>
  queryIssue(name, input, kinds.integer.parse(input) as Refusal)

/** Not URLSearchParams() of the text itself, which takes a question mark off its start: `??limit=0` has a parameter `?limit`. */
export const queryParameters = (querystring: string): URLSearchParams => new URLSearchParams(`&${querystring}`)

type ParseValue = (input: string) => ParameterValue | Refusal

const boundedParser =
  ({ ge, le = Infinity }: { readonly ge: number; readonly le?: number }): ParseValue =>
  (input) => {
    const value = kinds.integer.parse(input)
    if (value instanceof Refusal) return value
    if (value < ge) return new Refusal('greater_than_equal', `Input should be greater than or equal to ${ge}`, { ge })
    if (value > le) return new Refusal('less_than_equal', `Input should be less than or equal to ${le}`, { le })
    return value
  }

const notAmong = (expected: readonly (string | number | boolean)[]): Refusal => {
  const words = expected.map((value) => `'${value}'`).join(', ')
  return new Refusal('enum', `Input should be ${words.replace(/, ([^,]*)$/, ' or $1')}`, { expected })
}

/** Makes the parser of a condition's value. A filter for a value that no row can have because of `oneOf` is a mistake of the client. */
const conditionParser = ({ kind, oneOf }: Field, operator: OperatorName): ParseValue => {
  const { operand, option } = operatorOf(operator)
  const { parse, isText } = kindOf(operand === 'boolean' ? 'boolean' : kind)
  if (operand === 'boolean') return parse
  if (option === 'range') {
    if (!isText) return parse
    const schema = storableText()
    return (input) =>
      schema.safeParse(input).success
        ? textKey(input)
        : new Refusal('string_unicode', 'Input should be a valid string without a NUL')
  }
  const allowed = oneOf && new Set(oneOf.map(String))
  return (input) => {
    const value = parse(input)
    if (!allowed || value instanceof Refusal || allowed.has(String(value))) return value
    return notAmong([...(oneOf ?? [])])
  }
}

/** The issues for operators that a field does not have; any other unknown parameter is ignored. */
const unknownOperators = (resource: Resource, names: readonly string[], sent: Iterable<[string, string]>): Issue[] => {
  const issues: Issue[] = []
  for (const [name, input] of sent) {
    const field = name.slice(0, Math.max(0, name.indexOf('.')))
    if (names.includes(name) || !resource.fields.some((one) => one.name === field)) continue
    const known = names.filter((one) => one === field || one.startsWith(`${field}.`))
    const use = known.length === 0 ? `${field} is neither a filter nor a range` : `use ${known.join(', ')}`
    const hint = didYouMean(name, known) || `; ${use}`
    const message = `Unknown operator "${name.slice(field.length)}" of ${field}${hint}`
    issues.push(queryIssue(name, input, new Refusal('extra_forbidden', message)))
  }
  return issues
}

/** Makes the parser of the query strings of a list; it throws with every invalid parameter at once. */
export const listQueryParser = (resource: Resource) => {
  const conditions = possibleConditions(resource)
  const orders = possibleOrders(resource)
  const parsers: Record<string, ParseValue> = {
    limit: boundedParser(bounds.limit),
    offset: boundedParser(bounds.offset),
    q: (input) => input,
    sort: (input) => (orders.includes(input) ? input : notAmong(orders)),
    ...Object.fromEntries(
      conditions.map(({ field, operator, parameter }) => [parameter, conditionParser(field, operator)]),
    ),
  }
  const names = Object.keys(parsers)
  const lists = new Set(
    conditions.filter(({ operator }) => operatorOf(operator).operand === 'list').map(({ parameter }) => parameter),
  )
  return (querystring: string): ListQuery => {
    // Not ctx.query: `?__proto__=` breaks it. The last value of a repeated parameter counts, except in a list.
    const parameters = queryParameters(querystring)
    const sent = new Map(parameters)
    const values: Record<string, Operand> = {}
    const issues: Issue[] = []
    for (const name of names) {
      const last = sent.get(name)
      if (last === undefined) continue
      const inputs = lists.has(name) ? parameters.getAll(name) : [last]
      const parsed: ParameterValue[] = []
      if (inputs.length > maxListed) {
        const message = `Input should have at most ${maxListed} values, not ${inputs.length}`
        issues.push(queryIssue(name, last, new Refusal('too_long', message, { max_length: maxListed })))
      }
      for (const input of inputs.slice(0, maxListed)) {
        const value = (parsers[name] as ParseValue)(input)
        if (value instanceof Refusal) issues.push(queryIssue(name, input, value))
        else parsed.push(value)
      }
      if (parsed.length > 0) values[name] = lists.has(name) ? parsed : (parsed[0] as ParameterValue)
    }
    if (querystring.includes('.')) issues.push(...unknownOperators(resource, names, sent))
    const where: Condition[] = []
    for (const { field, operator, parameter } of conditions) {
      const value = values[parameter]
      if (value !== undefined) where.push({ field: field.name, operator, value })
    }
    const sort = String(values['sort'] ?? 'id')
    const query: ListQuery = {
      where,
      search: String(values['q'] ?? '').trim(),
      order:
        sort === 'id' ? defaultListQuery.order : { field: sort.replace(/^-/, ''), descending: sort.startsWith('-') },
      page: {
        limit: Number(values['limit'] ?? defaultListQuery.page.limit),
        offset: (values['offset'] as bigint | undefined) ?? 0n,
      },
    }
    const cursor = sent.get('after')
    if (cursor === undefined && issues.length === 0) return query
    const place = cursor === undefined || issues.length > 0 ? undefined : decodeCursor(resource, query, cursor)
    if (cursor !== undefined && sent.has('offset')) {
      issues.push(queryIssue('after', cursor, new Refusal('value_error', 'Send either after or offset, not both')))
    } else if (place instanceof Refusal) issues.push(queryIssue('after', cursor ?? '', place))
    if (issues.length > 0 || place === undefined || place instanceof Refusal) throw parametersInvalid(issues)
    return { ...query, page: { ...query.page, ...place } }
  }
}

const itemId = storableText()

export const itemIdSchema = (singular: string, example: string) =>
  z.object({ item_id: itemId.meta({ description: `The \`id\` of the ${singular}.`, example }) })

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

const maxId = 2n ** 63n

/** Makes the parser of an `item_id`; `id` is undefined where no row can have it. Writes refuse it with another body than reads. */
export const itemIdParser =
  (refuse: (issues: readonly Issue[]) => HttpError = parametersInvalid) =>
  (segment: string) => {
    const { data: text } = itemId.safeParse(decodeSegment(segment))
    if (text === undefined) throw refuse([idNotText(segment)])
    const id = /^(?:0|-?[1-9]\d{0,18})$/.test(text) ? exactInteger(text) : undefined
    return { id: id !== undefined && id >= -maxId && id < maxId ? id : undefined, text }
  }
