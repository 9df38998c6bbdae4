/** The registry: descriptors made uniform, so that the rest of the engine asks plain questions of plain data. */
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
  /** What an absent value becomes; undefined where there is no default. */
  readonly default: Value | (() => Value) | undefined
  readonly managed: true | (() => Value) | undefined
  readonly redacted: boolean
  readonly filter: boolean
  /** The path of the resource it refers to. */
  readonly references: string | undefined
  /** The fields within which it is unique (none: over the whole table); undefined where it need not be. */
  readonly unique: readonly string[] | undefined
  /** How its values are written, for the documents. */
  readonly format: TextFormat | undefined
}

export interface Resource {
  /** The last part of its address: `leave` for `/v1/leave`. */
  readonly path: string
  readonly name: string
  readonly plural: string
  readonly area: string
  readonly about: string | undefined
  readonly table: string
  /** `id` first, then the descriptor's own, in its order. */
  readonly fields: readonly Field[]
  readonly create: boolean
  /** The demo rows, by whole rows; empty where `seeds/` has none. */
  readonly demo: readonly RowValues[]
}

export type Registry = readonly Resource[]

/** `id` is the same for every resource and therefore not said in any. */
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

/** A descriptor that has passed verification, as a resource at a path. */
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

/** The fields a client may send when creating. */
export const writableFields = (resource: Resource): Field[] => resource.fields.filter((field) => !field.managed)

/** The fields a list can be filtered by. */
export const filterFields = (resource: Resource): Field[] => resource.fields.filter((field) => field.filter)

/** The fields that `q` searches. */
export const searchedFields = (resource: Resource): Field[] =>
  resource.fields.filter((field) => field.kind === 'text' && !field.redacted)

/** Whether a create must bring the field: it is never null and nothing fills it in. */
export const isMandatory = (field: Field): boolean => field.required && field.default === undefined

/** A value or what its function gives. */
const resolved = (source: Value | (() => Value)): Value => (typeof source === 'function' ? source() : source)

/** The whole row (but its id) that a create stores for what the client sent. */
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
    row[field.name] = absent ? resolved(field.default ?? null) : value
  }
  return row
}
