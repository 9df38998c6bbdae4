/** The registry: every descriptor in one normalised form, which the rest of the engine reads. */
import { describeClock, preciseClock } from './clock.js'
import type { Descriptor } from './define.js'
import type { FieldSpec } from './fields.js'
import { canonicalOf, type GivenValue, type IdKind, isStorable, isWhole, type Kind, kindOf } from './kinds/index.js'
import { pluralName } from './names.js'
import type { Options, TextFormat } from './options.js'
import type { FileError } from './registryError.js'
import { newUuid } from './uuids.js'
import { Violation } from './violations.js'

export type { GivenValue }
export type Value = GivenValue | null
export type RowValues = Record<string, Value>

/** A field: its options in the descriptor, with `unique`, `format` and `writeBy` in one form. */
export interface Field extends Readonly<Omit<Options<GivenValue>, 'unique' | 'format' | 'writeBy'>> {
  readonly name: string
  readonly column: string
  readonly kind: Kind
  readonly required: boolean
  /** The fields within whose values it is unique; empty if it is unique in the whole table, undefined if it is not unique. */
  readonly unique: readonly string[] | undefined
  readonly format: TextFormat | undefined
  /** The roles that may set it; undefined if everybody may who writes the row. */
  readonly writeBy?: readonly string[] | undefined
  /** Whether it cannot be set by the person for whom the resource is shown. */
  readonly isReadOnly?: true
}

export interface Resource extends Omit<Descriptor, 'fields' | 'required'> {
  /** The last segment of its URL: `books` for `/v1/books`. */
  readonly path: string
  readonly plural: string
  /** `id` first, then the fields of the descriptor in their order. */
  readonly fields: readonly Field[]
  /** The fields that rules of access name by following references: each reference, then the field. */
  readonly rulePaths?: ReadonlyMap<string, readonly Field[]>
  /** What its log keeps of each row, if it has one. */
  readonly log?: LogContents
  /** The demo rows, by id; empty if `seeds/` has no file for the resource. */
  readonly demo: readonly RowValues[]
  /** Why the demo rows of `seeds/` are not in `demo`; an empty database cannot be filled then. */
  readonly demoErrors?: readonly FileError[]
}

/** What the log of a resource keeps of each row before and after a change. */
export interface LogContents {
  /** The fields on which it depends who may read a row, of this resource or of those whose rules follow references to it. */
  readonly keys: readonly Field[]
  /** Whether rules follow references from it or to it. */
  readonly isOnPath: boolean
}

export type Registry = readonly Resource[]

/** The id of a row as a text, whatever its kind. */
export type RowId = string

/** Segments of a URL that are no id: browsers resolve the first two, and the API has paths of the other names. */
const reservedIds = ['.', '..', 'summary', 'import']
/** The same of resources with a log. */
export const loggedIds = ['changes', 'history']

/** Whether the database keeps a log of the changes of its rows. */
export const isLogged = ({ changes, history }: Pick<Descriptor, 'changes' | 'history'>): boolean =>
  changes === true || (history !== undefined && history !== false)

/** Every resource has an `id` in one of three forms, so no descriptor declares the field. */
const idSpec = (descriptor: Omit<Descriptor, 'fields'>): FieldSpec => {
  const { existing, id = 'integer', idColumn: column = 'id' } = descriptor
  const reserved = isLogged(descriptor) ? [...reservedIds, ...loggedIds] : reservedIds
  const listed = reserved.map((name) => `\`${name}\``)
  const specs: Record<IdKind, Options<GivenValue>> = {
    integer: { managed: true, about: `Assigned by the ${existing ? 'database' : 'service'}.` },
    uuid: { managed: newUuid },
    text: {
      minLength: 1,
      maxLength: 200,
      reserved,
      about: `Chosen by the client, and never changed; not ${listed.slice(0, -1).join(', ')} or ${listed.at(-1)}.`,
    },
  }
  return { kind: id, options: { ...specs[id], column } as FieldSpec['options'] }
}

export const idField = ({ fields }: Pick<Resource, 'fields'>): Field => fields[0] as Field

/** Whether a text is an integer of so many bits, in its one form. */
export const isInteger = (text: string, bits = 64): boolean =>
  /^(?:0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(bits, BigInt(text)) === BigInt(text)

/** The id that a text stands for, in its one form; undefined if no row can have it. */
export const parseId = (resource: Pick<Resource, 'fields'>, text: string): RowId | undefined => {
  const field = idField(resource)
  if (isWhole(field)) return isInteger(text) ? text : undefined
  const id = isStorable(text) ? kindOf(field.kind).parse(text, field) : undefined
  return id === undefined || id instanceof Violation ? undefined : String(id)
}

/** Compares rows by id; texts by their code points. */
export const byId = ({ id: a = null }: RowValues, { id: b = null }: RowValues): number =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))

