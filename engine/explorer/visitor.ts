/** The resources as a visitor may see and use them: pages need no code of their own for what is hidden. */
import { exampleRows, hasRole, type Identity, isAllowed, type Rights, seesAll } from '../descriptor/access.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import type { Field, Registry, Resource } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { countRows } from './rows.js'

/** A resource without what is hidden; undefined if the visitor may not read it. */
const seenResource = (
  resource: Resource,
  rights: Rights,
  registry: Registry,
  isUnsigned: boolean,
): Resource | undefined => {
  const own = rights.of(resource)
  if (!isAllowed(own.read)) return undefined
  // Who has not signed in may still enter the write token in a form.
  const may = (name: 'create' | 'update' | 'delete') => (isUnsigned && !resource.access) || isAllowed(own[name])
  const isSeen = (path: string) => registry.some((one) => one.path === path && isAllowed(rights.of(one).read))
  const seenField = (field: Field): Field => {
    const { references, ...rest } = field
    return references === undefined || isSeen(references) ? field : rest
  }
  return {
    ...resource,
    create: resource.create && may('create'),
    import: resource.import === true && may('create'),
    update: may('update') && (resource.update ?? false),
    delete: resource.delete === true && may('delete'),
    demo: exampleRows(resource),
    fields: resource.fields.filter(({ name }) => !own.hidden.includes(name)).map(seenField),
  }
}

/** Whether a visitor may send an operation; who has not signed in may still enter the write token in its form. */
export const mayCall = ({ access }: NamedOperation, visitor: Identity): boolean =>
  visitor.isService === true ||
  (visitor.name === undefined && access.length === 0) ||
  access.some((word) => hasRole(visitor, word))

/** The registry and the storage as a visitor with some rights may use them. */
export const seenBy = (registry: Registry, storage: Storage, rights: Rights, visitor: Identity) => {
  const originals = new Map(registry.map((resource) => [resource.path, resource]))
  const original = ({ path }: Resource): Resource => originals.get(path) as Resource
  const isUnsigned = visitor.name === undefined
  const seen = registry.flatMap((resource) => seenResource(resource, rights, registry, isUnsigned) ?? [])
  const table: Storage['table'] = (resource, expand) => {
    const own = storage.table(original(resource), expand, rights)
    return isUnsigned && !resource.access ? { ...own, allows: async () => true } : own
  }
  const seenStorage: Storage = {
    ...storage,
    table,
    async counts(resources = seen) {
      const isWhole = (resource: Resource) => seesAll(rights.of(original(resource)))
      const counts = await storage.counts(resources.filter(isWhole).map(original))
      const counted = new Map<Resource, number>()
      for (const resource of resources) {
        const stored = counts.get(original(resource))
        // A count that takes too long is left out.
        const count = stored ?? (await countRows(seenStorage, resource, defaultListQuery).catch(() => undefined))?.total
        if (count !== undefined) counted.set(resource, count)
      }
      return counted
    },
  }
  return { registry: seen, storage: seenStorage, original }
}
