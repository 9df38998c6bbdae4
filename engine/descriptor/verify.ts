/** Verifies all descriptors before the service starts and reports every problem at once. */
import type { Descriptor } from './define.js'
import { didYouMean } from './nearest.js'
import { parseDescriptor } from './parse.js'
import type { Problem } from './registryError.js'
import { checkField } from './rules.js'

/** A file of `resources/`, loaded but not yet verified. */
export interface ResourceModule {
  readonly file: string
  readonly path: string
  readonly exported: unknown
}

export interface ParsedResource {
  readonly file: string
  readonly path: string
  readonly descriptor: Descriptor
}

/** Paths that the service itself serves. */
const reservedPaths = ['health']

const checkPath = ({ file, path }: ResourceModule): Problem[] => {
  if (reservedPaths.includes(path)) return [{ file, message: `the path "${path}" is reserved; rename the file` }]
  if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(path)) return []
  const message =
    'the file name becomes the path, so it must be lower-case words joined by "-", such as career-sites.ts'
  return [{ file, message }]
}

const checkRequired = ({ file, descriptor }: ParsedResource): Problem[] => {
  const names = Object.keys(descriptor.fields)
  return descriptor.required.flatMap((name, index): Problem[] => {
    if (name === 'id') return [{ file, message: 'required names "id", which every row has; remove it' }]
    if (!names.includes(name)) {
      return [{ file, message: `required names the unknown field "${name}"${didYouMean(name, names)}` }]
    }
    return descriptor.required.indexOf(name) < index ? [{ file, message: `required names "${name}" twice` }] : []
  })
}

const checkFields = ({ file, descriptor }: ParsedResource, paths: readonly string[]): Problem[] =>
  Object.entries(descriptor.fields).flatMap(([field, spec]) =>
    checkField(field, spec, descriptor, paths).map((message) => ({ file, field, message })),
  )

/** Names both files, because only their author knows which one is wrong. */
const checkDistinct = (all: readonly ParsedResource[], property: 'table' | 'name', reason: string): Problem[] =>
  all.flatMap(({ file, descriptor }, index): Problem[] => {
    const value = descriptor[property]
    const first = all.slice(0, index).find((other) => other.descriptor[property] === value)
    if (!first || value === '') return []
    return [{ file: `${first.file} and ${file}`, message: `both have the ${property} "${value}"; ${reason}` }]
  })

/** Parses and verifies the descriptors. */
export const verify = (modules: readonly ResourceModule[]): { parsed: ParsedResource[]; problems: Problem[] } => {
  const problems = modules.flatMap(checkPath)
  const parsed: ParsedResource[] = []
  for (const { file, path, exported } of modules) {
    const descriptor = parseDescriptor(exported, (message, field) => problems.push({ file, field, message }))
    if (descriptor) parsed.push({ file, path, descriptor })
  }
  // References to a resource whose own file has errors are valid: each mistake is reported once.
  const paths = modules.map(({ path }) => path)
  for (const resource of parsed) problems.push(...checkRequired(resource), ...checkFields(resource, paths))
  problems.push(
    ...checkDistinct(parsed, 'table', 'each resource needs its own table'),
    ...checkDistinct(parsed, 'name', 'schemas and operations are named after it, so it must be unique'),
  )
  return { parsed, problems }
}
