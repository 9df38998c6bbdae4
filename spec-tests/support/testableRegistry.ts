/** A registry as the tests that follow from it use it: with rows in every table, all of which a new database gets. */
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { withSampleRows } from '../../support/samples.js'

/** A table of another program is made like any other, with a name that no other has: a new database has none. */
const asManaged = ({ existing: _, idColumn: __, ...resource }: Resource, n: number): Resource => ({
  ...resource,
  table: `existing_${n}_of_another_program`,
  fields: resource.fields.map((field) => ({
    ...field,
    column: field.name,
    // Nothing sets what the other program, or its database, would set.
    required: field.required && (field.managed !== true || field.name === 'id'),
  })),
})

export const testableRegistry = (registry: Registry): Registry =>
  withSampleRows(registry.map((resource, n) => (resource.existing ? asManaged(resource, n) : resource)))
