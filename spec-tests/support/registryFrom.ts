/** A registry from descriptors that a test declares. */
import type { Descriptor, Rule } from '../../engine/descriptor/define.js'
import { withLogging } from '../../engine/descriptor/logging.js'
import { type Registry, type Resource, type RowValues, resourceFrom } from '../../engine/descriptor/registry.js'
import type { FileError } from '../../engine/descriptor/registryError.js'
import { withRulePaths } from '../../engine/descriptor/rulePaths.js'
import { verify } from '../../engine/descriptor/verify.js'

/** Throws if the verification finds a mistake. */
export const registryFrom = (descriptors: Readonly<Record<string, unknown>>): Registry => {
  const problems: FileError[] = []
  const modules = Object.entries(descriptors).map(([path, descriptor]) => ({
    file: path,
    path,
    module: { default: descriptor },
  }))
  const parsed = verify(modules, problems)
  if (problems.length > 0) throw new Error(problems.map(({ file, message }) => `${file}: ${message}`).join('\n'))
  return withLogging(
    withRulePaths(parsed.map(({ path, descriptor }) => resourceFrom(path, descriptor as Descriptor, []))),
  )
}

/** A resource of a test: all optional, and clients may create it, unless told otherwise. */
export const resourceIn = (
  table: string,
  fields: Descriptor['fields'],
  { demo = [], ...more }: Partial<Descriptor> & { readonly demo?: readonly RowValues[] } = {},
): Resource =>
  resourceFrom(
    table.replaceAll('_', '-'),
    { name: table, area: 'Test', table, required: [], create: true, fields, ...more },
    demo,
  )

/** The rule that a field is not less than another one. */
export const ordered = (low: string, high: string): Rule => ({
  fields: [low, high],
  holds: (row) => Number(row[low]) <= Number(row[high]),
  message: `${high} must not be less than ${low}`,
})
