/** Verification of the whole registry before anything is served: all faults at once. */
import type { Descriptor } from './define.js'
import type { Fault } from './fault.js'
import { didYouMean } from './nearest.js'
import { fieldCase, fieldRules } from './rules.js'
import { soundParts } from './shape.js'

/** A file of `resources/` as it was loaded, before anything is known to be right about it. */
export interface Candidate {
  readonly file: string
  readonly path: string
  readonly exported: unknown
}

export interface Verified {
  readonly path: string
  readonly file: string
  readonly descriptor: Descriptor
}

/** Paths that are the service's own. */
const reservedPaths = ['health']

const pathFault = ({ file, path }: Candidate): Fault[] => {
  if (reservedPaths.includes(path))
    return [{ file, problem: `the path "${path}" is the service's own; name it otherwise` }]
  if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(path)) return []
  return [
    { file, problem: `the file's name is the path, so it is lower-case words joined by "-", such as career-sites.ts` },
  ]
}

const requiredFaults = ({ file, descriptor }: Verified): Fault[] => {
  const names = Object.keys(descriptor.fields)
  return descriptor.required.flatMap((name, index): Fault[] => {
    if (name === 'id') return [{ file, problem: 'required names "id", which every row has anyway; leave it out' }]
    if (!names.includes(name)) {
      return [{ file, problem: `required names "${name}", which is no field${didYouMean(name, names)}` }]
    }
    return descriptor.required.indexOf(name) < index ? [{ file, problem: `required names "${name}" twice` }] : []
  })
}

const fieldFaults = ({ file, descriptor }: Verified, paths: readonly string[]): Fault[] =>
  Object.entries(descriptor.fields).flatMap(([name, spec]) => {
    const field = fieldCase(name, spec, descriptor, paths)
    return fieldRules.flatMap((rule): Fault[] => {
      const problem = rule(field)
      return problem === undefined ? [] : [{ file, field: name, problem }]
    })
  })

/** Tables and names must differ between files; which of two is at fault only their author knows. */
const sharedFaults = (all: readonly Verified[], part: 'table' | 'name', why: string): Fault[] =>
  all.flatMap(({ file, descriptor }, index): Fault[] => {
    const first = all.slice(0, index).find((other) => other.descriptor[part] === descriptor[part])
    if (!first || descriptor[part] === '') return []
    return [{ file: `${first.file} and ${file}`, problem: `both say ${part} "${descriptor[part]}"; ${why}` }]
  })

/** The descriptors among the candidates, and every fault there is. */
export const verify = (candidates: readonly Candidate[]): { verified: Verified[]; faults: Fault[] } => {
  const faults = candidates.flatMap(pathFault)
  const verified: Verified[] = []
  for (const { file, path, exported } of candidates) {
    const say = (problem: string, field?: string) => faults.push({ file, field, problem })
    const descriptor = soundParts(exported, say)
    if (descriptor) verified.push({ file, path, descriptor })
  }
  // A file at fault still counts as a resource that others may refer to: one mistake is told once.
  const paths = candidates.map((candidate) => candidate.path)
  for (const one of verified) faults.push(...requiredFaults(one), ...fieldFaults(one, paths))
  faults.push(
    ...sharedFaults(verified, 'table', 'two resources cannot share one table'),
    ...sharedFaults(verified, 'name', 'the documents name their schemas and operations by it'),
  )
  return { verified, faults }
}
