/** What a response can show with a row: the rows that it references, and with a single row those that reference it. */
import { type Field, type Reference, type Registry, type Resource, referencesTo } from './registry.js'

/** The references of a row that can be shown. */
export const expandableFields = ({ fields }: Resource): Field[] =>
  fields.filter(({ references, redacted }) => references !== undefined && !redacted)

/** The references to a row that can be shown, by `books.author_id`. */
export const expandableReferrers = (registry: Registry, { path }: Resource): ReadonlyMap<string, Reference> =>
  new Map(
    referencesTo(registry, path)
      .filter(({ field }) => field.filter)
      .map((reference) => [`${reference.resource.path}.${reference.field.name}`, reference]),
  )
