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

/** A body that creates one: the same row's values, with the descriptor's example where a value would collide. */
export const createExample = (resource: Resource): RowValues => {
  const row = rowExample(resource)
  const shown = writableFields(resource).map((field) => [field.name, field.example ?? row[field.name] ?? null] as const)
  return Object.fromEntries(
    shown.filter(
      ([name, value]) => value !== null || isMandatory(resource.fields.find((field) => field.name === name) as Field),
    ),
  )
}

/** The page that `?limit=1` answers. */
export const pageExample = (resource: Resource): object => ({
  data: [rowExample(resource)],
  meta: { total: Math.max(1, resource.demo.length), limit: 1, offset: 0 },
})
