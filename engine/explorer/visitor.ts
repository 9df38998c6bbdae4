/** The resources as a visitor may see and use them: pages need no code of their own for what is hidden. */
import { hasAccess } from '../contract/accessDocuments.js'
import { encodeChangesCursor, readerDigest } from '../contract/changesCursor.js'
import { exampleRows, hasRole, type Identity, isAllowed, nobody, type Rights, seesAll } from '../descriptor/access.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import type { Field, Registry, Resource } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import type { Visitor } from './page.js'
import { countRows } from './rows.js'

/** A resource without what is hidden; undefined if the visitor may not read it. */
const seenResource = (
  resource: Resource,
  rights: Rights,
  registry: Registry,
  isUnsigned: boolean,
): Resource | undefined => {
  const granted = rights.of(resource)
  if (!isAllowed(granted.read)) return undefined
  // Who has not signed in yet is led to the sign-in, and back.
  const may = (name: 'create' | 'update' | 'delete') => (isUnsigned && !resource.access) || isAllowed(granted[name])
  const isSeen = (path: string) => registry.some((one) => one.path === path && isAllowed(rights.of(one).read))
  const seenField = (field: Field): Field => {
    const { references, ...unlinked } = field
    const seen = references === undefined || isSeen(references) ? field : unlinked
    return granted.readOnly.includes(field.name) ? { ...seen, isReadOnly: true } : seen
  }
  return {
    ...resource,
    create: resource.create && may('create'),
    import: resource.import === true && may('create'),
    update: may('update') && (resource.update ?? false),
    delete: resource.delete === true && may('delete'),
    demo: exampleRows(resource),
    fields: resource.fields.filter(({ name }) => !granted.hidden.includes(name)).map(seenField),
  }
}

/** Whether somebody may send an operation, perhaps after signing in. */
const mayCall = ({ access }: NamedOperation, identity: Identity): boolean =>
  identity.isService === true ||
  (identity.name === undefined && access.length === 0) ||
  access.some((word) => hasRole(identity, word))

/** The registry and the storage as somebody with some rights may use them. */
const seenBy = (registry: Registry, storage: Storage, rights: Rights, identity: Identity) => {
  const originals = new Map(registry.map((resource) => [resource.path, resource]))
  const original = ({ path }: Resource): Resource => originals.get(path) as Resource
  const isUnsigned = identity.name === undefined
  const seen = registry.flatMap((resource) => seenResource(resource, rights, registry, isUnsigned) ?? [])
  const table: Storage['table'] = (resource, expand) => {
    const visible = storage.table(original(resource), expand, rights)
    return isUnsigned && !resource.access ? { ...visible, allows: async () => true } : visible
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
  return { registry: seen, storage: seenStorage }
}

/** What a service offers its visitors. */
export type Offer = Omit<Visitor, 'name' | 'history' | 'cursor'>

export const visitorFor = (offer: Offer, identity: Identity, rights: Rights): Visitor => {
  const { registry, storage, operations } = offer
  // Without rules everybody sees the same.
  const isPlain = identity === nobody && !hasAccess(registry)
  return {
    ...offer,
    ...(!isPlain && seenBy(registry, storage, rights, identity)),
    operations: operations.filter((one) => one.kind !== 'own' || mayCall(one.definition, identity)),
    history: (seen, id, page) =>
      storage.history(registry.find(({ path }) => path === seen.path) as Resource, id, { ...page, rights }),
    name: identity.name,
    async cursor({ path }) {
      const resource = registry.find((one) => one.path === path) as Resource
      const page = await storage.changes(resource, { rights, after: undefined, limit: 1 })
      if (page === 'resync') return undefined
      return encodeChangesCursor(resource, { digest: readerDigest(resource, rights), position: page.next })
    },
  }
}
