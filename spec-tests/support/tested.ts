/** The resources that tests are repeated for: those of the tested project and, in this repository, the kitchen sink. */
import { loadRegistry } from '../../engine/descriptor/load.js'
import { loadOperations } from '../../engine/descriptor/operationFiles.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { asManaged } from '../../support/managed.js'
import { withSampleRows } from '../../support/samples.js'
import { server } from './database.js'
import { testedProject } from './testedProject.js'

/** The module of the kitchen sink, which only the tests of this repository have. */
const sink = process.env['TEST_SINK']
const kitchenSink = sink === undefined ? [] : ((await import(sink)) as { kitchenSink: Registry }).kitchenSink

const loaded = await loadRegistry(testedProject)

/** The resources of the project. */
export const deployed = withSampleRows(loaded.map(asManaged))

/** These and the kitchen sink, with generated rows for resources without demo rows. */
export const registry: Registry = withSampleRows([...deployed, ...kitchenSink])

export const operations = await loadOperations(testedProject, loaded)

/**
 * The resources to repeat tests for: all, or the one that `--resource` names. On PostgreSQL those of the kitchen sink, which have
 * every kind and option; that the others of this repository are wired does not depend on the database.
 */
export const testedResources: Registry = registry.filter(({ path }) => {
  const only = process.env['TEST_RESOURCE']
  return only === undefined ? !sink || !server || path.startsWith('sink-') : path === only
})
