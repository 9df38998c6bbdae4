/** The examples in the documents: from the demo rows or, without any that everybody may see, from the descriptor. */
import { exampleRows } from '../descriptor/access.js'
import { describeClock } from '../descriptor/clock.js'
import { isValueOf, isWhole } from '../descriptor/kinds/index.js'
import {
  type Field,
  idField,
  isMandatory,
  newRow,
  type Registry,
  type Resource,
  type RowValues,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { newField } from '../descriptor/rowRules.js'
import { demoRows, findBody, keepsRules, NoSample, repeatsKey } from '../descriptor/sampleRows.js'
import { sampleValue } from '../descriptor/samples.js'
import { findViolation } from '../descriptor/valueRules.js'

/** What the service sets if the client sends nothing: null, a constant, or a sample of what the function returns. */
const presetExample = (field: Field): Value => {
  const source = field.default ?? (field.managed === true ? undefined : field.managed)
  if (typeof source === 'function') return describeClock(source)?.sample ?? sampleValue(field, 1) ?? null
  return source ?? null
}

const fieldExample = (field: Field): Value => {
  if (field.name === 'id') return isWhole(field) ? 1 : (sampleValue(field, 1) ?? null)
  if (field.redacted) return null
  // Swagger 2.0 does not take null among the values of an enum.
  return (
    field.example ?? presetExample(field) ?? (field.required || field.oneOf ? (sampleValue(field, 1) ?? null) : null)
  )
}

export const rowExample = (resource: Resource): RowValues => {
  const [first] = exampleRows(resource)
  return Object.fromEntries(
    resource.fields.map((field) => {
      const value = first ? (first[field.name] ?? null) : fieldExample(field)
      return [field.name, field.redacted ? null : value]
    }),
  )
}

/** A value for a unique field that no demo row has: the given one, or one like it. Null if every reference is taken. */
const freeValue = (registry: Registry, resource: Resource, field: Field, value: Value): Value => {
  const { name, references } = field
  const taken = new Set(exampleRows(resource).map((row) => row[name]))
  if (value === null || !taken.has(value)) return value
  if (references !== undefined) {
    const target = registry.find(({ path }) => path === references)
    const rows = target ? exampleRows(target) : []
    return rows.map((row) => row['id'] ?? null).find((id) => !taken.has(id ?? null)) ?? null
  }
  const nth = (n: number): Value => {
    const similar = typeof value !== 'number' ? `${value}-${n}` : value > 0 ? value - n : value + n
    return isValueOf(field, similar) && !findViolation(field, similar) ? similar : (sampleValue(field, n) ?? null)
  }
  let n = 2
  // The rules may allow fewer values than there are rows.
  while (taken.has(nth(n)) && n <= taken.size + 2) n++
  return nth(n)
}

/** What only some roles may set: the example is for everybody who may create rows. */
const unsent = ({ fields }: Resource): RowValues =>
  Object.fromEntries(fields.filter(({ writeBy }) => writeBy).map(({ name }) => [name, null]))

/** A create body that the demo data accepts: that of the example row or, if it breaks a rule or repeats a unique value, another one. */
export const createExample = (registry: Registry, resource: Resource): RowValues => {
  const similar = similarBody(registry, resource)
  const row = newRow(resource, similar)
  if (keepsRules(resource, row) && !repeatsKey(resource, row, resource.demo)) return similar
  try {
    const body = findBody({ rows: demoRows(registry), resource, n: 1, fixed: unsent(resource) })
    return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  } catch (error) {
    if (error instanceof NoSample) return similar
    throw error
  }
}

/** A value of a field that references a row: one that everybody may see, if there is any. */
const existingReference = (registry: Registry, { references }: Field, value: Value): Value => {
  const target = value === null ? undefined : registry.find(({ path }) => path === references)
  const ids = target ? exampleRows(target).map((row) => row['id'] ?? null) : []
  return ids.includes(value) ? value : (ids[0] ?? value)
}

/** A value with which a new row may begin, in place of one that only follows others. */
const startValue = ({ start, default: preset }: Field, value: Value): Value => {
  if (!start || value === null || start.includes(value)) return value
  return start.find((one) => one === preset) ?? start[0] ?? null
}

/** The values of the example row, with other unique ones. */
const similarBody = (registry: Registry, resource: Resource): RowValues => {
  const row = rowExample(resource)
  /** The number that made a text free, as in `acme-2`; then the name is `Acme 2`. */
  let suffix = ''
  const fields = writableFields(resource)
    .filter(({ writeBy }) => !writeBy)
    .map(newField)
  const values = fields.flatMap((field): [Field, Value][] => {
    const { name, unique } = field
    const example = startValue(field, field.example ?? existingReference(registry, field, row[name] ?? null))
    const value = unique || name === 'id' ? freeValue(registry, resource, field, example) : example
    if (typeof value === 'string' && value !== example) suffix = value.slice(String(example).length + 1)
    if (value !== null) return [[field, value]]
    return isMandatory(field) ? [[field, example]] : []
  })
  const entries = values.map(([field, value]): [string, Value] => {
    const numbered = `${value} ${suffix}`
    const isVaried = suffix !== '' && field.name === 'name' && !field.unique && !findViolation(field, numbered)
    return [field.name, isVaried ? numbered : value]
  })
  return Object.fromEntries(entries)
}

/** The row that this body creates in the demo data; the times differ. */
export const createdExample = (registry: Registry, resource: Resource): RowValues => {
  const body = createExample(registry, resource)
  const created = resource.fields.map((field): [string, Value] => {
    if (field.redacted) return [field.name, null]
    return [field.name, body[field.name] ?? presetExample(field)]
  })
  const id = idField(resource)
  if (!isWhole(id)) return { ...Object.fromEntries(created), id: body['id'] ?? sampleValue(id, 2) ?? null }
  const last = Math.max(0, ...exampleRows(resource).map((row) => Number(row['id'])))
  return { ...Object.fromEntries(created), id: last + 1 }
}

/** The history of the example row, which has not changed since it was created. */
export const historyExample = (resource: Resource): object => {
  const row = Object.entries(rowExample(resource)).filter(([, value]) => value !== null)
  const changed = Object.fromEntries(row.map(([name, value]) => [name, [null, value]]))
  return {
    data: [{ at: '2026-01-31T12:00:00.000Z', by: 'ana', op: 'create', changed }],
    meta: { total: 1, limit: 50, offset: 0 },
  }
}

export const pageExample = (resource: Resource): object => ({
  data: [rowExample(resource)],
  meta: { total: Math.max(1, exampleRows(resource).length), limit: 1, offset: 0 },
})

export const changesExample = (resource: Resource): object => {
  const row = rowExample(resource)
  return {
    data: [{ op: 'put', id: row['id'], at: '2026-01-31T08:30:00.000Z', row }],
    meta: { next: 'WyJib29rcyIs…', more: false },
  }
}
