/** Which resources have a log of their changes, and what it keeps of each row. */
import { type Field, isLogged, type LogContents, type Registry, type Resource } from './registry.js'
import { ruleNames, rulePath } from './rulePaths.js'

const defaultDays = 365

/** For how many days the history of a row is kept; undefined if the resource has none. */
export const historyDays = ({ history }: Pick<Resource, 'history'>): number | undefined => {
  if (!history) return undefined
  return history === true ? defaultDays : history.days
}

/** The paths of the rules about who may read, as references and a field; those of own fields have only that. */
const readPaths = (resource: Resource): (readonly Field[])[] =>
  ruleNames(resource, 'read').map((name) => rulePath(resource, name))

/** The other resources on which it depends who may read the rows of one. */
export const pathResources = (registry: Registry, resource: Resource): Resource[] => {
  const paths = new Set(readPaths(resource).flatMap((fields) => fields.slice(0, -1).map((field) => field.references)))
  return registry.filter(({ path }) => paths.has(path) && path !== resource.path)
}

/** The resources, each with what its log keeps. */
export const withLogging = <R extends Resource>(resources: readonly R[]): R[] => {
  const contents = new Map<string, { keys: Set<string>; isOnPath: boolean }>()
  const contentsOf = (path: string) => {
    const found = contents.get(path) ?? { keys: new Set<string>(), isOnPath: false }
    contents.set(path, found)
    return found
  }
  for (const resource of resources.filter(({ changes }) => changes)) {
    for (const fields of readPaths(resource)) {
      let at = resource.path
      for (const field of fields) {
        const { keys } = contentsOf(at)
        keys.add(field.name)
        if (fields.length > 1) contentsOf(at).isOnPath = true
        at = field.references ?? ''
      }
    }
  }
  return resources.map((resource) => {
    if (!isLogged(resource)) return resource
    const { keys, isOnPath } = contentsOf(resource.path)
    const log: LogContents = { keys: resource.fields.filter(({ name }) => keys.has(name)), isOnPath }
    return { ...resource, log }
  })
}
