/** The resources that tests are repeated for: those of the tested project and, in this repository, the kitchen sink. */
import { loadRegistry } from '../../engine/descriptor/load.js'
import { loadOperations } from '../../engine/descriptor/operationFiles.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { withSampleRows } from '../../support/samples.js'
import { runSuites } from '../../support/suites.js'
import { server } from './database.js'
import { closeServices, type startService } from './service.js'
import { testableRegistry } from './testableRegistry.js'
import { product, testedProject } from './testedProject.js'

/** The module of the kitchen sink, which only the tests of this repository have. */
const sink = process.env['TEST_SINK']
const kitchenSink = sink === undefined ? [] : ((await import(sink)) as { kitchenSink: Registry }).kitchenSink

const loaded = await loadRegistry(testedProject)

/** The resources of the project. */
export const deployed = testableRegistry(loaded)

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

export interface Project {
  readonly registry: Registry
  /** Those to repeat tests for. */
  readonly resources: Registry
  readonly settings: Parameters<typeof startService>[0]
}

/** The module of the zoo: projects that the tests run on, one after another, instead of this one. */
const zoo = process.env['TEST_ZOO_MODULE']

/** Defines the tests of a project; those of each project of the zoo run before the next one starts its service. */
export const eachProject = async (define: (project: Project) => Promise<void>): Promise<void> => {
  if (zoo === undefined) {
    await define({ registry, resources: testedResources, settings: { registry, product, operations } })
    return
  }
  const { projects } = (await import(zoo)) as { projects: () => Iterable<{ name: string; project: Project }> }
  for (const { name, project } of projects()) {
    console.log(name)
    await define(project)
    await runSuites()
    await closeServices()
  }
}
