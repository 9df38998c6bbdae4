/** The resource that an argument or an option of a command names. */
import { pathHint } from '../engine/descriptor/nearest.js'
import type { Registry, Resource } from '../engine/descriptor/registry.js'
import { UsageError } from './options.js'

/** Throws a UsageError if there is none; `subject` is what names it: `--resource`. */
export const findResource = (registry: Registry, subject: string, path: string): Resource => {
  const resource = registry.find((candidate) => candidate.path === path)
  if (resource) return resource
  throw new UsageError(`${subject} is "${path}", which is not a resource${pathHint(path, registry)}`)
}
