/** A registry as the tests that follow from it use it: with rows in every table, all of which a new database gets. */
import type { Registry } from '../../engine/descriptor/registry.js'
import { asManaged } from '../../support/managed.js'
import { withSampleRows } from '../../support/samples.js'

export const testableRegistry = (registry: Registry): Registry => withSampleRows(registry.map(asManaged))
