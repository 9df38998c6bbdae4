/** Adds rows to the database in DATABASE_URL: `npm run seed -- --rows 1000 --resource books` or `--demo contracts`. */
import type { Registry, Resource } from '../engine/descriptor/registry.js'
import { progressBar } from '../engine/process/progress.js'
import { openStorage } from '../engine/storage/open.js'
import { addBulkRows } from '../support/bulkRows.js'
import { findResource } from '../support/findResource.js'
import { CommandError, defineCommand, integer, optionalText, UsageError } from '../support/options.js'
import { withSampleRows } from '../support/samples.js'
import { openOptions, requireFile } from './openOptions.js'
import { projectRegistry, projectSettings } from './project.js'
import { loadDemoRows } from './seed/loadDemoRows.js'

const command = {
  name: 'seed',
  about:
    'Adds rows to tables of the database in DATABASE_URL: variations of the demo rows, or the demo rows themselves.',
  options: {
    rows: {
      ...integer('how many variations of the demo rows to add', 0, { max: 1_000_000_000 }),
      shownDefault: undefined,
    },
    resource: optionalText('path of the resource to add them to', 'PATH'),
    demo: optionalText('load the demo rows of these resources, joined by commas, into their empty tables', 'PATHS'),
  },
  exampleSettings: 'DATABASE_URL=sqlite:data/large.sqlite',
  example: '--rows 100000 --resource books',
}

const findManaged = (registry: Registry, option: string, path: string): Resource => {
  const resource = findResource(registry, option, path)
  if (!resource.existing) return resource
  throw new UsageError(`${option} is "${path}", whose table belongs to another program; nothing is loaded into it.`)
}

/** The resources of --demo, all of which have demo rows. */
const demoResources = (registry: Registry, paths: string): Resource[] => {
  const resources = new Set(paths.split(',').map((path) => findManaged(registry, '--demo', path.trim())))
  const empty = [...resources].find(({ demo }) => demo.length === 0)
  if (empty) throw new CommandError(`seeds/${empty.path}.json has no demo rows that can be loaded.`)
  return [...resources]
}

export default defineCommand(command, async ({ rows, resource: path, demo }) => {
  const settings = await projectSettings()
  if (demo !== undefined && (rows > 0 || path !== undefined)) {
    throw new UsageError('--demo loads the demo rows as they are; leave out --rows and --resource.')
  }
  if (demo === undefined && rows === 0) throw new UsageError('--rows is missing. See --help.')
  if (demo === undefined && path === undefined) throw new UsageError('--resource is missing. See --help.')
  const loaded = await projectRegistry()
  const registry = demo === undefined ? withSampleRows(loaded) : loaded
  const resource = path === undefined ? undefined : findManaged(registry, '--resource', path)
  const chosen = demo === undefined ? [] : demoResources(registry, demo)
  requireFile(settings.DATABASE_URL)
  let isFilled = false
  const storage = await openStorage(registry, settings.DATABASE_URL, {
    ...openOptions(settings, 1, 600_000),
    demo: true,
    opened(event) {
      isFilled = event.demo
    },
  })
  try {
    if (resource) await addBulkRows(storage, registry, resource, rows, progressBar(resource.table, rows, 'rows'))
    else if (isFilled) console.log('All tables were empty: loaded the demo rows of every resource.')
    else await loadDemoRows(storage, chosen, console.log)
  } finally {
    await storage.close()
  }
})
