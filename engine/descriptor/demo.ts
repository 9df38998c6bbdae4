/** Verifies the demo rows against their descriptors and against each other. */
import { kinds } from './fields.js'
import { didYouMean } from './nearest.js'
import type { Field, Registry, RowValues } from './registry.js'
import { formatValue, type Report, reportAt } from './registryError.js'

type Ids = ReadonlyMap<string, ReadonlySet<unknown>>

/** Checks the field of every row: its type, and whether it is required, unique or a reference. */
const verifyField = (field: Field, rows: readonly RowValues[], ids: Ids, report: Report): void => {
  const { name, kind, required, references, unique = name === 'id' ? [] : undefined } = field
  const { isValid, expected } = kinds[kind]
  const keys = new Set<string>()
  for (const [index, row] of rows.entries()) {
    const reportField = reportAt(report, `row ${index + 1}: field "${name}"`)
    const value = row[name] ?? null
    if (value === null) {
      if (required || name === 'id') reportField('is required')
      continue
    }
    if (!isValid(value)) reportField(`is ${formatValue(value)}, but it must be ${expected}`)
    else if (references && !ids.get(references)?.has(value)) {
      reportField(`references row ${value}, which is not in seeds/${references}.json`)
    }
    if (!unique || unique.some((other) => (row[other] ?? null) === null)) continue
    const key = JSON.stringify([...unique.map((other) => row[other]), value])
    if (keys.has(key)) reportField(`must be unique, but an earlier row has ${key} too`)
    keys.add(key)
  }
}

/** Reports every problem of the demo rows. */
export const verifyDemo = (registry: Registry, report: Report): void => {
  const ids: Ids = new Map(registry.map(({ path, demo }) => [path, new Set(demo.map((row) => row['id']))]))
  for (const { path, fields, demo } of registry) {
    const reportFile = reportAt(report, `seeds/${path}.json`)
    const names = fields.map(({ name }) => name)
    for (const [index, row] of demo.entries()) {
      for (const name of Object.keys(row).filter((given) => !names.includes(given))) {
        const hint = didYouMean(name, names)
        reportFile(`row ${index + 1}: field "${name}": is not a field of this resource${hint}`)
      }
    }
    for (const field of fields) verifyField(field, demo, ids, reportFile)
  }
}
