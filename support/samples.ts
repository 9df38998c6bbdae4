/** Generates rows and create bodies from descriptors, for tests and benchmarks. */
import {
  type Field,
  type Registry,
  type Resource,
  type RowValues,
  type Value,
  writableFields,
} from '../engine/descriptor/registry.js'

const targetOf = (registry: Registry, field: Field): Resource | undefined =>
  registry.find((resource) => resource.path === field.references)

/** A valid value for the field, distinct for each n if the field is unique. */
const sampleValue = (registry: Registry, field: Field, n: number): Value => {
  if (field.references) {
    const rows = targetOf(registry, field)?.demo ?? []
    return rows.length > 0 ? (rows[n % rows.length]?.['id'] ?? 1) : 1 + (n % generatedRows)
  }
  if (field.kind === 'integer') return n
  if (field.kind === 'number') return n + 0.5
  return field.filter ? `${field.name} ${n % 3}` : `${field.name}-${n} Ünïcode`
}

/** The nth create body, with every field that a client may set. */
export const sampleBody = (registry: Registry, resource: Resource, n: number): RowValues =>
  Object.fromEntries(writableFields(resource).map((field) => [field.name, sampleValue(registry, field, n)]))

const sampleRow = (registry: Registry, resource: Resource, id: number): RowValues =>
  Object.fromEntries(
    resource.fields.map((field): [string, Value] => {
      if (field.name === 'id') return ['id', id]
      if (field.references === resource.path) return [field.name, field.required || id > 1 ? 1 : null]
      return [field.name, field.required || id % 4 !== 0 ? sampleValue(registry, field, id) : null]
    }),
  )

/** Resources with a unique reference have fewer rows than the resources they reference, so that creates find unused ones. */
const generatedRows = 300
const rowCount = ({ fields }: Resource): number =>
  fields.some((field) => field.references && field.unique) ? 25 : generatedRows

/** The registry, with generated rows for every resource without demo rows. */
export const withSampleRows = (registry: Registry): Registry =>
  registry.map((resource) =>
    resource.demo.length > 0
      ? resource
      : {
          ...resource,
          demo: Array.from({ length: rowCount(resource) }, (_, n) => sampleRow(registry, resource, n + 1)),
        },
  )

/** A demo row as clients see it: every field present, redacted ones null. */
export const publicRow = (resource: Resource, row: RowValues): RowValues =>
  Object.fromEntries(resource.fields.map(({ name, redacted }) => [name, redacted ? null : (row[name] ?? null)]))

/** The nth row of a large table: the demo rows repeated, with distinct values in unique fields and in one text field. */
export const bulkRow = (resource: Resource, n: number): RowValues => {
  const original = resource.demo[n % resource.demo.length] ?? {}
  const distinct = resource.fields.find((field) => field.kind === 'text' && !field.filter && !field.redacted)
  const changed = resource.fields
    .filter((field) => field.name !== 'id' && (field.unique || field === distinct))
    .map(({ name, kind, references }) => {
      if (references) return [name, null]
      return [name, kind === 'text' ? `${original[name] ?? name}-${n}` : n]
    })
  return { ...original, ...Object.fromEntries(changed), id: null }
}
