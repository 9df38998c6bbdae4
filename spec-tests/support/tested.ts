/** The resources that tests are repeated for: those of this deployment, and the kitchen sink. */
import { loadRegistry } from '../../engine/descriptor/load.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { folders } from '../../product.js'
import { withSampleRows } from '../../support/samples.js'
import { server } from './database.js'
import { kitchenSink } from './kitchenSink.js'

/** The resources of this deployment. */
export const deployed = withSampleRows(await loadRegistry(folders))

/** These and the kitchen sink, with generated rows for resources without demo rows. */
export const registry: Registry = withSampleRows([...deployed, ...kitchenSink])

/**
 * The resources to repeat tests for: all, or the one that `npm test -- --resource` names. On PostgreSQL those of the kitchen
 * sink, which have every kind and option; that the others are wired does not depend on the database.
 */
export const testedResources: Registry = registry.filter(({ path }) => {
  const only = process.env['TEST_RESOURCE']
  return only === undefined ? !server || path.startsWith('sink-') : path === only
})
