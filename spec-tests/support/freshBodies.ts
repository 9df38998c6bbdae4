/** Create bodies that always fit: a unique reference gets a row that nothing else references. */
import type { Field, Registry, Resource, RowValues, Value } from '../../engine/descriptor/registry.js'
import { brokenRules } from '../../engine/descriptor/rowRules.js'
import { makeSampleRow, sampleBody, uniqueness } from '../../support/samples.js'
import type { TestService } from './service.js'

/** The first number of a body: far from those of the demo rows. */
const first = 100_000

/** Makes the function that returns a new body of a resource, with every field that a client may set. */
export const freshBodies = ({ fill }: TestService, registry: Registry) => {
  const targetOf = ({ references }: Field): Resource => registry.find(({ path }) => path === references) as Resource
  let n = first
  const seen = new Map<Resource, ReturnType<typeof uniqueness>>()

  /** The next row whose unique values no demo row and no earlier one has: those of a small range repeat. Unique references come later. */
  const nextFree = (resource: Resource, make: (n: number) => RowValues): RowValues => {
    const isNew = seen.get(resource) ?? uniqueness(resource)
    if (!seen.has(resource)) for (const row of resource.demo) isNew(row)
    seen.set(resource, isNew)
    const references = resource.fields.filter(({ references: target, unique }) => target && unique)
    const withoutReferences = Object.fromEntries(references.map(({ name }) => [name, null]))
    for (let tries = 0; ; tries++) {
      const row = make(++n)
      const isAllowed = brokenRules(resource, row, () => true).length === 0
      if ((isAllowed && isNew({ ...row, ...withoutReferences })) || tries === 10_000) return row
    }
  }

  /** Stores a row that no other row references, and the rows that it must reference itself; returns its id. */
  const newTarget = async (resource: Resource): Promise<Value> => {
    const sampled = nextFree(resource, (nth) => makeSampleRow(registry, resource, nth))
    // Creates in between get the ids that follow.
    const row: RowValues = { ...sampled, id: n * 1000 }
    for (const field of resource.fields.filter(({ references, unique }) => references && unique)) {
      const isOwn = field.references === resource.path
      row[field.name] = field.required ? (isOwn ? (row['id'] ?? null) : await newTarget(targetOf(field))) : null
    }
    await fill([{ resource, rows: [row] }])
    return row['id'] ?? null
  }

  return async (resource: Resource): Promise<RowValues> => {
    const body = nextFree(resource, (nth) => sampleBody(registry, resource, nth))
    for (const field of resource.fields.filter(
      ({ name, references, unique }) => name in body && references && unique,
    )) {
      body[field.name] = await newTarget(targetOf(field))
    }
    return body
  }
}
