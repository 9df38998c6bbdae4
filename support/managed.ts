/** A resource as tests have it: the table of another program is made like any other, because a new database has none. */
import type { Resource } from '../engine/descriptor/registry.js'

export const asManaged = (given: Resource): Resource => {
  const { existing, idColumn: _, ...resource } = given
  if (!existing) return given
  return {
    ...resource,
    table: resource.path.replaceAll('-', '_'),
    fields: resource.fields.map((field) => ({ ...field, column: field.name })),
  }
}
