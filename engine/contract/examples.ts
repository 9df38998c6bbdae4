/** The examples of the documents: from the demo rows, or from the descriptor where there are none. */
import { now, today } from '../descriptor/clock.js'
import {
  type Field,
  isMandatory,
  type Resource,
  type RowValues,
  type Value,
  writableFields,
} from '../descriptor/registry.js'

const kindSample = { integer: 1, number: 1.5, text: '' } as const

/** Fixed times, so that a document is the same whenever it is made. */
const clockSamples = new Map<unknown, Value>([
  [today, '2026-01-31'],
  [now, '2026-01-31T09:30:00Z'],
])

const fieldExample = (field: Field): Value => {
  const source = field.example ?? field.default ?? (field.managed === true ? null : field.managed)
  if (typeof source === 'function') return clockSamples.get(source) ?? null
  return source ?? (field.required ? kindSample[field.kind] || field.name : null)
}

/** A row as a read returns it: the first demo row. */
export const rowExample = (resource: Resource): RowValues => {
  const [first] = resource.demo
  if (!first) return { ...Object.fromEntries(resource.fields.map((field) => [field.name, fieldExample(field)])), id: 1 }
  return Object.fromEntries(
    resource.fields.map((field) => [field.name, field.redacted ? null : (first[field.name] ?? null)]),
  )
}

/** The value, changed where it must be unique so that no demo row has it. */
const fresh = (resource: Resource, { name, unique }: Field, value: Value): Value => {
  if (!unique || value === null) return value
  const taken = new Set(resource.demo.map((row) => row[name]))
  const nth = (n: number): Value => (typeof value === 'number' ? value + n : `${value}-${n}`)
  let n = 2
  while (taken.has(nth(n))) n++
  return nth(n)
}

/** A create body that the demo data accepts: the values of the example row, without conflicts. */
export const createExample = (resource: Resource): RowValues => {
  const row = rowExample(resource)
  return Object.fromEntries(
    writableFields(resource)
      .map((field) => ({ field, value: field.example ?? fresh(resource, field, row[field.name] ?? null) }))
      .filter(({ field, value }) => value !== null || isMandatory(field))
      .map(({ field, value }) => [field.name, value]),
  )
}

/** The row that this body creates in the demo data; the times differ. */
export const createdExample = (resource: Resource): RowValues => {
  const last = Math.max(0, ...resource.demo.map((row) => Number(row['id'])))
  const unset = resource.fields.filter((field) => field.managed === true).map((field) => [field.name, null])
  return { ...rowExample(resource), ...createExample(resource), ...Object.fromEntries(unset), id: last + 1 }
}

/** The page that `?limit=1` returns. */
export const pageExample = (resource: Resource): object => ({
  data: [rowExample(resource)],
  meta: { total: Math.max(1, resource.demo.length), limit: 1, offset: 0 },
})
