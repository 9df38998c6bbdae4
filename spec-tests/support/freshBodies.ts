/** Create bodies that always fit: a unique reference gets a row that nothing else references. */
import type { Field, Registry, Resource, RowValues, Value } from '../../engine/descriptor/registry.js'
import { makeSampleRow, sampleBody } from '../../support/samples.js'
import type { TestService } from './service.js'

/** The first number of a body: far from those of the demo rows. */
const first = 100_000

/** Makes the function that returns a new body of a resource, with every field that a client may set. */
export const freshBodies = ({ fill }: TestService, registry: Registry) => {
  const targetOf = ({ references }: Field): Resource => registry.find(({ path }) => path === references) as Resource
  let n = first

  /** Stores a row that no other row references, and the rows that it must reference itself; returns its id. */
  const newTarget = async (resource: Resource): Promise<Value> => {
    n++
    // Creates in between get the ids that follow.
    const row: RowValues = { ...makeSampleRow(registry, resource, n), id: n * 1000 }
    for (const field of resource.fields.filter(({ references, unique }) => references && unique)) {
      const isOwn = field.references === resource.path
      row[field.name] = field.required ? (isOwn ? (row['id'] ?? null) : await newTarget(targetOf(field))) : null
    }
    await fill([{ resource, rows: [row] }])
    return row['id'] ?? null
  }

  return async (resource: Resource): Promise<RowValues> => {
    n++
    const body = sampleBody(registry, resource, n)
    for (const field of resource.fields.filter(
      ({ name, references, unique }) => name in body && references && unique,
    )) {
      body[field.name] = await newTarget(targetOf(field))
    }
    return body
  }
}