/** A timestamp has milliseconds, those of the clock too. */
const withMilliseconds = (kind: Kind, options: Options<GivenValue>): Options<GivenValue> => {
  if (kindOf(kind).canonical === undefined) return options
  const entries = Object.entries(options).map(([name, value]) => [name, preciseClock(value)])
  return Object.fromEntries(entries)
}

const makeField = (name: string, { kind, options }: FieldSpec, required: boolean): Field => {
  const { unique, format, writeBy, column = name, ...rest } = withMilliseconds(kind, options as Options<GivenValue>)
  return {
    ...rest,
    name,
    column,
    kind,
    required,
    unique: unique === true ? [] : unique,
    format: kindOf(kind).isText ? (format ?? describeClock(rest.default ?? rest.managed)?.format) : undefined,
    writeBy: writeBy === undefined ? undefined : [writeBy].flat(),
  }
}

const withDefaults = (required: readonly string[], fields: Descriptor['fields'], row: RowValues): RowValues => {
  const missing = required.filter((name) => (row[name] ?? null) === null && fields[name]?.options.default !== undefined)
  return {
    ...row,
    ...Object.fromEntries(missing.map((name) => [name, resolve(fields[name]?.options.default as Value)])),
  }
}

export const resourceFrom = (
  path: string,
  { fields, required, ...properties }: Descriptor,
  demo: readonly RowValues[],
): Resource => ({
  ...properties,
  path,
  plural: pluralName(properties),
  fields: [
    // The contract of integer ids allows null in the documents.
    makeField('id', idSpec({ ...properties, required }), !isWhole({ kind: properties.id ?? 'integer' })),
    ...Object.entries(fields).map(([name, spec]) => makeField(name, spec, required.includes(name))),
  ],
  demo: demo.map((row) => withDefaults(required, fields, row)),
})

export const managedResources = (registry: Registry): Registry => registry.filter(({ existing }) => !existing)

export const writableFields = (resource: Resource): Field[] =>
  resource.fields.filter(({ managed, isReadOnly }) => !managed && !isReadOnly)

export const filterFields = (resource: Resource): Field[] => resource.fields.filter((field) => field.filter)

/** The fields that a list can be ordered by or has bounds of; each has an index. */
export const orderedFields = (resource: Resource): Field[] =>
  resource.fields.filter((field) => field.sort || field.range)

/** The fields with texts that somebody may read, which may be long. */
export const textFields = (resource: Resource): Field[] =>
  resource.fields.filter((field) => kindOf(field.kind).isText && !field.redacted && field.name !== 'id')

export const searchedFields = (resource: Resource): Field[] => textFields(resource).filter(({ readBy }) => !readBy)

export const isMandatory = (field: Field): boolean => field.required && field.default === undefined

export interface Reference {
  readonly resource: Resource
  readonly field: Field
}

export const referencesTo = (registry: Registry, path: string): Reference[] =>
  registry.flatMap((resource) =>
    resource.fields.filter(({ references }) => references === path).map((field) => ({ resource, field })),
  )

const resolve = (source: Value | (() => Value)): Value => (typeof source === 'function' ? source() : source)

export const canonicalValue = (field: Pick<Field, 'kind' | 'digits' | 'places'>, value: Value): Value =>
  value === null ? null : canonicalOf(field, value)

/** A row with each of its values in the form in which it is stored. */
export const canonicalRow = ({ fields }: Resource, row: RowValues): RowValues =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = row[field.name]
      return value === undefined ? [] : [[field.name, canonicalValue(field, value)]]
    }),
  )

export const updatableFields = (resource: Resource): Field[] => {
  const { update } = resource
  if (!update) return []
  return writableFields(resource).filter(({ name }) => name !== 'id' && (update === true || update.includes(name)))
}

export const currentStamps = (resource: Resource): RowValues =>
  Object.fromEntries(
    resource.fields.flatMap((field) => (field.onUpdate ? [[field.name, canonicalValue(field, field.onUpdate())]] : [])),
  )

/** The row that a create stores for the values a client sent; the database adds an id that is an integer. */
export const newRow = (resource: Resource, values: Readonly<Record<string, Value | undefined>>): RowValues => {
  const row: RowValues = {}
  for (const field of resource.fields) {
    const { name, managed } = field
    const value = values[name]
    const isAbsent = value === undefined || (value === null && field.required)
    if (name === 'id' && managed === true) continue
    if (managed) row[name] = managed === true ? null : canonicalValue(field, managed())
    else row[name] = canonicalValue(field, isAbsent ? resolve(field.default ?? null) : value)
  }
  return row
}
