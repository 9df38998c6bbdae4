/** The registry: every descriptor in one normalised form, which the rest of the engine reads. */
import { now, today } from './clock.js'
import type { Descriptor } from './define.js'
import type { FieldSpec, Kind, OptionsOf, TextFormat } from './fields.js'

export type Value = string | number | null
export type RowValues = Record<string, Value>

export interface Field {
  readonly name: string
  readonly kind: Kind
  readonly required: boolean
  readonly about: string | undefined
  readonly example: Value | undefined
  /** The value if the body omits the field; undefined if there is no default. */
  readonly default: Value | (() => Value) | undefined
  readonly managed: true | (() => Value) | undefined
  readonly redacted: boolean
  readonly filter: boolean
  /** The path of the referenced resource. */
  readonly references: string | undefined
  /** The fields among whose equal values it is unique (none: the whole table); undefined if it need not be. */
  readonly unique: readonly string[] | undefined
  /** The documented format of its values. */
  readonly format: TextFormat | undefined
}

export interface Resource {
  /** The last segment of its URL: `leave` for `/v1/leave`. */
  readonly path: string
  readonly name: string
  readonly plural: string
  readonly area: string
  readonly about: string | undefined
  readonly table: string
  /** `id` first, then the fields of the descriptor in their order. */
  readonly fields: readonly Field[]
  readonly create: boolean
  /** The demo rows; empty if `seeds/` has no file for the resource. */
  readonly demo: readonly RowValues[]
}

export type Registry = readonly Resource[]

/** Every resource has the same `id`, so no descriptor declares it. */
const idSpec: FieldSpec = { kind: 'integer', options: { managed: true, about: 'Assigned by the service.' } }

const pluralOf = (name: string): string => {
  if (/[^aeiou]y$/i.test(name)) return `${name.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/i.test(name) ? `${name}es` : `${name}s`
}

const clockFormats = new Map<unknown, TextFormat>([
  [today, 'date'],
  [now, 'timestamp'],
])

const fieldOf = (name: string, spec: FieldSpec, required: boolean): Field => {
  const options = spec.options as OptionsOf['integer' | 'text'] & { references?: string; format?: TextFormat }
  return {
    name,
    kind: spec.kind,
    required,
    about: options.about,
    example: options.example,
    default: options.default,
    managed: options.managed,
    redacted: options.redacted ?? false,
    filter: options.filter ?? false,
    references: options.references,
    unique: options.unique === true ? [] : options.unique,
    format: options.format ?? clockFormats.get(options.default ?? options.managed),
  }
}

/** Turns a verified descriptor into a resource. */
export const resourceFrom = (path: string, descriptor: Descriptor, demo: readonly RowValues[]): Resource => ({
  path,
  name: descriptor.name,
  plural: descriptor.plural ?? pluralOf(descriptor.name),
  area: descriptor.area,
  about: descriptor.about,
  table: descriptor.table,
  fields: [
    fieldOf('id', idSpec, false),
    ...Object.entries(descriptor.fields).map(([name, spec]) => fieldOf(name, spec, descriptor.required.includes(name))),
  ],
  create: descriptor.create,
  demo,
})

/** The fields that a client may send in a create. */
export const writableFields = (resource: Resource): Field[] => resource.fields.filter((field) => !field.managed)

/** The fields that a list can be filtered by. */
export const filterFields = (resource: Resource): Field[] => resource.fields.filter((field) => field.filter)

/** The fields that `q` searches. */
export const searchedFields = (resource: Resource): Field[] =>
  resource.fields.filter((field) => field.kind === 'text' && !field.redacted)

/** Whether a create must send the field. */
export const isMandatory = (field: Field): boolean => field.required && field.default === undefined

const resolve = (source: Value | (() => Value)): Value => (typeof source === 'function' ? source() : source)

/** The row that a create stores for the values a client sent; the database adds the id. */
export const newRow = (resource: Resource, sent: Readonly<Record<string, Value | undefined>>): RowValues => {
  const row: RowValues = {}
  for (const field of resource.fields) {
    if (field.name === 'id') continue
    if (field.managed) {
      row[field.name] = field.managed === true ? null : field.managed()
      continue
    }
    const value = sent[field.name]
    const absent = value === undefined || (value === null && field.required)
    row[field.name] = absent ? resolve(field.default ?? null) : value
  }
  return row
}
