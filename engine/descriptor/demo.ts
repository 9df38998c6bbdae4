/** Verification of the demo rows: each against its descriptor, and all against one another. */
import type { Descriptor } from './define.js'
import type { Fault } from './fault.js'
import { didYouMean } from './nearest.js'
import type { Resource, RowValues } from './registry.js'
import { wrongKind } from './rules.js'

/** What is wrong with a resource's demo rows, row by row. */
export const verifyDemo = (file: string, { fields, required }: Descriptor, rows: unknown): Fault[] => {
  if (!Array.isArray(rows)) return [{ file, problem: 'is not a list of rows' }]
  const names = ['id', ...Object.keys(fields)]
  const seen = new Set<unknown>()
  return rows.flatMap((row: RowValues | null, index): Fault[] => {
    const faults: Fault[] = []
    const say = (field: string, problem: string) =>
      faults.push({ file, field, problem: `row ${index + 1}: ${problem}` })
    if (typeof row !== 'object' || row === null) return [{ file, problem: `row ${index + 1}: is no object` }]
    for (const [name, value] of Object.entries(row)) {
      const kind = name === 'id' ? 'integer' : fields[name]?.kind
      const wrong = kind && value !== null && wrongKind(value, kind)
      if (kind === undefined) say(name, `is no field of the resource${didYouMean(name, names)}`)
      else if (wrong) say(name, wrong)
    }
    for (const name of ['id', ...required]) if ((row[name] ?? null) === null) say(name, 'is required but has no value')
    if (seen.has(row['id'])) say('id', `${row['id']} is taken by an earlier row`)
    seen.add(row['id'])
    return faults
  })
}

/** What is wrong between demo rows: references to rows that are not there, and values that should be unique. */
export const verifyLinks = (resources: readonly Resource[]): Fault[] => {
  const ids = new Map(resources.map(({ path, demo }) => [path, new Set(demo.map((row) => row['id']))]))
  return resources.flatMap(({ path, fields, demo }) => {
    const file = `seeds/${path}.json`
    return fields.flatMap(({ name: field, references, unique }) => {
      const faults: Fault[] = []
      const taken = new Set<string>()
      for (const [index, row] of demo.entries()) {
        const value = row[field] ?? null
        if (value === null) continue
        if (references && !ids.get(references)?.has(value)) {
          faults.push({
            file,
            field,
            problem: `row ${index + 1}: names ${value}, and seeds/${references}.json has no such row`,
          })
        }
        if (!unique || unique.some((within) => (row[within] ?? null) === null)) continue
        const key = JSON.stringify([...unique.map((within) => row[within]), value])
        if (taken.has(key)) faults.push({ file, field, problem: `row ${index + 1}: ${key} is taken by an earlier row` })
        taken.add(key)
      }
      return faults
    })
  })
}
