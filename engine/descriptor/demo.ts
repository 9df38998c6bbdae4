/** Verifies the demo rows against their descriptors and against each other. */
import { kindOf } from './kinds/index.js'
import { didYouMean, nearest } from './nearest.js'
import type { Field, Registry, Resource } from './registry.js'
import { formatValue, type Report, reportAt } from './registryError.js'
import { type SourceFile, textAt } from './sourceFile.js'
import { findViolation } from './valueRules.js'

/** The ids of the demo rows by path, without the resources whose seed file cannot be read. */
type Ids = ReadonlyMap<string, ReadonlySet<unknown>>

const valueError = (field: Field, value: unknown, written: () => string | undefined): string | undefined => {
  const violation = findViolation(field, value)
  if (violation?.type === 'kind' || violation?.type === 'string_unicode')
    return `${field.redacted ? '' : `is ${formatValue(value)}, but it `}must be ${kindOf(field.kind).expected}`
  if (violation) return violation.describe(field)
  if (field.name === 'id' && typeof value === 'number' && value < 1) return `is ${value}, but ids begin at 1`
  if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined
  const digits = written() ?? ''
  if (!/^-?\d+$/.test(digits) || BigInt(digits) === BigInt(value)) return undefined
  return `is ${digits}, which would be rounded: integers are exact between -9007199254740991 and 9007199254740991`
}

/** Reports the errors of the demo rows of a resource. An error that many rows have is reported once: for the first of them, with the number of the others. */
export const verifyRows = ({ fields, demo }: Resource, ids: Ids, report: Report, source?: SourceFile): void => {
  const errors = new Map<string, { name: string; message: string; index: number; count: number }>()
  const add = (kind: string, name: string, index: number, message: string): void => {
    const key = `${kind} ${name}`
    const { count = 0, ...first } = errors.get(key) ?? { name, message, index }
    errors.set(key, { ...first, count: count + 1 })
  }
  const names = fields.map(({ name }) => name)
  const unknown = new Set(demo.flatMap((row) => Object.keys(row).filter((name) => !names.includes(name))))
  for (const name of unknown) {
    const message = `is not a field of this resource${didYouMean(name, names)}`
    for (const [index, row] of demo.entries()) if (name in row) add('unknown', name, index, message)
  }
  for (const field of fields) {
    const { name, required, references, unique = name === 'id' ? [] : undefined } = field
    const targets = references === undefined ? undefined : ids.get(references)
    const misspelt = [...unknown].filter((other) => nearest(other, names) === name)
    const keys = new Set<string>()
    for (const [index, row] of demo.entries()) {
      const value = row[name] ?? null
      if (value === null) {
        // A misspelt property is reported once, not as missing too.
        const isMisspelt = misspelt.some((other) => other in row)
        if ((required || name === 'id') && !isMisspelt) add('required', name, index, 'is required')
        continue
      }
      const error = valueError(field, value, () => source && textAt(source, [index, name]))
      if (error) add('value', name, index, error)
      if (targets && !targets.has(value)) {
        const missing = `references row ${formatValue(value)}, which is not in seeds/${references}.json`
        add('reference', name, index, missing)
      }
      if (!unique || unique.some((other) => (row[other] ?? null) === null)) continue
      const key = JSON.stringify([...unique.map((other) => row[other]), value])
      if (keys.has(key)) add('unique', name, index, `must be unique, but an earlier row has ${key} too`)
      keys.add(key)
    }
  }
  for (const { name, message, index, count } of errors.values()) {
    const moreRows = count > 2 ? `, and ${count - 1} more rows` : count === 2 ? ', and 1 more row' : ''
    report(`row ${index + 1}${moreRows}: field "${name}": ${message}`, index, name)
  }
}

export const verifyConstants = ({ fields }: Resource, ids: Ids, report: Report): void => {
  for (const { name, references = '', ...options } of fields) {
    const targets = ids.get(references)
    if (!targets || targets.size === 0) continue
    for (const option of ['default', 'managed', 'example'] as const) {
      const preset = options[option]
      const value = typeof preset === 'function' ? preset() : preset
      if (value === undefined || value === true || targets.has(value)) continue
      const message = `${option} is ${value}, but seeds/${references}.json has no row with this id`
      reportAt(report, `field "${name}"`, 'fields', name)(message, option)
    }
  }
}

export const demoIds = (registry: Registry): Map<string, ReadonlySet<unknown>> =>
  new Map(registry.map(({ path, demo }) => [path, new Set(demo.map((row) => row['id']))]))
