/** Finds resources that require references to each other, so that a client could never create the first row. */
import type { Descriptor } from './define.js'
import type { Options } from './fields.js'
import type { Report } from './registryError.js'

/** A required reference: the field of one resource, and the path of the other. */
interface Step {
  readonly path: string
  readonly field: string
  readonly target: string
}

export interface Linked {
  readonly path: string
  readonly descriptor: Descriptor
  readonly report: Report
}

/** Rows of a resource without creates come from elsewhere, perhaps several in one transaction. */
const stepsOf = ({ path, descriptor: { fields, required, create } }: Linked): Step[] =>
  Object.entries(fields).flatMap(([field, { options }]) => {
    const { references: target } = options as Options<unknown>
    return create && target !== undefined && required.includes(field) ? [{ path, field, target }] : []
  })

/** The first cycle that begins with a step. */
const wayBack = (trail: readonly Step[], steps: readonly Step[]): readonly Step[] | undefined => {
  const target = trail.at(-1)?.target
  if (target === trail[0]?.path) return trail
  for (const step of steps) {
    if (step.path !== target || trail.some(({ path }) => path === step.path)) continue
    const found = wayBack([...trail, step], steps)
    if (found) return found
  }
  return undefined
}

/** Reports each cycle once, in the first of its resources. */
export const checkCycles = (all: readonly Linked[]): void => {
  const steps = all.flatMap(stepsOf)
  const reported = new Set<string>()
  for (const first of steps) {
    const cycle = wayBack([first], steps)
    if (!cycle || cycle.some(({ path }) => reported.has(path))) continue
    for (const { path } of cycle) reported.add(path)
    const names = cycle.map(({ path, field }) => `${path}.${field}`).join(' → ')
    const words = cycle.length === 1 ? 'its own resource' : `a resource that requires one of this (${names})`
    all
      .find(({ path }) => path === first.path)
      ?.report(
        `field "${first.field}": is required and references ${words}, so no first row can ever be created; remove it from required`,
        'fields',
        first.field,
      )
  }
}
