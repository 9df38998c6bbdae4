/** Verifies all descriptors before the service starts. */

import { checkDescriptor } from './checks.js'
import { checkCycles, type ReportedResource } from './cycles.js'
import { checkNames, isPath, isReservedPath } from './names.js'
import type { Target } from './options.js'
import { parseDescriptor } from './parse.js'
import { type FileError, type Report, reportIn } from './registryError.js'
import { checkRulePaths } from './rulePaths.js'
import { duplicatesIn, type SourceFile, textAt } from './sourceFile.js'

/** A file of `resources/`, not yet verified. */
export interface ResourceModule {
  readonly file: string
  readonly path: string
  readonly source?: SourceFile | undefined
  /** When the file was changed, in milliseconds; 0 if that is unknown. */
  readonly modifiedAt?: number
  /** Undefined if the file could not be imported. */
  readonly module: { readonly default?: unknown } | undefined
}

export interface ParsedResource extends ReportedResource {
  readonly file: string
  readonly modifiedAt: number
}

const checkPath = (path: string, report: Report): void => {
  const advice =
    'the file name becomes the path, so it must be lower-case words joined by "-", such as reading-rooms.ts'
  if (isReservedPath(path)) report(`the path "${path}" is reserved; rename the file`)
  else if (!isPath(path)) report(advice)
}

/** JavaScript silently keeps the last of two properties with the same name. */
const checkDuplicates = (source: SourceFile, report: Report): void => {
  for (const { place, firstLine } of duplicatesIn(source)) {
    const what = place.length === 2 && place[0] === 'fields' ? 'field' : 'property'
    report(`${what} "${place.at(-1)}" is declared twice, first in line ${firstLine}; remove one of the two`, ...place)
  }
}

/** Mistakes that the values do not show: a clock that was read once, when the file was loaded, a lost backslash, and a name that sets a prototype. */
const checkSource = (source: SourceFile, fields: readonly string[], report: Report): void => {
  for (const name of fields) {
    const [, clock] = /^(today|now)\s*\(\)$/.exec(textAt(source, ['fields', name, 'default']) ?? '') ?? []
    const message = `field "${name}": default is the time of the start; write default: ${clock}, without ()`
    if (clock !== undefined) report(message, 'fields', name, 'default')
    const written = textAt(source, ['fields', name, 'pattern']) ?? ''
    const [, , escaped] = /^(['"`])(?:\\\\|\\['"`]|[^\\])*\\([^\\'"`ux])/.exec(written) ?? []
    const advice = `in a string, JavaScript reads \\${escaped} as ${escaped === 'b' ? 'a backspace' : `"${escaped}"`}; write \\\\${escaped}`
    if (escaped !== undefined)
      report(`field "${name}": pattern has a single backslash: ${advice}`, 'fields', name, 'pattern')
  }
  const prototype = textAt(source, ['fields', '__proto__'])
  if (prototype) report('field "__proto__": the name is reserved by JavaScript; choose another', 'fields', '__proto__')
}

/** Reports a table that another resource has too, makes, or is renamed from; names both files, because only their author knows which is wrong. */
const checkTable = (
  { file, descriptor: { table, renamedFromTable: former }, report }: ParsedResource,
  earlier: readonly ParsedResource[],
  resources: readonly ParsedResource[],
): void => {
  const other = table === '' ? undefined : earlier.find(({ descriptor }) => descriptor.table === table)
  if (other) report(`table "${table}" is also that of ${other.file}; each resource needs its own table`, 'table')
  // PostgreSQL gives these names to the key and the sequence of another table.
  const owner = resources.find(({ descriptor }) =>
    [`${descriptor.table}_pkey`, `${descriptor.table}_id_seq`].includes(table),
  )
  if (owner) report(`table "${table}" has the name of an object that ${owner.file} makes; choose another name`, 'table')
  // Otherwise a rename would take the rows of another resource, or two would take the same ones.
  const isTaken = ({ file: otherFile, descriptor }: ParsedResource) =>
    descriptor.table === former || (otherFile !== file && descriptor.renamedFromTable === former)
  const taken = former === undefined ? undefined : resources.find(isTaken)
  const advice = 'remove one of the two, or rename in two steps'
  if (taken) report(`renamedFromTable names "${former}", which ${taken.file} uses; ${advice}`, 'renamedFromTable')
}

/** What can be referenced; also a resource whose own file has errors, so that each mistake is reported once. */
export const referenceTargets = (modules: readonly ResourceModule[], parsed: readonly ParsedResource[]): Target[] =>
  modules.map(({ path }) => {
    const { table, existing, id } = parsed.find((resource) => resource.path === path)?.descriptor ?? {}
    return { path, table, existing, id }
  })

/** Returns the descriptors, with placeholders for what is invalid, and adds every error to the list. */
export const verify = (modules: readonly ResourceModule[], errors: FileError[]): ParsedResource[] => {
  const parsed: ParsedResource[] = []
  for (const { file, path, source, modifiedAt = 0, module } of modules) {
    const report = reportIn(errors, file, source)
    checkPath(path, report)
    if (!module) continue
    if (source) checkDuplicates(source, report)
    const descriptor = parseDescriptor(module.default, report)
    if (descriptor && source) checkSource(source, Object.keys(descriptor.fields), report)
    if (descriptor) parsed.push({ file, path, modifiedAt, descriptor, report })
  }
  const targets = referenceTargets(modules, parsed)
  // Of two files with the same table or name, the newer one is probably the wrong one.
  const byAge = parsed.toSorted((a, b) => a.modifiedAt - b.modifiedAt)
  for (const [index, resource] of byAge.entries()) {
    const earlier = byAge.slice(0, index)
    checkDescriptor(resource.descriptor, targets, resource.report)
    checkTable(resource, earlier, parsed)
    checkNames(resource.descriptor, earlier, resource.report)
  }
  checkCycles(parsed)
  checkRulePaths(parsed)
  return parsed
}
