/** The controls for the parameters and the body of an operation, derived from its zod schemas, and the request that they mean. */
import { z } from 'zod'
import type { Issue } from '../contract/errors.js'
import { literalJson } from '../contract/textValues.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import { jsonErrorPlace } from '../process/jsonError.js'
import { type Html, html } from './html.js'
import { titleOf } from './names.js'

type Schema = z.core.JSONSchema.JSONSchema

/** A value that a request can have. */
export interface Member {
  readonly place: 'path' | 'query' | 'body'
  /** Empty for the whole body, and for all further parameters. */
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

const describe = (schema: z.ZodType): Schema => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })

/** The properties of an object; undefined for anything else, and for an object with names that are not known in advance. */
const propertiesOf = (
  place: Member['place'],
  { type, properties = {}, required = [], additionalProperties }: Schema,
) =>
  type === 'object' && typeof additionalProperties !== 'object'
    ? Object.entries(properties).map(
        ([name, schema]): Member => ({
          place,
          name,
          schema: typeof schema === 'object' ? schema : {},
          isRequired: required.includes(name),
        }),
      )
    : undefined

/** Everything that a client may send. */
export const membersOf = ({ path, query, body }: NamedOperation): Member[] => {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = '']): Member => ({ place: 'path', name, schema: { type: 'string' }, isRequired: true }),
  )
  const { additionalProperties, ...querySchema } = query ? describe(query) : { type: 'object' as const }
  const further: Member = {
    place: 'query',
    name: '',
    schema: { description: 'Any further parameters, such as a=1&b=2.', type: 'string' },
    isRequired: false,
  }
  const bodySchema = body && describe(body)
  const wholeBody: Member = { place: 'body', name: '', schema: bodySchema ?? {}, isRequired: true }
  return [
    ...params,
    ...(propertiesOf('query', querySchema) ?? []),
    ...(typeof additionalProperties === 'object' ? [further] : []),
    ...(bodySchema ? (propertiesOf('body', bodySchema) ?? [wholeBody]) : []),
  ]
}

/** A schema without null, and whether null is a value. */
const withoutNull = (schema: Schema): { readonly value: Schema; readonly isNullable: boolean } => {
  const { anyOf, type, ...keywords } = schema
  const nonNull = anyOf?.filter((one) => typeof one === 'object' && one.type !== 'null')
  if (anyOf && nonNull?.length === 1) return { value: { ...(nonNull[0] as Schema), ...keywords }, isNullable: true }
  const types = [type ?? []].flat()
  if (types.length !== 2 || !types.includes('null')) return { value: schema, isNullable: false }
  return { value: { ...keywords, type: types.find((one) => one !== 'null') as 'string' }, isNullable: true }
}

const safe = Number.MAX_SAFE_INTEGER

/** `3 to 9`, `at least 3`, `at most 9`. */
const span = (min: number | undefined, max: number | undefined, unit = ''): string | undefined => {
  if (min !== undefined && max !== undefined) return min === max ? `${min}${unit}` : `${min} to ${max}${unit}`
  if (min !== undefined) return `at least ${min}${unit}`
  return max === undefined ? undefined : `at most ${max}${unit}`
}

const bounds = ({ minimum, maximum }: Schema) => ({
  min: minimum === -safe ? undefined : minimum,
  max: maximum === safe ? undefined : maximum,
})

const formatHints: Readonly<Record<string, string>> = {
  'date-time': 'In UTC, not in your time zone.',
  email: 'An e-mail address.',
  uri: 'An address such as https://example.org.',
  uuid: 'A UUID.',
}

/** The rules of a value in words. */
const rulesOf = (schema: Schema): string[] => {
  const { type, minLength, maxLength, exclusiveMinimum, exclusiveMaximum, format = '', default: preset } = schema
  const { min, max } = bounds(schema)
  const rules = [
    span(min, max),
    exclusiveMinimum !== undefined && `more than ${exclusiveMinimum}`,
    exclusiveMaximum !== undefined && `less than ${exclusiveMaximum}`,
    span(minLength, maxLength, ' characters'),
    type === 'integer' && 'a whole number',
  ].filter((rule) => rule !== undefined && rule !== false)
  const text = rules.join(', ')
  return [
    ...(text ? [`${text.charAt(0).toUpperCase()}${text.slice(1)}.`] : []),
    ...(formatHints[format] ? [formatHints[format]] : []),
    ...(preset === undefined ? [] : [`Default: ${typeof preset === 'string' ? preset : JSON.stringify(preset)}.`]),
  ]
}

