/** Generates rows and create bodies from descriptors, for tests and benchmarks. */
import { byId } from '../engine/descriptor/ids.js'
import { type IdKind, type Kind, kindOf } from '../engine/descriptor/kinds.js'
import {
  type Field,
  idField,
  type Registry,
  type Resource,
  type RowValues,
  type Value,
  writableFields,
} from '../engine/descriptor/registry.js'
import { brokenRules } from '../engine/descriptor/rowRules.js'
import { sampleValue } from '../engine/descriptor/samples.js'

/** The demo rows by path. */
type Rows = ReadonlyMap<string, readonly RowValues[]>

const demoRows = (registry: Registry): Rows => new Map(registry.map(({ path, demo }) => [path, demo]))

const idsIn = (rows: Rows, path: string): Value[] => (rows.get(path) ?? []).map((row) => row['id'] ?? null)

/** The nth value of a field that references nothing: distinct for each n if the field is unique. */
const plainValue = (field: Field, n: number): Value =>
  // Filters match several rows each.
  sampleValue(field, field.filter && field.unique === undefined && kindOf(field.kind).isText ? n % 3 : n)

/** Remembers the unique values of rows; returns false, and remembers nothing, if a row repeats one. */
export const uniqueness = ({ fields }: Resource): ((row: RowValues) => boolean) => {
  const keys = fields.flatMap(({ name, unique }) =>
    unique ? [{ names: [...unique, name], taken: new Set<string>() }] : [],
  )
  return (row) => {
    const own = keys.flatMap(({ names, taken }) => {
      const values = names.map((name) => row[name] ?? null)
      return values.includes(null) ? [] : [{ taken, key: JSON.stringify(values) }]
    })
    if (own.some(({ taken, key }) => taken.has(key))) return false
    for (const { taken, key } of own) taken.add(key)
    return true
  }
}

/** How many rows are generated for a table without demo rows, if its unique fields allow it. */
const generatedRows = 60

/** The nth id of the generated rows. */
const sampleId = (resource: Resource, n: number): Value => {
  const field = idField(resource)
  return field.kind === 'integer' ? n : sampleValue(field, n)
}

const sampleRow = (resource: Resource, rows: Rows, id: number, n: number): RowValues =>
  Object.fromEntries(
    resource.fields.map((field): [string, Value] => {
      const { name, required, references, unique } = field
      if (name === 'id') return ['id', sampleId(resource, id)]
      if (!required && n % 4 === 0) return [name, null]
      if (references === undefined) return [name, plainValue(field, n)]
      // The rows of this table, and of one that references it back, do not exist yet: the row references itself.
      if (references === resource.path && !required)
        return [name, id > 1 ? sampleId(resource, unique ? id - 1 : 1) : null]
      const ids = idsIn(rows, references)
      if (ids.length === 0) return [name, required ? sampleId(resource, id) : null]
      // Half of the rows stay without a unique reference, for creates.
      return [name, ids[n % (unique ? Math.ceil(ids.length / 2) : ids.length)] ?? null]
    }),
  )

/** The nth row of a resource, with a value in every field; its unique references may be taken. */
export const makeSampleRow = (registry: Registry, resource: Resource, n: number): RowValues =>
  // Every fourth number makes optional fields null.
  sampleRow(resource, demoRows(registry), n, 4 * n + 1)

/** Whether rows of a resource require rows of one of these paths, directly or through others. */
const requiresAny = (registry: Registry, resource: Resource, paths: readonly string[]): boolean =>
  resource.fields.some(({ references, required }) => {
    if (!required || references === undefined || references === resource.path) return false
    const target = registry.find(({ path }) => path === references)
    return (
      paths.includes(references) || (target !== undefined && requiresAny(registry, target, [...paths, resource.path]))
    )
  })

/** The registry, with generated rows for every resource without demo rows. */
export const withSampleRows = (registry: Registry): Registry => {
  const rows = new Map(registry.flatMap(({ path, demo }) => (demo.length > 0 ? [[path, demo]] : [])))
  const generate = (resource: Resource, above: readonly string[]): void => {
    if (rows.has(resource.path) || above.includes(resource.path)) return
    const waiting = [...above, resource.path]
    for (const { references, required } of resource.fields) {
      const target = registry.find(({ path }) => path === references)
      if (target && (required || !requiresAny(registry, target, waiting))) generate(target, waiting)
    }
    const isUnique = uniqueness(resource)
    const generated: RowValues[] = []
    for (let n = 1; n <= generatedRows; n++) {
      const row = sampleRow(resource, rows, generated.length + 1, n)
      if (brokenRules(resource, row, () => true).length === 0 && isUnique(row)) generated.push(row)
    }
    rows.set(resource.path, generated.sort(byId))
  }
  for (const resource of registry) generate(resource, [])
  return registry.map((resource) => ({ ...resource, demo: rows.get(resource.path) ?? [] }))
}

/**
 * The nth create body, with every field that a client may set. A unique reference uses a row that no demo row references; their
 * number limits how many bodies can be created.
 */
export const sampleBody = (registry: Registry, resource: Resource, n: number): RowValues => {
  const rows = demoRows(registry)
  return Object.fromEntries(
    writableFields(resource).map((field): [string, Value] => {
      if (field.references === undefined) return [field.name, plainValue(field, n)]
      const ids = idsIn(rows, field.references)
      const taken = new Set(field.unique ? resource.demo.map((row) => row[field.name]) : [])
      const free = ids.filter((id) => !taken.has(id ?? null))
      const usable = free.length > 0 ? free : ids
      return [field.name, usable[n % usable.length] ?? 1]
    }),
  )
}

/** A demo row as clients see it: every field present, redacted ones null. */
export const publicRow = (resource: Resource, row: RowValues): RowValues =>
  Object.fromEntries(resource.fields.map(({ name, redacted }) => [name, redacted ? null : (row[name] ?? null)]))

/** A reference of each kind to a row that does not exist. */
export const missingIds: Readonly<Record<IdKind, Value>> = {
  integer: 987_654_321,
  uuid: 'ffffffff-ffff-7fff-bfff-ffffffffffff',
  text: 'no such row',
}

/** JSON texts of other types than a string. */
const notStrings = ['1', 'true', '[]', '{}']

/** JSON texts that are not values of each kind. */
export const wrongLiterals: Readonly<Record<Kind, readonly string[]>> = {
  text: [...notStrings, '"\\u0000"', '"\\ud800"'],
  integer: ['"7"', '1.5', 'true', '[]', '{}', '9007199254740993', '1e999'],
  number: ['"1.5"', 'true', '[]', '{}', '1e999', '1.0000000000000000001'],
  boolean: ['"true"', '1', '0', '[]', '{}'],
  date: [...notStrings, '"2026-02-30"', '"2026-2-3"', '"tomorrow"', '"0000-01-01"', '"2026-03-01T00:00:00Z"'],
  uuid: [...notStrings, '"0190d8a1"', '"0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1g"', '"0190d8a16f2e7c3a9b1d2f4e6a8c0b1d"'],
  decimal: [...notStrings, '""', '"1e3"', '"+1"', '".5"', '"1."', '" 1"', '"1,5"', `"${'9'.repeat(41)}"`],
  json: ['{"a":1,"a":2}', '"\\u0000"', '["\\ud800"]', `${'['.repeat(101)}${']'.repeat(101)}`],
  timestamp: [
    ...[...notStrings, '"2026-03-01"', '"2026-03-01T09:30:00"', '"2026-03-01T09:30:00.1234Z"'],
    '"2026-02-30T00:00:00Z"',
  ],
}
