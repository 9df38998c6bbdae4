/** A mistake in a resource's file, told so that it can be mended without reading the engine. */

export interface Fault {
  /** The file as the maintainer knows it: `resources/leave.ts`. */
  readonly file: string
  /** The field it is about, where it is about one. */
  readonly field?: string | undefined
  readonly problem: string
}

const line = ({ file, field, problem }: Fault): string =>
  field === undefined ? `${file}: ${problem}` : `${file}: field "${field}": ${problem}`

/** Every fault of the registry at once: the service does not start with one. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
    super([`The resources have ${count}:`, ...faults.map((fault) => `  ${line(fault)}`)].join('\n'))
    this.faults = faults
  }
}

/** A value as it would be written in a descriptor, cut where it grows long. */
export const shown = (value: unknown): string => {
  const isWritten = typeof value === 'object' || typeof value === 'string'
  const written = typeof value === 'function' ? 'a function' : isWritten ? JSON.stringify(value) : String(value)
  return written.length > 60 ? `${written.slice(0, 57)}…` : written
}

/** `"a", "b" or "c"`. */
export const oneOf = (names: readonly string[]): string => {
  const quoted = names.map((name) => `"${name}"`)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}
