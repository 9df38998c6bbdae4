/** A registry from descriptors that a test declares. */
import type { Descriptor } from '../../engine/descriptor/define.js'
import { type Registry, resourceFrom } from '../../engine/descriptor/registry.js'
import type { FileError } from '../../engine/descriptor/registryError.js'
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
  return parsed.map(({ path, descriptor }) => resourceFrom(path, descriptor as Descriptor, []))
}