/** The values to choose from; undefined if any of a type is possible. */
const choicesOf = ({ enum: values, const: only, type }: Schema): readonly unknown[] | undefined =>
  values ?? (only === undefined ? (type === 'boolean' ? [true, false] : undefined) : [only])

const inputTypes: Readonly<Record<string, string>> = {
  date: 'date',
  'date-time': 'datetime-local',
  email: 'email',
  uri: 'url',
}

const isScalar = ({ type }: Schema): boolean => type === 'string' || type === 'number' || type === 'integer'

/** Whether a parameter may be repeated. */
const isRepeated = ({ place, schema: { type } }: Member): boolean => place === 'query' && type === 'array'

interface Control {
  readonly input: (attributes: Html) => Html
  /** How its text is read; by default as a string. */
  readonly form?: 'literal' | 'time' | 'json' | 'lines'
  readonly help?: string
}

const select = (values: readonly unknown[], none: string | undefined, current: string | undefined): Control => {
  const options = values
    .map(String)
    .map((value) => html`<option value="${value}"${value === current && html` selected`}>${value}</option>`)
  return {
    ...(values.every((value) => typeof value !== 'string') && { form: 'literal' }),
    input: (attributes) =>
      html`<select ${attributes}>${none !== undefined && html`<option value="">${none}</option>`}${options}</select>`,
  }
}

const controlFor = (member: Member, value: Schema, isOptional: boolean, current: string | undefined): Control => {
  const text = current && html` value="${current}"`
  const choices = choicesOf(value)
  if (value.type === 'boolean' && !isOptional)
    return {
      form: 'literal',
      input: (attributes) =>
        html`<input type="checkbox" ${attributes} value="true"${current === 'true' && html` checked`}><input type="hidden" name="${inputName(member)}" value="false">`,
    }
  if (choices) return select(choices, isOptional ? '–' : choices.length === 1 ? undefined : 'Choose', current)
  const area = (attributes: Html) => html`<textarea rows="2" spellcheck="false" ${attributes}>
${current}</textarea>`
  if (isRepeated(member)) return { form: 'lines', input: area, help: 'One value in each line.' }
  // A parameter is a text, whatever its schema makes of it.
  if (!isScalar(value) && member.place === 'body') return { form: 'json', input: area, help: 'As JSON.' }
  if (value.type === 'integer' || value.type === 'number') {
    const { min, max } = bounds(value)
    const limits = html`${min !== undefined && html` min="${min}"`}${max !== undefined && html` max="${max}"`}`
    // The wheel of a mouse changes an input for numbers.
    const isBounded = min !== undefined || max !== undefined
    const kind = isBounded ? html`type="number" step="any"${limits}` : html`inputmode="decimal"`
    return { form: 'literal', input: (attributes) => html`<input ${kind} ${attributes}${text}>` }
  }
  const { format = '', maxLength = 0 } = value
  if (maxLength > 200) return { input: area }
  return {
    ...(format === 'date-time' && { form: 'time' }),
    input: (attributes) => html`<input type="${inputTypes[format] ?? 'text'}" ${attributes}${text}>`,
  }
}

/** The name under which a form sends a value. */
export const inputName = ({ place, name }: Pick<Member, 'place' | 'name'>): string => `${place}.${name}`

/** What stands for the row that a parameter of the path names. */
export interface RowChoice {
  /** Where rows are suggested. */
  readonly url: string
  /** The label of the row that was chosen. */
  readonly label: string | undefined
}

export const memberTitle = ({ place, name }: Member): string =>
  name !== '' ? titleOf(name) : place === 'body' ? 'Body' : 'Further parameters'

const isNeeded = ({ schema, isRequired }: Member): boolean => isRequired && !withoutNull(schema).isNullable

