/** Makes one object per resource. */
import type { Registry, Resource } from '../descriptor/registry.js'

/** Makes an object for every resource of a registry; returns the function that finds it. */
export const perResource = <T>(registry: Registry, make: (resource: Resource) => T): ((resource: Resource) => T) => {
  const made = new Map(registry.map((resource) => [resource, make(resource)]))
  return (resource) => {
    const found = made.get(resource)
    if (found === undefined) throw new TypeError(`${resource.path} is not of this registry`)
    return found
  }
}
