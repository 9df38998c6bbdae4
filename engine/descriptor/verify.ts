/** Verifies all descriptors before the service starts. */
import type { Descriptor } from './define.js'
import { parseDescriptor } from './parse.js'
import { type Report, reportAt } from './registryError.js'
import { checkDescriptor } from './rules.js'

/** A file of `resources/`, loaded but not yet verified. */
export interface ResourceModule {
  readonly file: string
  readonly path: string
  readonly exported: unknown
}

interface ParsedResource extends Omit<ResourceModule, 'exported'> {
  readonly descriptor: Descriptor
}

/** Paths that the service itself serves. */
const reservedPaths = ['health']

const checkPath = (path: string, report: Report): void => {
  if (reservedPaths.includes(path)) report(`the path "${path}" is reserved; rename the file`)
  else if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(path)) {
    report('the file name becomes the path, so it must be lower-case words joined by "-", such as career-sites.ts')
  }
}

/** Names both files, because only their author knows which one is wrong. */
const checkDistinct = (
  all: readonly ParsedResource[],
  property: 'table' | 'name',
  reason: string,
  report: Report,
): void => {
  for (const [index, { file, descriptor }] of all.entries()) {
    const value = descriptor[property]
    const first = all.slice(0, index).find((other) => other.descriptor[property] === value)
    if (first && value !== '') report(`${first.file} and ${file}: both have the ${property} "${value}"; ${reason}`)
  }
}

/** Returns the descriptors, with placeholders for what is invalid, and reports every problem. */
export const verify = (modules: readonly ResourceModule[], report: Report): ParsedResource[] => {
  for (const { file, path } of modules) checkPath(path, reportAt(report, file))
  const parsed = modules.flatMap(({ file, path, exported }) => {
    const descriptor = parseDescriptor(exported, reportAt(report, file))
    return descriptor ? [{ file, path, descriptor }] : []
  })
  // References to a resource whose own file has errors are valid: each mistake is reported once.
  const paths = modules.map(({ path }) => path)
  for (const { file, descriptor } of parsed) checkDescriptor(descriptor, paths, reportAt(report, file))
  checkDistinct(parsed, 'table', 'each resource needs its own table', report)
  checkDistinct(parsed, 'name', 'schemas and operations are named after it, so it must be unique', report)
  return parsed
}
