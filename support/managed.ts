/** A resource as tests have it: the table of another program is made like any other, because a new database has none. */
import type { Resource } from '../engine/descriptor/registry.js'

/** `n` is its place in the registry, so that its table has a name that no other has. */
export const asManaged = (original: Resource, n: number): Resource => {
  const { existing, idColumn: _, ...resource } = original
  if (!existing) return original
  return {
    ...resource,
    table: `existing_${n}_of_another_program`,
    fields: resource.fields.map((field) => ({
      ...field,
      column: field.name,
      // Nothing sets what the other program, or its database, would set.
      required: field.required && (field.managed !== true || field.name === 'id'),
    })),
  }
}
