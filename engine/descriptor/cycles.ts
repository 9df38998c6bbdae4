/** Finds resources that require references to each other, so that a client could never create the first row. */
import type { Descriptor } from './define.js'
import type { OnDelete, Options } from './options.js'
import type { Report } from './registryError.js'

/** A resource, its path, and where its errors are reported. */
export interface ReportedResource {
  readonly path: string
  readonly descriptor: Descriptor
  readonly report: Report
}

/** A required reference: the field of one resource, and the path of the other. */
interface CycleStep extends ReportedResource {
  readonly field: string
  readonly target: string
  readonly onDelete: OnDelete | undefined
}

const findCycle = (trail: readonly CycleStep[], steps: readonly CycleStep[]): readonly CycleStep[] | undefined => {
  const target = trail.at(-1)?.target
  if (target === trail[0]?.path) return trail
  for (const step of steps) {
    if (step.path !== target || trail.some(({ path }) => path === step.path)) continue
    const cycle = findCycle([...trail, step], steps)
    if (cycle) return cycle
  }
  return undefined
}

const reportCycles = (steps: readonly CycleStep[], message: (names: string, length: number) => string): void => {
  const reported = new Set<string>()
  for (const first of steps) {
    const cycle = findCycle([first], steps)
    if (!cycle || cycle.some(({ path }) => reported.has(path))) continue
    for (const { path } of cycle) reported.add(path)
    const names = cycle.map(({ path, field }) => `${path}.${field}`).join(' → ')
    first.report(`field "${first.field}": ${message(names, cycle.length)}`, 'fields', first.field)
  }
}

/** Reports required references that make a circle: no first row can be created, or a delete removes all rows. */
export const checkCycles = (resources: readonly ReportedResource[]): void => {
  const steps = resources.flatMap((resource) =>
    Object.entries(resource.descriptor.fields).flatMap(([field, spec]): CycleStep[] => {
      const { references: target, onDelete } = spec.options as Options<unknown>
      const isRequired = resource.descriptor.required.includes(field)
      return target !== undefined && isRequired ? [{ ...resource, field, target, onDelete }] : []
    }),
  )
  // Rows of a resource without creates, or of an existing table, come from elsewhere, perhaps several in one transaction.
  const isCreated = ({ descriptor }: CycleStep) => descriptor.create && !descriptor.existing
  reportCycles(steps.filter(isCreated), (names, length) => {
    const target = length === 1 ? 'its own resource' : `a resource that requires one of this (${names})`
    return `is required and references ${target}, so no first row can ever be created; remove it from required`
  })
  reportCycles(
    steps.filter((step) => step.onDelete === 'cascade' && !isCreated(step)),
    (names) =>
      `onDelete is cascade in a circle of required references (${names}): one delete could remove every row; use restrict`,
  )
}
