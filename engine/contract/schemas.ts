/** The zod schemas that follow from a descriptor: the row, the page and the create body. */
import { z } from 'zod'
import { now, nowInMilliseconds, today } from '../descriptor/clock.js'
import { kindOf } from '../descriptor/kinds.js'
import { schemaNames } from '../descriptor/names.js'
import { type Field, isMandatory, type Resource, updatableFields, writableFields } from '../descriptor/registry.js'
import { ruleKeywords, valueSchema } from '../descriptor/valueRules.js'

/** A noun with its indefinite article. */
export const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

const code = (text: string): string => `\`${text}\``

const formatWords = {
  date: 'Date, `YYYY-MM-DD`',
  timestamp: 'UTC timestamp, `YYYY-MM-DDTHH:MM:SSZ`',
} as const

const clockWords = new Map<unknown, string>([
  [today, 'today’s date (UTC)'],
  [now, 'the current time (UTC)'],
  [nowInMilliseconds, 'the current time (UTC)'],
])

/** As text: openapi-typescript makes a property with the keyword `default` mandatory in request bodies. */
const defaultWords = ({ default: source, required }: Field): string => {
  const value = typeof source === 'function' ? (clockWords.get(source) ?? 'computed by the service') : code(`${source}`)
  return `Default: ${value}${required ? ', also for null' : '; null stays null'}.`
}

const uniqueWords = (within: readonly string[]): string =>
  within.length === 0 ? 'Unique.' : `Unique among rows with the same ${within.map(code).join(' and ')}.`

/** The description of a field, from its descriptor. */
const sentences = (field: Field, isBody: boolean, isUpdate: boolean): string => {
  const { about, references, unique, format, managed, redacted } = field
  return [
    about,
    references && `References the \`id\` of a row of \`/v1/${references}\`.`,
    unique && uniqueWords(unique),
    format && `${formatWords[format]}${isBody ? '; any string is accepted' : ''}.`,
    typeof managed === 'function' && 'Set by the service.',
    redacted && (isBody ? 'Never returned.' : 'Always null.'),
    isBody && !isUpdate && field.default !== undefined && defaultWords(field),
  ]
    .filter(Boolean)
    .join(' ')
}

/** The default for programs: a value, or the name of the function that returns it. */
const defaultName = ({ default: source }: Field): unknown => {
  if (typeof source !== 'function') return source
  if (source === today) return { computed: 'today' }
  return { computed: source === now || source === nowInMilliseconds ? 'now' : 'by the service' }
}

/** The rules that JSON Schema cannot express, as extension keywords for programs; undefined where there is no rule. */
const extensionKeywords = (field: Field, isBody: boolean, isUpdate: boolean) => ({
  'x-references': field.references && `/v1/${field.references}`,
  'x-unique': field.unique,
  'x-redacted': isBody ? undefined : field.redacted,
  'x-default': isBody && !isUpdate ? defaultName(field) : undefined,
})

/** The schema of each field, by name. */
const shapeOf = (fields: readonly Field[], isBody: boolean, isUpdate = false) =>
  Object.fromEntries(
    fields.map((field) => {
      const value = isBody ? valueSchema(field) : kindOf(field.kind).row()
      const isRequired = isBody && !isUpdate ? isMandatory(field) : field.required
      const present = isRequired ? value : value.nullable()
      const schema = isRequired && !isUpdate ? present : present.optional()
      const keywords = ruleKeywords(field)
      // A schema that allows null must name it among the values.
      if (Array.isArray(keywords['enum']) && !isRequired) keywords['enum'] = [...keywords['enum'], null]
      const meta = {
        description: sentences(field, isBody, isUpdate) || undefined,
        ...extensionKeywords(field, isBody, isUpdate),
        ...keywords,
      }
      const given = Object.entries(meta).filter(([, value]) => value !== undefined)
      return [field.name, given.length === 0 ? schema : schema.meta(Object.fromEntries(given))]
    }),
  )

/** A row as clients receive it: a required field is never null, the others are optional in the schema. */
export const rowSchema = (resource: Resource) =>
  z
    .object(shapeOf(resource.fields, false))
    .meta({ id: schemaNames(resource).row, ...(resource.about && { description: resource.about }) })

/** The body of a create: every field that a client may set, and nothing else. */
export const createSchema = (resource: Resource) =>
  z.strictObject(shapeOf(writableFields(resource), true)).meta({
    id: schemaNames(resource).create,
    description: `Request body for creating ${withArticle(resource.name.toLowerCase())}.`,
  })

/** The body of an update: the fields that may change, and nothing else. */
export const updateSchema = (resource: Resource) =>
  z.strictObject(shapeOf(updatableFields(resource), true, true)).meta({
    id: schemaNames(resource).update,
    description: `Request body for changing ${withArticle(resource.name.toLowerCase())}. What is absent stays as it is.`,
  })

const paginationMeta = z
  .object({
    total: z.int().meta({ description: 'Number of matching rows, over all pages.' }),
    limit: z.int().meta({ description: 'Page size used.' }),
    offset: z.int().meta({ description: 'Number of rows skipped.' }),
  })
  .meta({ id: 'PaginationMeta' })

/** A page of rows. */
export const collectionSchema = (resource: Resource, row: z.ZodType) =>
  z.object({ data: z.array(row), meta: paginationMeta }).meta({ id: schemaNames(resource).collection })
