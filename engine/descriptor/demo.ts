/** Verifies the demo rows: each against its descriptor, and all against each other. */
import type { Descriptor } from './define.js'
import { didYouMean } from './nearest.js'
import type { Resource, RowValues } from './registry.js'
import type { Problem } from './registryError.js'
import { kindMismatch } from './rules.js'

/** Checks the types, required values and ids of a resource's demo rows. */
export const verifyDemoRows = (file: string, { fields, required }: Descriptor, rows: unknown): Problem[] => {
  if (!Array.isArray(rows)) return [{ file, message: 'is not an array of rows' }]
  const names = ['id', ...Object.keys(fields)]
  const ids = new Set<unknown>()
  return rows.flatMap((values: RowValues | null, index): Problem[] => {
    const row = index + 1
    if (typeof values !== 'object' || values === null) return [{ file, row, message: 'is not an object' }]
    const problems: Problem[] = []
    const report = (field: string, message: string) => problems.push({ file, row, field, message })
    for (const [name, value] of Object.entries(values)) {
      const kind = name === 'id' ? 'integer' : fields[name]?.kind
      const mismatch = kind && value !== null && kindMismatch(value, kind)
      if (kind === undefined) report(name, `is not a field of this resource${didYouMean(name, names)}`)
      else if (mismatch) report(name, mismatch)
    }
    for (const name of ['id', ...required]) if ((values[name] ?? null) === null) report(name, 'is required')
    if (ids.has(values['id'])) report('id', `an earlier row has the id ${values['id']}`)
    ids.add(values['id'])
    return problems
  })
}

/** Checks references and unique values across all demo rows. */
export const verifyDemoLinks = (resources: readonly Resource[]): Problem[] => {
  const ids = new Map(resources.map(({ path, demo }) => [path, new Set(demo.map((row) => row['id']))]))
  return resources.flatMap(({ path, fields, demo }) => {
    const file = `seeds/${path}.json`
    return fields.flatMap(({ name: field, references, unique }) => {
      const problems: Problem[] = []
      const keys = new Set<string>()
      for (const [index, values] of demo.entries()) {
        const value = values[field] ?? null
        if (value === null) continue
        const report = (message: string) => problems.push({ file, row: index + 1, field, message })
        if (references && !ids.get(references)?.has(value)) {
          report(`references row ${value}, which is not in seeds/${references}.json`)
        }
        if (!unique || unique.some((name) => (values[name] ?? null) === null)) continue
        const key = JSON.stringify([...unique.map((name) => values[name]), value])
        if (keys.has(key)) report(`must be unique, but an earlier row has ${key} too`)
        keys.add(key)
      }
      return problems
    })
  })
}
