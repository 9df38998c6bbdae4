/** Verifies the demo rows against their descriptors and against each other. */
import { kindOf } from './kinds.js'
import { didYouMean, nearest } from './nearest.js'
import type { Field, Registry, Resource, RowValues } from './registry.js'
import { formatValue, type Report, reportAt } from './registryError.js'
import { type SourceFile, textAt } from './sourceFile.js'
import { refusalOf } from './valueRules.js'

/** The ids of the demo rows by path, without the resources whose seed file cannot be read. */
type Ids = ReadonlyMap<string, ReadonlySet<unknown>>

/** Reports a problem that many rows have once: for the first of them, with the number of the others. */
const reportRows = (report: Report, name: string) => {
  const found = new Map<string, { message: string; index: number; count: number }>()
  return {
    add(kind: string, index: number, message: string): void {
      found.set(kind, { message, index, ...found.get(kind), count: (found.get(kind)?.count ?? 0) + 1 })
    },
    flush(): void {
      for (const { message, index, count } of found.values()) {
        const others = count > 2 ? `, and ${count - 1} more rows` : count === 2 ? ', and 1 more row' : ''
        report(`row ${index + 1}${others}: field "${name}": ${message}`, index, name)
      }
    },
  }
}

/** What is wrong with a value of a field, regardless of other rows. */
const valueError = (field: Field, value: unknown, written: () => string | undefined): string | undefined => {
  const refusal = refusalOf(field, value)
  if (refusal?.type === kindOf(field.kind).wrongType || refusal?.type === 'string_unicode')
    return `is ${formatValue(value)}, but it must be ${kindOf(field.kind).expected}`
  if (refusal) return refusal.message
  if (field.name === 'id' && Number(value) < 1) return `is ${value}, but ids begin at 1`
  if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined
  const digits = written() ?? ''
  if (!/^-?\d+$/.test(digits) || BigInt(digits) === BigInt(value)) return undefined
  return `is ${digits}, which would be rounded: integers are exact between -9007199254740991 and 9007199254740991`
}

/** Checks the field in every row: its type, and whether it is required, unique or a reference. */
const verifyField = (
  field: Field,
  rows: readonly RowValues[],
  ids: Ids,
  isMisspelt: (row: RowValues) => boolean,
  report: Report,
  source?: SourceFile,
): void => {
  const { name, required, references, unique = name === 'id' ? [] : undefined } = field
  const keys = new Set<string>()
  const { add, flush } = reportRows(report, name)
  for (const [index, row] of rows.entries()) {
    const value = row[name] ?? null
    if (value === null) {
      // A misspelt property is reported once, not as missing too.
      if ((required || name === 'id') && !isMisspelt(row)) add('required', index, 'is required')
      continue
    }
    const error = valueError(field, value, () => source && textAt(source, [index, name]))
    if (error) add('value', index, error)
    const targets = references === undefined ? undefined : ids.get(references)
    if (targets && !targets.has(value)) {
      add('reference', index, `references row ${formatValue(value)}, which is not in seeds/${references}.json`)
    }
    if (!unique || unique.some((other) => (row[other] ?? null) === null)) continue
    const key = JSON.stringify([...unique.map((other) => row[other]), value])
    if (keys.has(key)) add('unique', index, `must be unique, but an earlier row has ${key} too`)
    keys.add(key)
  }
  flush()
}

/** Reports the properties that are not fields; returns each with the field that its author probably meant. */
const verifyProperties = (fields: readonly Field[], rows: readonly RowValues[], report: Report) => {
  const names = fields.map(({ name }) => name)
  const unknown = new Set(rows.flatMap((row) => Object.keys(row).filter((given) => !names.includes(given))))
  for (const name of unknown) {
    const { add, flush } = reportRows(report, name)
    for (const [index, row] of rows.entries()) {
      if (name in row) add('unknown', index, `is not a field of this resource${didYouMean(name, names)}`)
    }
    flush()
  }
  return [...unknown].map((name) => ({ name, meant: nearest(name, names) }))
}

/** Reports the problems of the demo rows of a resource. */
export const verifyRows = ({ fields, demo }: Resource, ids: Ids, report: Report, source?: SourceFile): void => {
  const unknown = verifyProperties(fields, demo, report)
  for (const field of fields) {
    const isMisspelt = (row: RowValues) => unknown.some(({ name, meant }) => meant === field.name && name in row)
    verifyField(field, demo, ids, isMisspelt, report, source)
  }
}

/** Reports the values in a descriptor that reference a row which the demo data does not have. */
export const verifyConstants = ({ fields }: Resource, ids: Ids, report: Report): void => {
  for (const { name, references = '', ...options } of fields) {
    const targets = ids.get(references)
    if (!targets || targets.size === 0) continue
    for (const option of ['default', 'managed', 'example'] as const) {
      const given = options[option]
      const value = typeof given === 'function' ? given() : given
      if (value === undefined || value === true || targets.has(value)) continue
      const message = `${option} is ${value}, but seeds/${references}.json has no row with this id`
      reportAt(report, `field "${name}"`, 'fields', name)(message, option)
    }
  }
}

/** The ids of the demo rows of every resource. */
export const demoIds = (registry: Registry): Map<string, ReadonlySet<unknown>> =>
  new Map(registry.map(({ path, demo }) => [path, new Set(demo.map((row) => row['id']))]))
