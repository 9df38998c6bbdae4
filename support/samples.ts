/** Rows and create bodies made from a descriptor alone: for the tests of a resource that brings none, and for benchmarks. */
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

/** A value that fits the field, different for each n where it has to be. */
const sampleValue = (registry: Registry, field: Field, n: number): Value => {
  if (field.references) {
    const rows = targetOf(registry, field)?.demo ?? []
    return rows.length > 0 ? (rows[n % rows.length]?.['id'] ?? 1) : 1 + (n % madeUpRows)
  }
  if (field.kind === 'integer') return n
  if (field.kind === 'number') return n + 0.5
  return field.filter ? `${field.name} ${n % 3}` : `${field.name}-${n} Ünïcode`
}

/** The nth body that creates such a resource, with every field a client may set. */
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

/** Enough for a unique reference to find a row that no other has taken; fewer of those that have such a reference. */
const madeUpRows = 300
const rowsFor = ({ fields }: Resource): number =>
  fields.some((field) => field.references && field.unique) ? 25 : madeUpRows

/** The registry with made-up rows for every resource that has no demo rows of its own. */
export const withRows = (registry: Registry): Registry =>
  registry.map((resource) =>
    resource.demo.length > 0
      ? resource
      : {
          ...resource,
          demo: Array.from({ length: rowsFor(resource) }, (_, n) => sampleRow(registry, resource, n + 1)),
        },
  )

/** A demo row as a client sees it: every field present, the redacted ones null. */
export const shownRow = (resource: Resource, row: RowValues): RowValues =>
  Object.fromEntries(resource.fields.map(({ name, redacted }) => [name, redacted ? null : (row[name] ?? null)]))

/** The nth row of a large table: the demo rows over and over, with what tells a row apart made different. */
export const manyRow = (resource: Resource, n: number): RowValues => {
  const like = resource.demo[n % resource.demo.length] ?? {}
  const distinct = resource.fields.find((field) => field.kind === 'text' && !field.filter && !field.redacted)
  const changed = resource.fields
    .filter((field) => field.name !== 'id' && (field.unique || field === distinct))
    .map(({ name, kind, references }) => {
      if (references) return [name, null]
      return [name, kind === 'text' ? `${like[name] ?? name}-${n}` : n]
    })
  return { ...like, ...Object.fromEntries(changed), id: null }
}
