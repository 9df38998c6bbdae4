/** What a storage has of each kind, once for each resource. */
import type { Registry, Resource } from '../descriptor/registry.js'

/** Makes one for every resource of a registry, and the function that finds it again. */
export const perResource = <T>(registry: Registry, make: (resource: Resource) => T): ((resource: Resource) => T) => {
  const made = new Map(registry.map((resource) => [resource, make(resource)]))
  return (resource) => {
    const found = made.get(resource)
    if (found === undefined) throw new TypeError(`${resource.path} is not of this registry`)
    return found
  }
}
