/** The controls for the parameters and the body of an operation, derived from its zod schemas. */
import { z } from 'zod'
import type { NamedOperation } from '../descriptor/operationFiles.js'
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

/** The properties of an object; undefined for anything else, and for an object with names that nobody knows before. */
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
  const { additionalProperties, ...known } = query ? describe(query) : { type: 'object' as const }
  const further: Member = {
    place: 'query',
    name: '',
    schema: { description: 'Any further parameters, such as a=1&b=2.', type: 'string' },
    isRequired: false,
  }
  const sent = body && describe(body)
  const whole: Member = { place: 'body', name: '', schema: sent ?? {}, isRequired: true }
  return [
    ...params,
    ...(propertiesOf('query', known) ?? []),
    ...(typeof additionalProperties === 'object' ? [further] : []),
    ...(sent ? (propertiesOf('body', sent) ?? [whole]) : []),
  ]
}

/** A schema without null, and whether null is a value. */
const withoutNull = (schema: Schema): { readonly value: Schema; readonly isNullable: boolean } => {
  const { anyOf, type, ...rest } = schema
  const others = anyOf?.filter((one) => typeof one === 'object' && one.type !== 'null')
  if (anyOf && others?.length === 1) return { value: { ...(others[0] as Schema), ...rest }, isNullable: true }
  const types = [type ?? []].flat()
  if (types.length !== 2 || !types.includes('null')) return { value: schema, isNullable: false }
  return { value: { ...rest, type: types.find((one) => one !== 'null') as 'string' }, isNullable: true }
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
  /** How the script writes the value; by default as a string. */
  readonly form?: 'literal' | 'time' | 'json' | 'lines'
  readonly help?: string
}

const select = (values: readonly unknown[], none: string | undefined, given: string | undefined): Control => {
  const options = values
    .map(String)
    .map((value) => html`<option value="${value}"${value === given && html` selected`}>${value}</option>`)
  return {
    ...(values.every((value) => typeof value !== 'string') && { form: 'literal' }),
    input: (attributes) =>
      html`<select ${attributes}>${none !== undefined && html`<option value="">${none}</option>`}${options}</select>`,
  }
}

const controlFor = (member: Member, value: Schema, isOptional: boolean, given: string | undefined): Control => {
  const text = given !== undefined && html` value="${given}"`
  const choices = choicesOf(value)
  if (value.type === 'boolean' && !isOptional)
    return {
      form: 'literal',
      input: (attributes) => html`<input type="checkbox" ${attributes}${given === 'true' && html` checked`}>`,
    }
  if (choices) return select(choices, isOptional ? '–' : choices.length === 1 ? undefined : 'Choose', given)
  const area = (attributes: Html) => html`<textarea rows="2" spellcheck="false" ${attributes}>
${given}</textarea>`
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

/** A control; `choices` is where the rows come from that a parameter of the path names. */
export const memberControl = (member: Member, n: number, given: string | undefined, choices?: string): Html => {
  const { place, name, schema, isRequired } = member
  const { value, isNullable } = withoutNull(schema)
  const isNeeded = isRequired && !isNullable
  const { input, form = 'string', help } = controlFor(member, value, !isNeeded, given)
  const attributes = html`id="input-${n}" name="${name}" data-place="${place}" data-json="${form}"${isRequired && html` data-always="true"`} autocomplete="off" aria-describedby="help-${n} issue-${n}"${isNeeded && html` aria-required="true"`}${choices && html` data-choices="${choices}" placeholder="Type a name or an id"`}`
  const shown = choices
    ? html`<div class="combobox">${input(attributes)}<span class="picked note"></span></div>`
    : input(attributes)
  const title =
    name === ''
      ? place === 'body'
        ? 'Body'
        : 'Further parameters'
      : html`${titleOf(name)} <code class="raw">${name}</code>`
  return html`<div class="control"><label for="input-${n}">${title}${isNeeded && value.type !== 'boolean' && html` <span class="required">required</span>`}</label>
    ${shown}<p class="help" id="help-${n}">${[value.description ?? '', ...rulesOf(value), help ?? ''].filter(Boolean).join(' ')}</p><p class="issue" id="issue-${n}"></p></div>`
}
