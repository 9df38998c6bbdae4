/** Examples that are true: rows of the demo data where there are some, else what the descriptor says of its fields. */
import {
  type Field,
  isMandatory,
  type Resource,
  type RowValues,
  type Value,
  writableFields,
} from '../descriptor/registry.js'

const kindSample = { integer: 1, number: 1.5, text: '' } as const

const fieldExample = (field: Field): Value => {
  if (field.example !== undefined) return field.example
  const source = field.default ?? (field.managed === true ? undefined : field.managed)
  if (source !== undefined) return typeof source === 'function' ? source() : source
  if (!field.required) return null
  return kindSample[field.kind] || field.name
}

/** A row as a read answers with it: the first of the demo data. */
export const rowExample = (resource: Resource): RowValues => {
  const [first] = resource.demo
  if (!first) return { ...Object.fromEntries(resource.fields.map((field) => [field.name, fieldExample(field)])), id: 1 }
  return Object.fromEntries(
    resource.fields.map((field) => [field.name, field.redacted ? null : (first[field.name] ?? null)]),
  )
}

/** The row's value, or one like it that no demo row has where it must be unique. */
const fresh = (resource: Resource, { name, unique }: Field, value: Value): Value => {
  if (!unique || value === null) return value
  const taken = new Set(resource.demo.map((row) => row[name]))
  const nth = (n: number): Value => (typeof value === 'number' ? value + n : `${value}-${n}`)
  let n = 2
  while (taken.has(nth(n))) n++
  return nth(n)
}

/** A body that creates one: the same row's values, but for those that would collide. */
export const createExample = (resource: Resource): RowValues => {
  const row = rowExample(resource)
  return Object.fromEntries(
    writableFields(resource)
      .map((field) => ({ field, value: field.example ?? fresh(resource, field, row[field.name] ?? null) }))
      .filter(({ field, value }) => value !== null || isMandatory(field))
      .map(({ field, value }) => [field.name, value]),
  )
}

/** The page that `?limit=1` answers. */
export const pageExample = (resource: Resource): object => ({
  data: [rowExample(resource)],
  meta: { total: Math.max(1, resource.demo.length), limit: 1, offset: 0 },
})
