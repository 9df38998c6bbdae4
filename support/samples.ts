/** Generates rows and create bodies from descriptors, for tests and benchmarks. */
import { isWhole, kindOf } from '../engine/descriptor/kinds/index.js'
import {
  byId,
  type Field,
  idField,
  newRow,
  type Registry,
  type Resource,
  type RowValues,
  type Value,
} from '../engine/descriptor/registry.js'
import {
  demoRows,
  findBody,
  keepsRules,
  NoSample,
  plainValues,
  repeatsKey,
  uniqueKeys,
} from '../engine/descriptor/sampleRows.js'
import { sampleValue, sampleValues } from '../engine/descriptor/samples.js'
import { findViolation } from '../engine/descriptor/valueRules.js'

/** How many rows are generated for a table without demo rows, if its unique fields allow it. */
const generatedRows = 60
/** How many of them may not be found before the search ends. */
const maxFailures = 3

/** The nth id of the generated rows. */
const sampleId = (resource: Resource, n: number): Value => {
  const field = idField(resource)
  return isWhole(field) ? n : (sampleValue(field, n) ?? null)
}

type RowLists = ReadonlyMap<string, readonly RowValues[]>

/** Whether the rows that a row references are there. */
const hasTargets = ({ fields }: Resource, row: RowValues, rows: RowLists): boolean =>
  fields.every(
    ({ name, references }) =>
      references === undefined ||
      (row[name] ?? null) === null ||
      rows.get(references)?.some(({ id }) => id === row[name]),
  )

/** The rows of a table without demo rows, beside those of other tables. */
const generate = (registry: Registry, resource: Resource, others: RowLists): RowValues[] => {
  const { path, fields, rules = [] } = resource
  const generated: RowValues[] = []
  const rows = (target: string) => (target === path ? generated : (others.get(target) ?? []))
  const lone = fields.filter(({ references, unique, required }) => references && unique?.length === 0 && required)
  // Half of the referenced rows are left for creates.
  const limits = lone.map(({ references = '' }) => Math.ceil(rows(references).length / 2) || generatedRows)
  const constrained = [...uniqueKeys(resource), ...rules.map((rule) => rule.fields)].flat()
  const fixedValue = (field: Field, n: number): Value | undefined => {
    const { name, required, managed, references = '', kind, filter } = field
    if (name === 'id') return managed ? sampleId(resource, generated.length + 1) : undefined
    if (!required && n % 4 === 0) return null
    // The rows of this table, and of one that requires it too, do not exist yet.
    const target = registry.find((candidate) => candidate.path === references)
    if (target && required && rows(references).length === 0)
      return sampleId(target, references === path ? generated.length + 1 : 1)
    if (managed === true) return target ? (rows(references)[n]?.['id'] ?? null) : sampleValue(field, n)
    // Filters match several rows each.
    const isShared = filter && kindOf(kind).isText && !target && !constrained.includes(name)
    return isShared ? sampleValue(field, n % 3) : undefined
  }
  let failures = 0
  for (let n = 1; n <= Math.min(generatedRows, ...limits) && failures < maxFailures; n++) {
    const fixedValues = fields.flatMap((field) => {
      const value = fixedValue(field, n)
      return value === undefined ? [] : [[field.name, value]]
    })
    const fixed: RowValues = Object.fromEntries(fixedValues)
    try {
      const row = { ...newRow(resource, findBody({ rows, resource, n, fixed })), ...fixed }
      if (keepsRules(resource, row) && !repeatsKey(resource, row, generated)) generated.push(row)
    } catch (error) {
      if (!(error instanceof NoSample)) throw error
      failures++
    }
  }
  return generated.sort(byId)
}

/** The registry, with generated rows for every resource without demo rows. */
export const withSampleRows = (registry: Registry): Registry => {
  const rows = new Map(registry.flatMap(({ path, demo }) => (demo.length > 0 ? [[path, demo]] : [])))
  let waiting = registry.filter(({ path }) => !rows.has(path))
  const isReady = ({ path, fields }: Resource, isNeeded: (field: Field) => boolean) =>
    fields.every(
      (field) =>
        !isNeeded(field) || field.references === path || !waiting.some((other) => other.path === field.references),
    )
  while (waiting.length > 0) {
    const next =
      waiting.find((resource) => isReady(resource, () => true)) ??
      waiting.find((resource) => isReady(resource, ({ required }) => required)) ??
      (waiting[0] as Resource)
    rows.set(next.path, generate(registry, next, rows))
    waiting = waiting.filter((resource) => resource !== next)
  }
  // Of two tables that require each other, one may have got no rows.
  for (let isChanged = true; isChanged; ) {
    isChanged = false
    for (const resource of registry) {
      const before = rows.get(resource.path) ?? []
      const kept = resource.demo.length > 0 ? before : before.filter((row) => hasTargets(resource, row, rows))
      isChanged ||= kept.length < before.length
      rows.set(resource.path, kept)
    }
  }
  return registry.map((resource) => ({ ...resource, demo: rows.get(resource.path) ?? [] }))
}

/** The nth create body beside the demo rows; if these use all values of a unique field, one that is refused because of that. */
export const sampleBody = (registry: Registry, resource: Resource, n: number): RowValues => {
  const rows = demoRows(registry)
  try {
    return findBody({ rows, resource, n })
  } catch (error) {
    if (!(error instanceof NoSample && error.isFull)) throw error
    return findBody({
      rows,
      resource: { ...resource, fields: resource.fields.map((field) => ({ ...field, unique: undefined })) },
      n,
    })
  }
}

/** A demo row as clients see it: every field present, redacted ones null. */
export const publicRow = (resource: Resource, row: RowValues): RowValues => {
  const values = plainValues(row)
  return Object.fromEntries(
    resource.fields.map(({ name, redacted }) => [name, redacted ? null : (values[name] ?? null)]),
  )
}

/** Values of a reference that name no row, and keep the rules of its field. */
export const missingReferences = (field: Field, ids: readonly Value[]): Value[] => {
  const unusual = [987_654_321, 'ffffffff-ffff-7fff-bfff-ffffffffffff', 'no such row', 0, -1]
  return [...unusual, ...sampleValues(field, 987_654)].filter(
    (value) => !ids.includes(value) && findViolation(field, value) === undefined,
  )
}

/** The JSON of a body in which a field has a value that is given as JSON. */
export const withLiteral = (body: RowValues, name: string, literal: string): string => {
  const { [name]: _, ...others } = body
  const rest = JSON.stringify(others).slice(1)
  return `{${JSON.stringify(name)}:${literal}${rest === '}' ? '' : ','}${rest}`
}