export const memberControl = (
  member: Member,
  n: number,
  current: string | undefined,
  message: string,
  choice?: RowChoice,
): Html => {
  const { name, schema } = member
  const { value } = withoutNull(schema)
  const needed = isNeeded(member)
  const { input, help } = controlFor(member, value, !needed, choice?.label ?? current)
  const combobox =
    choice &&
    html` data-choices="${choice.url}"${choice.label !== undefined && html` data-id="${current}"`} placeholder="Type a name or an id"`
  const attributes = html`id="input-${n}" name="${inputName(member)}" autocomplete="off" aria-describedby="help-${n} issue-${n}"${needed && html` aria-required="true"`}${message !== '' && html` aria-invalid="true"`}${combobox}`
  const controlHtml = choice
    ? html`<div class="combobox">${input(attributes)}<span class="picked note">${choice.label !== undefined && `#${current}`}</span></div>`
    : input(attributes)
  const title = html`${memberTitle(member)}${name !== '' && html` <code class="raw">${name}</code>`}`
  return html`<div class="control"><label for="input-${n}">${title}${needed && value.type !== 'boolean' && html` <span class="required">required</span>`}</label>
    ${controlHtml}<p class="help" id="help-${n}">${[value.description ?? '', ...rulesOf(value), help ?? ''].filter(Boolean).join(' ')}</p><p class="issue" id="issue-${n}">${message}</p></div>`
}

/** The request that a form means. */
export interface OperationRequest {
  readonly params: Readonly<Record<string, string>>
  readonly querystring: string
  /** As JSON. */
  readonly body: string | undefined
  /** What is wrong with the form itself. */
  readonly issues: readonly Issue[]
}

/** A time that a control has without a zone. */
const inUtc = (text: string): string => `${text.padEnd(19, ':00')}Z`

/** The value of a control as JSON; undefined if it is none. */
const memberJson = (member: Member, text: string): string | undefined => {
  const { form } = controlFor(member, withoutNull(member.schema).value, !isNeeded(member), undefined)
  const trimmed = text.trim()
  if (text === '') return 'null'
  if (form === 'time') return JSON.stringify(inUtc(trimmed))
  if (form === 'literal') return literalJson(trimmed)
  if (form !== 'json' && member.name !== '') return JSON.stringify(text)
  try {
    JSON.parse(trimmed)
    return trimmed
  } catch {
    return undefined
  }
}

/** The texts of a parameter of the query, of which only a list has several. */
const parameterTexts = (member: Member, text: string): string[] => {
  const { form } = controlFor(member, withoutNull(member.schema).value, !isNeeded(member), undefined)
  if (form === 'lines') return text.split('\n').filter((line) => line.trim() !== '')
  if (text === '') return []
  return [form === 'time' ? inUtc(text) : text]
}

/** The request that the controls mean, of which some may be empty. */
export const readOperation = (definition: NamedOperation, textOf: (member: Member) => string): OperationRequest => {
  const params: Record<string, string> = {}
  const query = new URLSearchParams()
  const bodyMembers: string[] = []
  const issues: Issue[] = []
  let [further, body] = ['', '']
  for (const member of membersOf(definition)) {
    const { place, name, isRequired } = member
    const text = textOf(member)
    const isSent = text !== '' || isRequired
    if (text === '' && isNeeded(member))
      issues.push({ type: 'missing', loc: [place, name], msg: `${memberTitle(member)} is required` })
    else if (place === 'path') params[name] = text.trim()
    else if (place === 'query' && name === '') further = text
    else if (place === 'query') for (const value of parameterTexts(member, text)) query.append(name, value)
    else if (isSent) {
      const json = memberJson(member, text)
      const msg = `${memberTitle(member)} is not valid JSON: ${jsonErrorPlace(text)}`
      if (json === undefined) issues.push({ type: 'json_invalid', loc: [place, name], msg })
      else if (name === '') body = json
      else bodyMembers.push(`${JSON.stringify(name)}:${json}`)
    }
  }
  const isWhole = membersOf(definition).some(({ place, name }) => place === 'body' && name === '')
  return {
    params,
    querystring: [String(query), further].filter(Boolean).join('&'),
    body: definition.body && (isWhole ? body : `{${bodyMembers.join(',')}}`),
    issues,
  }
}
